"""Array specs: the type, dimensions and layout of an array, as XLA's text writes them.

``bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}`` is an array of bfloat16 with four dimensions and
a tiled layout.  XLA calls this a shape.  Besides arrays there are tuples of specs, buffers that
wrap one array, and tokens and opaque values, which have neither dimensions nor a layout.

A dimension may be dynamic: ``<=8`` has at most eight elements at run time, and every position is
computed as if it had all eight; ``?`` has no bound, and nothing can be computed.

A spec that is made from Python values fits its layout and its elements can be counted in 64 bits.
Text is read as XLA reads it: types and orders are checked, while the remnants of sparse arrays,
the places of split configs and the number of elements are left to whoever computes with them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from functools import lru_cache
from typing import Final, TypeAlias, cast

from .._errors import IndexRangeError, LayoutError, SizeError
from .._records import record
from ..dtypes.element_types import ELEMENT_TYPES, ELEMENT_TYPES_BY_NUMBER, ElementType, element_type
from ..dtypes.names import DType
from ..index.broadcast import HasExtents, unwrap_shape
from ..layout.fields import LIMIT, MAX_RANK, as_int, as_ints, check_order, check_padded
from ..layout.layout import Layout
from ..layout.text import MAX_DEPTH, UNBOUNDED, parse_spec, print_spec
from .bitcast import Bitcasts
from .compare import Comparisons
from .making import Making
from .proto import decode_shape, encode_shape
from .relayout import Relayouts
from .reshapes import Reshapes
from .suggest import Suggestions
from .tuples import Members
from .wire import Message

# The class has a method named `tuple`, which hides the builtin from its annotations.
Ints: TypeAlias = tuple[int, ...]
Flags: TypeAlias = tuple[bool, ...]
Specs: TypeAlias = "tuple[ArraySpec, ...]"

_LETTERS: Final = ("", "x", "y,x", "z,y,x", "p,z,y,x")
_CACHED_LENGTH: Final = 256


@record(frozen=True, slots=True)
class ArraySpec(Making, Bitcasts, Reshapes, Suggestions, Relayouts, Comparisons, Members):
    """The element type, dimensions and layout of an array; or a tuple of specs, or a token.

    Parameters
    ----------
    element_type : ElementType, str or dtype
        XLA's name of a type, or anything that names a dtype.
    dimensions : Shape or iterable of int, default none
        Sizes; ``UNBOUNDED`` (the smallest 64-bit integer) for one without a bound.
    layout : Layout or str, optional
        Where the elements lie.  Without one, the default layout is meant but not said.
    dynamic : iterable of bool, optional
        Which sizes are mere bounds.
    tuple_shapes : iterable of ArraySpec, optional
        Elements of a tuple or a buffer; see `tuple` and `buffer`.

    Attributes
    ----------
    element_type : ElementType
        Type of the elements, or ``tuple``, ``buffer``, ``token`` or ``opaque``.
    dimensions : tuple of int
        Sizes of the logical dimensions.
    layout : Layout or None
        Where the elements lie.
    dynamic : tuple of bool
        For each dimension, whether its size is a bound.
    tuple_shapes : tuple of ArraySpec
        Elements of a tuple, or the one array of a buffer.

    Raises
    ------
    LayoutError
        If the layout does not fit, a size is negative, or the kind forbids a field.
    SizeError
        If the elements have more bytes than 64 bits count.
    DTypeError
        If the element type is unknown.

    Examples
    --------
    >>> from xarraylite.xla.spec import ArraySpec
    >>> spec = ArraySpec("bf16", (10, 300), "{1,0:T(8,128)(2,1)}")
    >>> print(spec)
    bf16[10,300]{1,0:T(8,128)(2,1)}
    >>> spec.rank, spec.dtype, spec.human_string()
    (2, dtype(bfloat16), 'bf16[10,300]')
    """

    element_type: ElementType
    dimensions: Ints = ()
    layout: Layout | None = None
    dynamic: Flags = ()
    tuple_shapes: Specs = ()

    __match_args__ = ("element_type", "dimensions", "layout")

    def __init__(
        self,
        element_type: object,
        dimensions: Iterable[int] | HasExtents = (),
        layout: Layout | str | None = None,
        *,
        dynamic: Iterable[bool] | None = None,
        tuple_shapes: Iterable[ArraySpec] = (),
    ) -> None:
        kind = _as_kind(element_type)
        sizes = as_ints(unwrap_shape(dimensions), f"ArraySpec: dimensions of {kind}")
        where = Layout.parse(layout) if isinstance(layout, str) else layout
        values = (kind, sizes, where, _as_flags(sizes, dynamic), _as_shapes(kind, tuple_shapes))
        for set_field, value in zip(_SETTERS, values, strict=True):
            set_field(self, value)
        _check_kind(self)
        _check_bytes(self)
        if where is not None:
            where.validate(sizes)

    @classmethod
    def _trusted(
        cls,
        kind: ElementType,
        dimensions: Ints,
        layout: Layout | None,
        dynamic: Flags,
        tuple_shapes: Specs,
    ) -> ArraySpec:
        """Make a spec of fields that are known to be well-formed: the parser's entrance."""
        self = object.__new__(cls)
        _set_kind(self, kind)
        _set_dimensions(self, dimensions)
        _set_layout(self, layout)
        _set_dynamic(self, dynamic)
        _set_tuple_shapes(self, tuple_shapes)
        return self

    @staticmethod
    def parse(text: str) -> ArraySpec:
        """Return the spec that a text describes; an array without a layout gets the default one.

        Raises
        ------
        LayoutParseError
            If the text is malformed; it says in which column.

        Examples
        --------
        >>> from xarraylite.xla.spec import ArraySpec
        >>> print(ArraySpec.parse("(f32[2, <=3], token[])"))
        (f32[2,<=3]{1,0}, token[])
        """
        short = isinstance(text, str) and len(text) <= _CACHED_LENGTH  # type: ignore[redundant-expr]
        return (_read_short if short else _read)(text)  # which refuses what is no text

    @staticmethod
    def tuple(shapes: Iterable[ArraySpec]) -> ArraySpec:
        """Return the tuple of these specs.

        Examples
        --------
        >>> from xarraylite.xla.spec import ArraySpec
        >>> print(ArraySpec.tuple([ArraySpec("f32", (2,)), ArraySpec.token()]))
        (f32[2], token[])
        """
        return ArraySpec(ELEMENT_TYPES["tuple"], tuple_shapes=shapes)

    @staticmethod
    def buffer(inner: ArraySpec) -> ArraySpec:
        """Return the buffer that wraps an array."""
        return ArraySpec(ELEMENT_TYPES["buffer"], tuple_shapes=(inner,))

    @staticmethod
    def token() -> ArraySpec:
        """Return the spec of a token, which orders effects and holds nothing."""
        return ArraySpec(ELEMENT_TYPES["token"])

    @staticmethod
    def opaque() -> ArraySpec:
        """Return the spec of a value that only the device can read."""
        return ArraySpec(ELEMENT_TYPES["opaque"])

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.dimensions)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.dimensions)

    @property
    def shape(self) -> Ints:
        """The dimensions, under NumPy's name."""
        return self.dimensions

    @property
    def true_rank(self) -> int:
        """Number of dimensions larger than 1 (XLA's own count is `true_num_dimensions`)."""
        return len([size for size in self.dimensions if size > 1 or size == UNBOUNDED])

    @property
    def dimension_letters(self) -> str:
        """Names of the dimensions: ``p,z,y,x`` and shorter, numbers beyond rank 4."""
        if self.rank < len(_LETTERS):
            return _LETTERS[self.rank]
        return ",".join(map(str, range(self.rank)))

    @property
    def dtype(self) -> DType:
        """The dtype of arrays with such elements.

        Raises
        ------
        LayoutError
            If there is none.
        """
        dt = self.element_type.dtype
        if dt is None:
            raise LayoutError(f"ArraySpec.dtype: no dtype holds elements of {self.element_type}")
        return dt

    @property
    def is_opaque(self) -> bool:
        """Whether this is an opaque value."""
        return self.element_type.name == "opaque"

    @property
    def is_dynamic(self) -> bool:
        """Whether a dimension, or one of an element, is dynamic."""
        return True in self.dynamic or any([shape.is_dynamic for shape in self.tuple_shapes])

    @property
    def is_static(self) -> bool:
        """Whether no dimension is dynamic, those of elements included."""
        return not self.is_dynamic

    def get_dimension(self, dimension: int) -> int:
        """Return the size of a dimension; negative numbers count from the end.

        Raises
        ------
        IndexRangeError
            If there is no such dimension.

        Examples
        --------
        >>> from xarraylite.xla.spec import ArraySpec
        >>> ArraySpec("f32", (1, 2, 3, 4)).get_dimension(-1)
        4
        """
        number = as_int(dimension, "ArraySpec.get_dimension")
        if not -self.rank <= number < self.rank:
            raise IndexRangeError(
                f"ArraySpec.get_dimension: dimension {number} of {self} is out of range; "
                f"it has {self.rank} dimensions"
            )
        return self.dimensions[number]

    def with_layout(self, layout: Layout | str | None) -> ArraySpec:
        """Return the same array in another layout; None leaves it unsaid.

        Examples
        --------
        >>> from xarraylite.xla.spec import ArraySpec
        >>> print(ArraySpec("f32", (2, 3)).with_layout("{0,1}"))
        f32[2,3]{0,1}
        """
        where = Layout.parse(layout) if isinstance(layout, str) else layout
        return replace(self, layout=where)

    def human_string(self) -> str:
        """Return the text without layouts."""
        return print_spec(self, layouts=False)

    def to_proto_bytes(self) -> bytes:
        """Return the spec as the bytes of XLA's ``ShapeProto`` message.

        Examples
        --------
        >>> from xarraylite.xla.spec import ArraySpec
        >>> ArraySpec.parse("pred[]").to_proto_bytes().hex()
        '10012a03800101'
        """
        return encode_shape(self)

    @staticmethod
    def from_proto_bytes(data: bytes) -> ArraySpec:
        """Return the spec in the bytes of XLA's ``ShapeProto`` or its older ``Shape`` message.

        Raises
        ------
        FormatError
            If the bytes are no such message.
        LayoutError
            If they are, but the layout does not fit.
        """
        return _from_message(decode_shape(data))

    def __str__(self) -> str:
        return print_spec(self)

    def __repr__(self) -> str:
        if self.layout is not None and self.layout.padded_dimensions is None:
            return f"ArraySpec.parse({str(self)!r})"
        dynamic = self.dynamic if True in self.dynamic else ()
        said = {"layout": self.layout, "dynamic": dynamic, "tuple_shapes": self.tuple_shapes}
        shown = [repr(value) for value in (self.element_type.name, self.dimensions) if value]
        shown += [f"{name}={value!r}" for name, value in said.items() if value]
        return f"ArraySpec({', '.join(shown)})"


