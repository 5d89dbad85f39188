"""Array specs as protocol-buffer bytes: XLA's ``ShapeProto``, written and read by hand.

Writing follows XLA's serializer byte for byte: fields in order of their numbers, numbers that are
0 left out, repeated numbers packed; every dimension has its dynamic flag, every layout its tail
padding.  Reading accepts what any protobuf reader does (see `wire`), but for dynamic flags that do
not match the dimensions and layouts of sparse arrays.

One table serves the current messages and the older ``Shape`` and ``Layout``, whose padding fields
have numbers that XLA never used again.  Layouts with padding are written with those fields, and
the storage format the older rules ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from .._errors import FormatError
from .._records import record
from .wire import (
    MAX_DEPTH,
    Field,
    Message,
    Schemas,
    message_field,
    number_field,
    packed_field,
    read_message,
    wire_error,
)

_DENSE: Final = 1  # the older Format enum: 0 unset, 1 dense, 2 sparse


@record(frozen=True, slots=True)
class LayoutFields:
    """The contents of a ``LayoutProto`` (or the older ``Layout``), not checked against a shape.

    Attributes
    ----------
    minor_to_major : tuple of int
        Field 1.
    padded_dimensions : tuple of int
        Field 2 of the older message; empty if absent.
    padding_value : int or None
        Field 3 of the older message, a number of its ``PaddingValue``; None if absent or 0.
    tiles : tuple of tuple of int
        Field 6; the combine marker is the smallest 64-bit number.
    element_size_in_bits : int
        Field 7.
    memory_space : int
        Field 8.
    physical_shape : ShapeFields or None
        Field 10.
    index_primitive_type, pointer_primitive_type : int
        Fields 11 and 12, numbers of ``PrimitiveType``; 0 if absent.
    dynamic_shape_metadata_prefix_bytes : int
        Field 15.
    tail_padding_alignment_in_elements : int
        Field 16; 1 if absent or 0, as XLA reads it.
    split_configs : tuple of (int, tuple of int)
        Field 17: the physical dimension and where it is cut.
    """

    minor_to_major: tuple[int, ...] = ()
    padded_dimensions: tuple[int, ...] = ()
    padding_value: int | None = None
    tiles: tuple[tuple[int, ...], ...] = ()
    element_size_in_bits: int = 0
    memory_space: int = 0
    physical_shape: ShapeFields | None = None
    index_primitive_type: int = 0
    pointer_primitive_type: int = 0
    dynamic_shape_metadata_prefix_bytes: int = 0
    tail_padding_alignment_in_elements: int = 1
    split_configs: tuple[tuple[int, tuple[int, ...]], ...] = ()


@record(frozen=True, slots=True)
class ShapeFields:
    """The contents of a ``ShapeProto``, not checked against the rules of shapes.

    Attributes
    ----------
    element_type : int
        Field 2, a number of ``PrimitiveType``; 0 if absent.
    dimensions : tuple of int
        Field 3.
    tuple_shapes : tuple of ShapeFields
        Field 4.
    layout : LayoutFields or None
        Field 5.
    dynamic : tuple of bool
        Field 6, as many as there are dimensions; all False if absent.
    """

    element_type: int = 0
    dimensions: tuple[int, ...] = ()
    tuple_shapes: tuple[ShapeFields, ...] = ()
    layout: LayoutFields | None = None
    dynamic: tuple[bool, ...] = ()


# --- writing ---------------------------------------------------------------------------------


def encode_shape(spec: Any) -> bytes:
    """Return the bytes XLA's serializer would write for an array spec.

    Parameters
    ----------
    spec : ArraySpec
        Any kind: array, tuple, token, opaque, buffer.

    Raises
    ------
    FormatError
        If tuples are nested deeper than readers follow.
    """
    return _shape_body(spec, 1)


def _shape_body(spec: Any, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        raise FormatError(
            f"to_proto_bytes: the spec is nested more than {MAX_DEPTH} levels deep; protobuf "
            "readers stop there"
        )
    layout = spec.layout
    return b"".join(
        [
            number_field(2, spec.element_type.number),
            packed_field(3, spec.dimensions),
            *[message_field(4, _shape_body(part, depth + 1)) for part in spec.tuple_shapes],
            b"" if layout is None else message_field(5, _layout_body(layout, depth + 1)),
            packed_field(6, spec.dynamic),
        ]
    )


def _layout_body(layout: Any, depth: int) -> bytes:
    padded = layout.padded_dimensions is not None or layout.padding_value is not None
    physical = layout.physical_shape
    return b"".join(
        [
            packed_field(1, layout.minor_to_major),
            packed_field(2, layout.padded_dimensions or ()),
            number_field(3, 0 if layout.padding_value is None else layout.padding_value.value),
            number_field(4, _DENSE if padded else 0),
            *[message_field(6, packed_field(1, tile.dimensions)) for tile in layout.tiles],
            number_field(7, layout.element_size_in_bits),
            number_field(8, layout.memory_space),
            b"" if physical is None else message_field(10, _shape_body(physical, depth + 1)),
            number_field(11, _type_number(layout.index_primitive_type)),
            number_field(12, _type_number(layout.pointer_primitive_type)),
            number_field(15, layout.dynamic_shape_metadata_prefix_bytes),
            number_field(16, layout.tail_padding_alignment_in_elements),
            *[
                message_field(
                    17, number_field(1, config.dimension) + packed_field(2, config.split_indices)
                )
                for config in layout.split_configs
            ],
        ]
    )


def _type_number(element_type: Any) -> int:
    return 0 if element_type is None else int(element_type.number)


# --- reading ---------------------------------------------------------------------------------


_SCHEMAS: Final[Schemas] = {
    "ShapeProto": {
        2: Field("element_type"),
        3: Field("dimensions", repeated=True),
        4: Field("tuple_shapes", repeated=True, message="ShapeProto"),
        5: Field("layout", message="LayoutProto"),
        6: Field("is_dynamic_dimension", repeated=True),
    },
    "LayoutProto": {
        1: Field("minor_to_major", repeated=True),
        2: Field("padded_dimensions", repeated=True),
        3: Field("padding_value"),
        4: Field("format"),
        6: Field("tiles", repeated=True, message="TileProto"),
        7: Field("element_size_in_bits"),
        8: Field("memory_space"),
        9: Field("dim_level_types", repeated=True),
        10: Field("physical_shape", message="ShapeProto"),
        11: Field("index_primitive_type"),
        12: Field("pointer_primitive_type"),
        15: Field("dynamic_shape_metadata_prefix_bytes"),
        16: Field("tail_padding_alignment_in_elements"),
        17: Field("split_configs", repeated=True, message="SplitConfigProto"),
    },
    "TileProto": {1: Field("dimensions", repeated=True)},
    "SplitConfigProto": {1: Field("dimension"), 2: Field("split_indices", repeated=True)},
}


def decode_shape(data: bytes | bytearray | memoryview) -> ShapeFields:
    """Read a ``ShapeProto``, or the older ``Shape`` whose layouts have padding.

    Parameters
    ----------
    data : bytes
        One serialized message, all of it and nothing else.

    Returns
    -------
    ShapeFields
        What the message says; whether it makes sense is for the caller to check.

    Raises
    ------
    FormatError
        If the bytes are not such a message; the message names the offset.
    TypeError
        If `data` is not bytes.

    Examples
    --------
    >>> from xarraylite.xla.proto import decode_shape
    >>> decode_shape(bytes.fromhex("100b1a01052a060a0100800101320100")).dimensions
    (5,)
    """
    return _shape_fields(read_message(data, "ShapeProto", _SCHEMAS))


# --- from messages to plain fields -----------------------------------------------------------


def _shape_fields(message: Message) -> ShapeFields:
    dimensions = message.all("dimensions")
    flags = message.all("is_dynamic_dimension")
    if len(flags) not in (0, len(dimensions)):
        raise wire_error(
            f"{len(flags)} is_dynamic_dimension flags and {len(dimensions)} dimensions in the "
            "ShapeProto",
            message.start,
            "there must be one flag per dimension, or none",
        )
    return ShapeFields(
        element_type=message.last("element_type"),
        dimensions=dimensions,
        tuple_shapes=tuple([_shape_fields(part) for part in message.parts("tuple_shapes")]),
        layout=_only(message, "layout", _layout_fields),
        dynamic=tuple([flag != 0 for flag in flags]) or (False,) * len(dimensions),
    )


def _layout_fields(message: Message) -> LayoutFields:
    if message.last("format") not in (0, _DENSE) or any(message.all("dim_level_types")):
        raise wire_error(
            "a layout that is not dense", message.start, "sparse arrays left XLA, and are not read"
        )
    return LayoutFields(
        minor_to_major=message.all("minor_to_major"),
        padded_dimensions=message.all("padded_dimensions"),
        padding_value=message.last("padding_value") or None,
        tiles=tuple([part.all("dimensions") for part in message.parts("tiles")]),
        element_size_in_bits=message.last("element_size_in_bits"),
        memory_space=message.last("memory_space"),
        physical_shape=_only(message, "physical_shape", _shape_fields),
        index_primitive_type=message.last("index_primitive_type"),
        pointer_primitive_type=message.last("pointer_primitive_type"),
        dynamic_shape_metadata_prefix_bytes=message.last("dynamic_shape_metadata_prefix_bytes"),
        tail_padding_alignment_in_elements=message.last("tail_padding_alignment_in_elements") or 1,
        split_configs=tuple(
            [
                (part.last("dimension"), part.all("split_indices"))
                for part in message.parts("split_configs")
            ]
        ),
    )


def _only(message: Message, name: str, build: Callable[[Message], Any]) -> Any:
    """Return the one message of that name, built; None if there is none."""
    found = message.parts(name)
    return build(found[0]) if found else None
