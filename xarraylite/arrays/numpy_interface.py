"""How NumPy gets at values: as an array, or as a description of memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, SupportsIndex

import numpy as np

from .._errors import LayoutError
from ..assignment import elements, results
from ..dtypes.names import DType, NumpyArray
from ..index.broadcast import infer_extent
from ..ir.build import describe
from ..ir.kind import NODE, Kind
from ..ir.node import Stored
from ..ir.walk import postorder, reads_late
from ..layout.strided import ElementStride
from ..memory.arrays import read
from ..memory.buffer import Buffer
from ..operands import tracing
from ..operands.nodes import Gathers
from ..runtime import evaluate as engine
from ..runtime.counting import count_use
from . import buffer_slot, ownership

#: NumPy's own function, which takes strides for bytes.
_IN_BYTES = np.lib.stride_tricks.as_strided.__code__


def check_asker(frame: FrameType) -> None:
    """Count a use, and refuse memory to NumPy's own `as_strided` with strides of containers.

    It does not dispatch and takes whatever it is given for bytes, so it would read elsewhere.

    Parameters
    ----------
    frame : frame
        Of who asks for the memory.

    Raises
    ------
    LayoutError
        If that is `as_strided`, with such strides.
    """
    count_use()
    if frame.f_code is not _IN_BYTES:
        return
    strides = frame.f_locals["strides"]
    if isinstance(strides, (tuple, list)) and any([isinstance(s, ElementStride) for s in strides]):
        raise LayoutError(
            f"as_strided: strides {tuple(strides)} count elements, as those of containers do, and "
            "NumPy's function takes bytes; give it np.asarray(x) and strides of that, or use "
            "xl.lib.stride_tricks.as_strided"
        )


#: Flags of C's requests for memory: that it may be written; any strides, or those of rows; and
#: what Numba's first look at an argument asks for.
_WRITABLE, _STRIDES, _CONTIGUOUS, _RECORDS = 0x1, 0x10, 0x30, 0x1C


class Described:
    """Base of expressions: their shape, and values on demand, in memory of their own."""

    __slots__ = ()

    #: NumPy's operators leave mixed expressions to us.
    __array_priority__ = 1000.0

    #: So do those of pandas, whose objects say by NumPy's functions what comes out.
    __pandas_priority__ = 5000

    _shape: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the result; to assign others evaluates it, as writing to it does."""
        return self._shape

    @shape.setter
    def shape(self, shape: SupportsIndex | Iterable[SupportsIndex]) -> None:
        e: Any = self
        target = infer_extent(shape, e.size)
        made = ownership.memory_of(e)._reshaped(target)
        if not hasattr(made, "buffer"):
            raise AttributeError(f"shape: {e.summary()} is no view under {target}; use reshape")
        ownership.stand_for(e, made)
        e._shape = target

    def resize(self, *shape: Any, refcheck: bool = True) -> None:
        """Change the shape in place as NumPy does: a lazy result gets memory of its own for it.

        Parameters
        ----------
        *shape : int, or one sequence of int
            New extents; further elements are 0.
        refcheck : bool
            As in NumPy; see `XArray.resize`.

        Raises
        ------
        ShapeError
            If the number of elements of a view would change.
        """
        e: Any = self
        own = ownership.memory_of(e)
        own.resize(*shape, refcheck=refcheck)
        e._shape = own.shape

    def __delitem__(self, key: object) -> None:
        """Refuse: as in NumPy, an array keeps its elements.

        Raises
        ------
        ValueError
            Always; `xl.delete` returns an array without some.
        """
        e: Any = self
        raise ValueError(f"del: {e.summary()} keeps its elements; xl.delete makes another array")

    def numpy(self) -> NumpyArray:
        """Evaluate into a new NumPy array."""
        tracing.note_values()
        e: Any = self
        own = ownership.memory(e)
        if own is not None and own.size <= elements.MANY:
            return np.array(own._as_numpy())
        made = results.evaluate(e)
        if made is not None:
            values: NumpyArray = elements.array_of(made)
            return values
        buffer, layout = engine.evaluate(e.node, tiled=False)
        return read(buffer, e.dtype, layout)

    def _can_be_had(self) -> bool:
        """Tell whether there are values: not while a function is traced, nor of what is stored."""
        e: Any = self
        if tracing.is_active():
            return False
        if e._kind is not NODE or ownership.memory(e) is not None:
            return True
        return not any([isinstance(node, Stored) for node in postorder(e.node)])

    @property
    def strides(self) -> tuple[int, ...]:
        """Distances between neighbours, in elements; a lazy result gets memory of its own.

        Raises
        ------
        AttributeError
            If there are no values to be had, as while a function is traced or where they are read
            from storage; of late operands, and of views through positions.
        """
        late = reads_late(self.node)  # type: ignore[attr-defined]
        if late or isinstance(self, Gathers) or not self._can_be_had():
            raise AttributeError(f"strides: {describe(self.node)} lies with no strides")  # type: ignore[attr-defined]
        found: tuple[int, ...] = ownership.memory_of(self).strides
        return found

    def __array__(self, dtype: np.dtype[Any] | None = None, copy: bool | None = None) -> Any:
        """Return the values as a NumPy array; ``copy=False`` is refused for a lazy result."""
        e: Any = self
        check_asker(sys._getframe(1))
        if copy is False:
            raise ValueError(f"{describe(e.node)} is lazy: its values cannot be had uncopied")
        values = e.numpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __arrow_array__(self, type: object = None) -> Any:
        """Return the values as an array of Arrow's, whose package has asked for it."""
        return sys.modules["pyarrow"].array(np.asarray(self), type=type)

    @property
    def __array_struct__(self) -> Any:
        """The memory of a result that was written, which NumPy asks for first; others have none."""
        e: Any = self
        own = ownership.memory(e) if e._shape else None
        if own is None:
            raise AttributeError("__array_struct__: a lazy result has no memory")
        check_asker(sys._getframe(1))
        return own.__array_struct__

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """New memory with the values as NumPy describes it, kept alive by the description.

        Raises
        ------
        AttributeError
            If there are no values to be had, as while a function is traced or where they are read
            from storage, or NumPy has no name for the dtype.
        """
        e: Any = self
        check_asker(sys._getframe(1))
        if not self._can_be_had() or e.dtype.isbuiltin != 1:
            raise AttributeError(f"__array_interface__: NumPy cannot describe {e.summary()}")
        values = e.numpy()
        if not (values.flags.c_contiguous or values.flags.f_contiguous):
            values = np.ascontiguousarray(values)
        memory = values if values.flags.c_contiguous else values.T  # what NumPy takes has no gaps
        found: dict[str, Any] = values.__array_interface__
        return found | {"strides": values.strides, "data": memory}