_SETTERS = tuple([getattr(ArraySpec, field.name).__set__ for field in fields(ArraySpec)])
_set_kind, _set_dimensions, _set_layout, _set_dynamic, _set_tuple_shapes = _SETTERS


def _read(text: str) -> ArraySpec:
    made = parse_spec(text, Layout._trusted, ArraySpec._trusted, _check_element)
    return cast("ArraySpec", made)


_read_short = lru_cache(maxsize=1024)(_read)


def _as_kind(x: object) -> ElementType:
    kind = element_type(x)
    if kind.number == 0:
        raise LayoutError("ArraySpec: the element type 'invalid' is no type of anything")
    return kind


def _as_flags(sizes: Ints, dynamic: Iterable[bool] | None) -> Flags:
    """Return one flag per size; a size without a bound is dynamic without being told so."""
    if dynamic is None:
        return tuple([size == UNBOUNDED for size in sizes])
    flags = tuple([bool(flag) for flag in dynamic])
    if not flags and UNBOUNDED not in sizes:
        return (False,) * len(sizes)
    if len(flags) != len(sizes):
        raise LayoutError(
            f"ArraySpec: {len(flags)} dynamic flags for dimensions {sizes}; expected one each"
        )
    return flags


def _as_shapes(kind: ElementType, shapes: Iterable[ArraySpec]) -> Specs:
    elements = tuple(shapes)
    if not all([isinstance(shape, ArraySpec) for shape in elements]):
        raise LayoutError(f"ArraySpec: tuple_shapes {elements!r:.200} are not all array specs")
    if kind.name == "buffer":
        if len(elements) != 1 or not elements[0].is_array:
            raise LayoutError(
                f"ArraySpec: a buffer wraps one array, not ({', '.join(map(str, elements))})"
            )
    elif kind.name != "tuple" and elements:
        raise LayoutError(f"ArraySpec: {kind} has no tuple_shapes; only tuples and buffers do")
    if kind.name == "tuple":
        for shape in elements:
            _check_element(shape)
    level, depth = list(elements), 0
    while level and depth <= MAX_DEPTH:
        level = [shape for group in level for shape in group.tuple_shapes]
        depth += 1
    if depth > MAX_DEPTH:
        raise LayoutError(f"ArraySpec: tuples nest at most {MAX_DEPTH} deep")
    return elements


