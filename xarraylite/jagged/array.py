"""`XJagged`: rows of different lengths in one flat buffer.

The elements of all rows lie one after the other; a `JaggedShape` says where each row starts.
Chips and slices of the first mode are runs of that buffer, so they are views.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np

from .._errors import DTypeError, ShapeError
from ..arrays.container import XContainer
from ..arrays.expression import XExpression
from ..arrays.xarray import XArray
from ..assignment.inplace import InPlace
from ..assignment.readers import HELD_SETITEM, is_held
from ..dtypes.names import DType
from ..ir import build
from ..ir.node import Leaf, Node
from ..operands.convert import pinned_dtype
from ..operands.nodes import as_node
from ..operands.representation import html
from ..ops.op import Op
from ..shapes.base import ShapeBase
from ..shapes.jagged import JaggedShape
from ..shapes.jagged_tree import Ragged, ints
from . import lists
from .labels import XJaggedLabelled, assign_jagged
from .lazy import XJaggedExpression, spread
from .rows import rows_of


class XJagged(XJaggedExpression, InPlace):
    """A jagged array in memory: one flat buffer, and where each row starts.

    Parameters
    ----------
    values : nested lists, XJaggedExpression, array or expression
        Lists of numbers, or of arrays, to any depth; or, with ``shape``, all elements one after
        the other.  Always copied.
    shape : JaggedShape, optional
        The index space of flat values; any shape without layers will do.
    dtype : dtype, optional
        By default that of the values.

    Raises
    ------
    ShapeError
        If there are not as many values as the shape has elements, or lists, arrays and numbers
        stand side by side.
    DTypeError
        If the values are no numbers.

    See Also
    --------
    JaggedShape : The index spaces.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.XJagged([[1, 2, 3], [], [4]])
    >>> a.shape, a.offsets.tolist()
    ((3, None), [0, 3, 3, 4])
    >>> a[0] += 10
    >>> a.flat
    XView([11, 12, 13,  4])
    >>> xl.sum(a * 2, axis=1).tolist()
    [72, 0, 8]
    """

    __slots__ = ("_array",)

    #: The rows, in row-major order.
    _array: XContainer

    def __init__(
        self, values: object, shape: ShapeBase | None = None, dtype: object = None
    ) -> None:
        wanted = pinned_dtype(dtype)
        flat: Any = values
        if isinstance(values, XJaggedExpression):
            space = values._shape._space()
            flat = values.flat
            if shape is not None:
                raise ShapeError("XJagged: a jagged array has a shape already, yet one was given")
        elif shape is None:
            flat, space = lists.parse(values, "XJagged")
        else:
            space = _space_of(shape, "XJagged")
        array = XArray(flat, wanted)
        if array.shape != (space.size,):
            raise ShapeError(
                f"XJagged: {build.describe(array.node)} are not the {space.size} elements of the "
                "shape, one after the other"
            )
        self._shape = JaggedShape._make(space)
        self._array = array.reshape_(rows_of(self._shape).shape)

    @classmethod
    def _own(cls, array: XContainer, shape: JaggedShape) -> Self:
        """Return an array over rows in memory, unchecked."""
        self = cls.__new__(cls)
        self._array, self._shape = array, shape
        return self

    @classmethod
    def from_flat(cls, flat: XContainer, shape: ShapeBase) -> Self:
        """Return a jagged array over the memory of a vector, without a copy.

        Parameters
        ----------
        flat : XContainer
            A contiguous vector.
        shape : JaggedShape
            The index space, of as many elements.

        Raises
        ------
        TypeError
            If ``flat`` is no container; `xl.adapt` makes one over the memory of an array.
        ShapeError
            If the sizes differ, or the vector is not contiguous.

        Examples
        --------
        >>> import xarraylite as xl
        >>> flat = xl.asarray([1, 2, 3])
        >>> a = xl.XJagged.from_flat(flat, xl.JaggedShape.from_lengths([1, 2]))
        >>> a[1] = 0
        >>> flat
        XArray([1, 0, 0])
        """
        space = _space_of(shape, "from_flat")
        if not isinstance(flat, XContainer):
            raise TypeError(
                f"from_flat: a container is needed, got {type(flat).__name__}; adapt shares "
                "another array's memory, and XJagged copies it"
            )
        if flat.shape != (space.size,):
            raise ShapeError(
                f"from_flat: a vector in memory of the {space.size} elements of the shape is "
                f"needed, got {flat.summary()}"
            )
        if not flat.map.is_row_major():
            raise ShapeError(f"from_flat: {flat.summary()} is not contiguous; pass it to XJagged")
        shape = JaggedShape._make(space)
        rows = flat[...]._reshaped(rows_of(shape).shape)
        assert isinstance(rows, XContainer), "contiguous memory has a view of any shape"
        return cls._own(rows, shape)

    @classmethod
    def from_padded(cls, padded: object, lengths: Any, dtype: object = None) -> Self:
        """Return the elements of a box that a jagged shape has, row by row.

        Parameters
        ----------
        padded : array or expression
            The box; what lies outside the jagged shape is not read.
        lengths : sequence of int, or JaggedShape
            The length of each row, along the second dimension; or the whole shape.
        dtype : dtype, optional
            By default that of ``padded``.

        Raises
        ------
        ShapeError
            If the shape does not fit into the box.

        Examples
        --------
        >>> import xarraylite as xl
        >>> xl.XJagged.from_padded([[1, 2], [3, 0]], [2, 1])
        XJagged([[1, 2], [3]])
        """
        box = XArray(padded) if isinstance(padded, list | tuple) else as_node(padded, "from_padded")
        node = box.node if isinstance(box, XArray) else box
        shape = _padded_shape(node.shape, lengths)
        rows = rows_of(shape)
        room = zip(shape.to_padded()[0].extents, node.shape, strict=True)
        if any([n > m for n, m in room]):
            raise ShapeError(f"from_padded: {shape!r} does not fit into {build.describe(node)}")
        inner = XExpression(node)[(..., *[slice(n) for n in rows.tail])].node
        head = node.shape[: rows.head]
        flat = build.reshape(inner, (math.prod(head), *rows.tail))
        taken = build.gather(flat, 0, rows.places_leaf(head))
        return cls(XJaggedExpression(taken, shape), dtype=dtype)

    @classmethod
    def from_awkward(cls, array: Any, dtype: object = None) -> Self:
        """Return an Awkward Array of numbers, copied.

        Parameters
        ----------
        array : awkward.Array
            Lists of one depth, of numbers that are all there.
        dtype : dtype, optional
            By default that of the array.

        Raises
        ------
        ShapeError
            For records, unions, strings and missing values.
        ImportError
            If Awkward Array is not installed.
        """
        awkward = importlib.import_module("awkward")
        layout = _present(awkward.to_packed(awkward.Array(array)).layout)
        counts = [ints([len(layout)])]
        while layout.is_list and layout.parameter("__array__") is None:
            lists = layout.to_ListOffsetArray64(True)
            starts = np.asarray(lists.offsets)
            layout = _present(lists.content[: int(starts[-1])])
            counts.append(ints(np.diff(starts)))
        if layout.is_unknown:
            layout = layout.to_NumpyArray(np.float64)
        if not layout.is_numpy:
            raise ShapeError(
                f"from_awkward: numbers in lists are needed, got {type(layout).__name__}"
            )
        flat = np.asarray(layout.data)
        columns = [ints(np.full(int(counts[-1].sum()), n)) for n in flat.shape[1:]]
        extents = columns if columns else [counts.pop()]
        space = Ragged.checked(counts, extents, [None] * (len(counts) + len(extents)))
        return cls(flat.reshape(-1), JaggedShape._make(space), dtype)

    def to_awkward(self) -> Any:
        """Return the values as an Awkward Array.

        Raises
        ------
        DTypeError
            For dtypes that Awkward Array does not have, such as bfloat16.
        ImportError
            If Awkward Array is not installed.
        """
        awkward = importlib.import_module("awkward")
        if self.dtype.isbuiltin != 1:
            raise DTypeError(
                f"to_awkward: Awkward Array has no {self.dtype}; convert by astype('float32'), say"
            )
        rows = self.rows
        layout = awkward.contents.NumpyArray(self._as_numpy().reshape(rows.shape).copy())
        for starts in reversed(rows.children[1:]):
            offsets = awkward.index.Index64(starts)
            layout = awkward.contents.ListOffsetArray(offsets, layout)
        return awkward.Array(layout)

    def to_arrays(self) -> dict[str, XContainer]:
        """Return dense arrays that say everything but the origins, for files with several arrays.

        Returns
        -------
        dict of str to XContainer
            ``"flat"``, a view; ``"extents0"``, ``"extents1"``, …: per mode the extents of all
            its nodes; and ``"outer"``: how many of them list nodes and not smooth slices.

        Examples
        --------
        >>> import io
        >>> import xarraylite as xl
        >>> file = io.BytesIO()  # or a path
        >>> xl.save(file, xl.XJagged([[1, 2, 3], [], [4]]).to_arrays())
        >>> file.seek(0)
        0
        >>> xl.XJagged.from_arrays(xl.load(file))
        XJagged([[1, 2, 3], [], [4]])
        """
        space = self._shape._space()
        extents = {f"extents{mode}": XArray(space.values(mode)) for mode in range(space.rank)}
        return {"flat": self.flat, "outer": XArray(space.outer), **extents}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], dtype: object = None) -> Self:
        """Return the jagged array that `to_arrays` has taken apart, copied.

        Parameters
        ----------
        arrays : mapping of str to array
            As from `to_arrays`; nothing in it is trusted.
        dtype : dtype, optional
            By default that of the elements.

        Raises
        ------
        ShapeError
            If arrays are missing, or do not fit together.
        """
        return cls(arrays.get("flat", ()), JaggedShape._make(lists.space_of(arrays)), dtype)

    # --- what an expression has, in memory -----------------------------------------------------

    @property
    def node(self) -> Leaf:
        """A leaf over the memory as it is now."""
        return self._array.node

    @property
    def dtype(self) -> DType:
        """Dtype of the elements."""
        return self._array.dtype

    @property
    def flat(self) -> XContainer:
        """All elements one after the other: a view of the memory."""
        flat = self._flat._reshaped((self.size,))
        assert isinstance(flat, XContainer), "rows are contiguous"
        return flat

    @property
    def readonly(self) -> bool:
        """Whether assignments are refused."""
        return self._array.readonly

    @property
    def _flat(self) -> XExpression:
        whole: XExpression = self._array[...]
        return whole

    def _part(self, shape: JaggedShape, low: int, high: int) -> XJagged:
        rows = self._run(shape, low, high)
        assert isinstance(rows, XContainer), "rows are contiguous"
        return XJagged._own(rows, shape)

    def evaluated(self, text: object = None) -> XJagged:
        """Return the array itself."""
        return self

    def copy(self) -> XJagged:
        """Return the elements in new memory."""
        return XJagged(self)

    def __copy__(self) -> XJagged:
        """Return a copy: two arrays never share memory without being views."""
        return self.copy()

    def __deepcopy__(self, memo: object) -> XJagged:
        """Return a copy with memory of its own."""
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the elements and the shape."""
        return XJagged, (XArray(self.flat), self._shape)

    def _repr_html_(self) -> str:
        """Return what notebooks show: facts and values."""
        return html({"": "XJagged", "array": self.summary()}, str(self))

    def __repr__(self) -> str:
        """Show the values, summarised if there are many."""
        text = str(self)
        name = str(self.dtype)
        obvious = name in ("float64", "int64", "bool", "complex128") and self.size
        return f"XJagged({text}{'' if obvious else f', dtype={name}'})"

    # --- assignment ---------------------------------------------------------------------------

    def __setitem__(self, key: Any, value: object) -> None:
        """Assign to a chip, a slice, labels or, by ``...``, to everything; never changes the shape.

        Raises
        ------
        BroadcastError
            If ``value`` does not stretch to the selection.
        ReadOnlyError
            If the memory cannot be written.
        """
        held = is_held(value, HELD_SETITEM)
        self._store(key, value, held, False)

    def _store(self, key: Any, value: object, held: bool, noalias: bool) -> None:
        if isinstance(key, str):
            assign_jagged(self, key, value, held, noalias)
            return
        rest: Any = Ellipsis
        if isinstance(key, tuple) and len(key) > 1:  # an integer, and indices of what it gives
            self._integer(key[0], key)
            key, rest = key[0], key[1:] if len(key) > 2 else key[1]
        part = self if key is Ellipsis else self[key]
        if isinstance(part, XJagged) and rest is Ellipsis:
            part._write(value, held, noalias)
        else:
            part._store(rest, value, held, noalias)

    def _write(self, value: object, held: bool, noalias: bool) -> None:
        if isinstance(value, list | tuple):
            made = XJagged(value, dtype=self.dtype)
            # lists that are a box stretch as any dense array does
            smooth = made._shape.is_smooth
            value = made._flat._reshaped(made._shape.as_tuple()) if smooth else made
        self._array._store(Ellipsis, self._spread(value, "assignment"), held, noalias)

    def _update(self, op: Op, value: object, held: bool, noalias: bool = False) -> None:
        self._array._update(op, self._spread(value, f"in-place {op.name}"), held, noalias)

    def _spread(self, value: object, operation: str) -> Any:
        operand = spread(value, self.rows, operation)
        return XExpression._of(operand) if isinstance(operand, Node) else operand

    def fill(self, value: object) -> None:
        """Write one value to every element."""
        self[...] = value


