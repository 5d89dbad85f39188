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

from typing import Any, Final

from ..dtypes.element_types import ElementType
from .wire import Field, Message, Schemas, read_message, wire_error, write_message

_DENSE: Final = 1

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
        4: Field("format"),  # of the older message: 0 unset, 1 dense, 2 sparse
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
    return write_message(spec, _field_of, "ShapeProto", _SCHEMAS)


def _field_of(thing: Any, name: str) -> Any:
    """Return what is written of a spec, its layout, or a tile or split of that."""
    if name == "format":
        return thing.padded_dimensions is not None or thing.padding_value is not None
    name = "dynamic" if name == "is_dynamic_dimension" else name
    value = getattr(thing, name, None)  # dim_level_types are read, so that they can be refused
    return value.number if isinstance(value, ElementType) else value


def decode_shape(data: bytes | bytearray | memoryview) -> Message:
    """Read a ``ShapeProto``, or the older ``Shape`` whose layouts have padding.

    Parameters
    ----------
    data : bytes
        One serialized message, all of it and nothing else.

    Returns
    -------
    Message
        What the message says; whether it makes sense is for the caller to check, but for the
        number of dynamic flags and for layouts that are not dense.

    Raises
    ------
    FormatError
        If the bytes are not such a message; the message names the offset.
    TypeError
        If `data` is not bytes.

    Examples
    --------
    >>> from xarraylite.xla.proto import decode_shape
    >>> decode_shape(bytes.fromhex("100b1a01052a060a0100800101320100"))["dimensions"]
    [5]
    """
    message = read_message(data, "ShapeProto", _SCHEMAS)
    _check_shape(message)
    return message


def _check_shape(shape: Message) -> None:
    """Give a shape the flags that are left out, and refuse what no later check would see."""
    flags, rank = shape["is_dynamic_dimension"], len(shape["dimensions"])
    if len(flags) not in (0, rank):
        raise wire_error(
            f"{len(flags)} is_dynamic_dimension flags and {rank} dimensions in the ShapeProto",
            shape.start,
            "there must be one flag per dimension, or none",
        )
    shape["is_dynamic_dimension"] = flags or [0] * rank
    for part in shape["tuple_shapes"]:
        _check_shape(part)
    layout = shape["layout"]
    if layout is None:
        return
    if layout["format"] not in (0, _DENSE) or any(layout["dim_level_types"]):
        raise wire_error(
            "a layout that is not dense", layout.start, "sparse arrays left XLA, and are not read"
        )
    layout["tail_padding_alignment_in_elements"] = layout["tail_padding_alignment_in_elements"] or 1
    if layout["physical_shape"] is not None:
        _check_shape(layout["physical_shape"])