def _check_kind(spec: ArraySpec) -> None:
    """Refuse fields that a kind of spec does not have, and sizes that are none."""
    kind, sizes = spec.element_type, spec.dimensions
    if spec.layout is not None and not isinstance(spec.layout, Layout):
        raise LayoutError(f"ArraySpec: layout {spec.layout!r} is neither a Layout nor its text")
    if not kind.is_array and (sizes or spec.layout is not None):
        raise LayoutError(f"ArraySpec: {kind} has neither dimensions nor a layout of its own")
    if len(sizes) > MAX_RANK:
        raise LayoutError(f"ArraySpec: {len(sizes)} dimensions; an array has at most {MAX_RANK}")
    for size, flag in zip(sizes, spec.dynamic, strict=True):
        if size < 0 and not (size == UNBOUNDED and flag):
            raise LayoutError(
                f"ArraySpec: dimensions {sizes} hold {size}; "
                "a size is not negative, unless it is UNBOUNDED and dynamic"
            )


def _check_element(spec: ArraySpec) -> None:
    """Refuse an element of a tuple that is no valid array, or wraps none."""
    array = spec.tuple_shapes[0] if spec.is_buffer else spec
    _check_bytes(array)
    if array.layout is not None:
        array.layout.validate(array.dimensions)


def _check_bytes(spec: ArraySpec) -> None:
    """Refuse more bytes than 64 bits count, dimension by dimension as XLA does."""
    total = spec.element_type.storage_bytes
    for size in spec.dimensions:
        total *= 1 if size == UNBOUNDED else size
        if total >= LIMIT:
            raise SizeError(
                f"ArraySpec: {spec.element_type} of dimensions {spec.dimensions} has more bytes "
                "than a signed 64-bit integer counts"
            )