XJaggedExpression._container = XJagged
XJaggedLabelled._container = XJagged


def _present(layout: Any) -> Any:
    """Return an Awkward layout that may have missing values without that possibility."""
    if not layout.is_option:
        return layout
    missing = int(np.count_nonzero(np.asarray(layout.mask_as_bool(valid_when=False))))
    if missing:
        raise ShapeError(
            f"from_awkward: numbers in lists are needed, got {missing} missing values; "
            "awkward.fill_none and awkward.drop_none remove them"
        )
    return layout.project()


def _space_of(shape: object, operation: str) -> Ragged:
    if not isinstance(shape, ShapeBase):
        raise ShapeError(f"{operation}: a JaggedShape is needed, got {shape!r}")
    space = shape._space()
    if space.rank == 0:
        raise ShapeError(f"{operation}: the shape needs rank 1 or more, got {shape!r}")
    return space


def _padded_shape(box: tuple[int, ...], lengths: Any) -> JaggedShape:
    """Return the jagged shape in a box, given by the lengths of its rows or as a whole."""
    if isinstance(lengths, ShapeBase):
        space = _space_of(lengths, "from_padded")
    else:
        if not isinstance(lengths, Iterable):
            raise ShapeError(
                "from_padded: the lengths of the rows are needed, or a JaggedShape, "
                f"got {lengths!r}"
            )
        given = JaggedShape.from_lengths(lengths)._space()
        sides = [ints(np.full(given.n_slices, n)) for n in box[2:]]
        none = [None] * (2 + len(sides))
        space = Ragged.checked(given.counts, (*given.extents, *sides), none)
    if space.rank != len(box):
        raise ShapeError(
            f"from_padded: the shape has rank {space.rank}, the box {box} rank {len(box)}"
        )
    return JaggedShape._make(space)