class DescribedMemory(Described):
    """Base of containers: their memory as NumPy and others describe it."""

    __slots__ = ()

    _kind: Kind
    _buffer: Buffer
    _dtype: DType
    summary: Callable[[], str]

    def _plain(self, protocol: str) -> NumpyArray:
        """Return the memory as a NumPy array where NumPy has the dtype and the layout strides."""
        tracing.note_values()
        if self._kind is NODE or self._dtype.isbuiltin != 1:
            raise AttributeError(f"{protocol}: NumPy cannot describe {self.summary()}")
        self._buffer.lend()
        return elements.array_of(self)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """The memory as NumPy describes it; tiled memory and narrow dtypes have no such words."""
        values = self._plain("__array_interface__")
        # Pillow takes what has no strides for a buffer, which Python has from 3.12 on.
        return values.__array_interface__ | {"strides": values.strides}

    @property
    def __array_struct__(self) -> Any:
        """The memory as NumPy describes it in C, which NumPy asks for first."""
        check_asker(sys._getframe(1))
        return self._plain("__array_struct__").__array_struct__

    def __buffer__(self, flags: int) -> memoryview:
        """Return the memory, or for who reads rows alone a copy of what does not lie by rows."""
        check_asker(sys._getframe(1))
        numbas = sys.modules.get("numba.core.entrypoints")
        if numbas is not None and flags & ~_WRITABLE == _RECORDS:
            numbas.init_all()  # else it takes a container for a memoryview, and remembers that
        try:
            values: Any = self._plain("__buffer__")
        except AttributeError as error:
            raise BufferError(str(error)) from None
        if not (flags & _WRITABLE or flags & _CONTIGUOUS == _STRIDES or values.flags.c_contiguous):
            values = np.array(values, order="C")
            values.flags.writeable = False
        return memoryview(values)


buffer_slot.offer(DescribedMemory, check_asker)