def _from_message(shape: Message) -> ArraySpec:
    """Make the spec of a decoded message, with the checks that text gets."""
    kind = ELEMENT_TYPES_BY_NUMBER.get(shape["element_type"])
    dimensions = tuple(shape["dimensions"])
    if kind is None:
        raise LayoutError(
            f"from_proto_bytes: element type {shape['element_type']}; XLA has no type of that "
            "number"
        )
    layout = None if shape["layout"] is None else _layout_of_message(shape["layout"])
    if layout is not None:
        check_order(layout, len(dimensions), "from_proto_bytes")
        check_padded(layout, dimensions)
    shapes = _as_shapes(kind, [_from_message(inner) for inner in shape["tuple_shapes"]])
    flags = _as_flags(dimensions, shape["is_dynamic_dimension"])
    spec = ArraySpec._trusted(_as_kind(kind), dimensions, layout, flags, shapes)
    _check_kind(spec)
    return spec


def _layout_of_message(layout: Message) -> Layout:
    values = {field.name: layout[field.name] for field in fields(Layout)}
    values["tiles"] = [tile["dimensions"] for tile in layout["tiles"]]
    values["split_configs"] = [tuple(config.values()) for config in layout["split_configs"]]
    for name in ("index_primitive_type", "pointer_primitive_type"):
        values[name] = ELEMENT_TYPES_BY_NUMBER.get(values[name])
    values["padding_value"] = values["padding_value"] or None
    if layout["physical_shape"] is not None:
        values["physical_shape"] = _from_message(layout["physical_shape"])
    return Layout(**values)
