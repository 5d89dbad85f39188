"""Protocol-buffer bytes: XLA's own, what every reader accepts, and hostile input."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import FormatError, LayoutError, XarrayliteError
from xarraylite.dtypes.element_types import ELEMENT_TYPES_BY_NUMBER
from xarraylite.layout.fields import COMBINE, PaddingValue
from xarraylite.layout.layout import Layout
from xarraylite.xla.proto import decode_shape, encode_shape
from xarraylite.xla.spec import ArraySpec
from xarraylite.xla.wire import MAX_BYTES, MAX_DEPTH, Message

CASES = Path(__file__).parents[1] / "xla" / "xla_layout_cases.json"
FACTS = [
    case
    for case in json.loads(CASES.read_text(encoding="utf-8"))["cases"]
    if case["kind"] == "shape_proto_bytes"
]

# Written by jaxlib 0.10.2 (Shape.to_serialized_proto), as the facts are.
MORE = {
    "(f32[2],s8[])": "100d2210100b1a01022a060a0100800101320100220710022a03800101",
    "token[]": "1011",
    "()": "100d",
    "f32[<=3,?]": "100b1a0b03808080808080808080012a070a02010080010132020101",
    "f32[2]{0:E(16)S(1)M(8)}": "100b1a01022a0c0a0100381040017808800101320100",
    "f32[2]{0:T(*,2)}": "100b1a01022a150a0100320d0a0b8080808080808080800102800101320100",
}
PLAIN = "100b1a0202032a070a02010080010132020000"  # f32[2,3]{1,0}


def test_there_are_facts() -> None:
    assert len(FACTS) >= 9


@together(
    ("text", "data"),
    [(case["text"], case["expected_hex"]) for case in FACTS] + list(MORE.items()),
)
def test_bytes_of_xla(text: str, data: str) -> None:
    # The parser gives an array without a layout the default one, as XLA's does.
    spec = ArraySpec.parse(text)
    assert spec.to_proto_bytes().hex() == data
    back = ArraySpec.from_proto_bytes(bytes.fromhex(data))
    assert back == spec
    assert str(back) == str(spec)


def test_sparse_index_types_are_kept() -> None:
    data = ArraySpec.parse("f32[2]{0:#(u32)*(u8)}").to_proto_bytes()
    assert data.hex() == "100b1a01022a0a0a010058086006800101320100"
    fields = decode_shape(data)["layout"]
    kinds = (fields["index_primitive_type"], fields["pointer_primitive_type"])
    assert [ELEMENT_TYPES_BY_NUMBER[kind].name for kind in kinds] == ["u32", "u8"]


def said(message: Message) -> dict[str, Any]:
    """Return the fields of a message that are not as where nothing is said."""
    return {name: value for name, value in message.items() if value}


# --- the older message -------------------------------------------------------------------------


def test_older_message_as_an_older_program_wrote_it() -> None:
    # Shape{F32, [2,3], Layout{minor_to_major [0,1], padded_dimensions [3,5], LOWEST, DENSE}},
    # put together by hand from the published message.
    data = bytes.fromhex("100b 1a020203 2a0c 0a020001 12020305 1803 2001")
    assert said(decode_shape(data)["layout"]) == {
        "minor_to_major": [0, 1],
        "padded_dimensions": [3, 5],
        "padding_value": 3,
        "format": 1,
        "tail_padding_alignment_in_elements": 1,
    }
    spec = ArraySpec.from_proto_bytes(data)
    assert spec.layout is not None
    assert spec.layout.padded_dimensions == (3, 5)
    assert spec.layout.padding_value is PaddingValue.LOWEST
    assert spec.nbytes == 3 * 5 * 4


@together("value", [None, *list(PaddingValue)[1:]])
def test_padding_makes_the_round_trip(value: PaddingValue | None) -> None:
    layout = Layout((1, 0), padded_dimensions=(4, 8), padding_value=value)
    spec = ArraySpec("f32", (3, 5), layout)
    back = ArraySpec.from_proto_bytes(spec.to_proto_bytes())
    assert back == spec
    assert back.layout is not None
    assert back.layout.padding_value is value
    assert decode_shape(spec.to_proto_bytes())["layout"]["padding_value"] == (value or 0)


def test_sparse_layouts_are_refused() -> None:
    for layout in ("2002 2805", "0a0100 480148 00"):  # format SPARSE; a compressed level
        body = bytes.fromhex(layout)
        with pytest.raises(FormatError, match="not dense at byte 5; sparse arrays"):
            decode_shape(b"\x1a\x01\x03\x2a" + bytes([len(body)]) + body)


# --- the wire format ---------------------------------------------------------------------------


def read(text: str) -> Message:
    return decode_shape(bytes.fromhex(text))


PLAIN_FIELDS = read(PLAIN)


@together(
    ("what", "data"),
    [
        ("as XLA writes it", PLAIN),
        ("fields in another order", "32020000 2a07 0a020100 800101 1a020203 100b"),
        ("unpacked numbers", "100b 1802 1803 2a07 0801 0800 800101 3000 3000"),
        ("packed in two parts, and a single", "100b 1a0102 1a00 1803 2a070a0201008001013202 0000"),
        ("the last number wins", "1005 1010 100b 1a020203 2a070a02010080010132020000"),
        ("a message in two parts", "100b 1a020203 2a030a0101 2a060a0100800101 32020000"),
        ("dynamic flags left out", "100b 1a020203 2a070a020100800101"),
        ("tail padding 0 and left out", "100b 1a020203 2a070a020100800100 2a00 32020000"),
        ("numbers with idle bytes", "10 8b8000 1a04 82008300 2a070a0201008001013202 0000"),
        ("unknown numbers", PLAIN + "3805 980605"),
        ("unknown fixed sizes", PLAIN + "3d01020304 410102030405060708"),
        ("unknown lengths", "4a03ffffff" + PLAIN),
        ("an unknown group in a group", "4b 4b 0801 3dffffffff 4c 1200 4c" + PLAIN),
        ("the dropped field 1", "0802" + PLAIN),
    ],
)
def test_what_every_reader_accepts(what: str, data: str) -> None:
    assert read(data) == PLAIN_FIELDS, what


def test_messages_merge_by_field() -> None:
    first = "0a0101 3808 3201 00"  # minor_to_major 1, E(8), an empty tile
    second = "0a0100 3810 3204 0a020801"  # minor_to_major 0, E(16), a tile
    parts = [bytes.fromhex(text) for text in ("32000a0101 3808", second)]
    data = b"".join([b"\x2a" + bytes([len(part)]) + part for part in parts])
    layout = decode_shape(data)["layout"]
    assert (layout["minor_to_major"], layout["element_size_in_bits"]) == ([1, 0], 16)
    assert layout["tiles"] == [{"dimensions": []}, {"dimensions": [8, 1]}]
    with pytest.raises(FormatError, match="field number 0"):
        decode_shape(bytes.fromhex("2a08" + first))  # the tile holds a tag of 0


def test_nothing_is_an_invalid_shape_but_a_message() -> None:
    assert said(decode_shape(b"")) == {}
    layout = decode_shape(b"\x2a\x00")["layout"]
    assert said(layout) == {"tail_padding_alignment_in_elements": 1}
    with pytest.raises(XarrayliteError):
        ArraySpec.from_proto_bytes(b"")


@together(
    ("data", "message"),
    [
        ("10", "a varint without end at byte 1; its message ends at byte 1"),
        ("108b", "a varint without end at byte 1"),
        ("10" + "8b" * 10 + "01", "a varint of more than 10 bytes at byte 1"),
        ("10" + "ff" * 9 + "02", "a number of more than 64 bits at byte 1"),
        ("9080808080" + "00", "a tag of more than 5 bytes at byte 0"),
        ("0000", "field number 0 at byte 0"),
        ("100b 17", "wire type 7 of field 2 at byte 2"),
        ("8080808010 00", "field number 536870912 at byte 0"),
        ("16", "wire type 6 of field 2 at byte 0"),
        ("1a05 0203", "a length of 5 at byte 1; 2 bytes are left"),
        ("1a ffffffffffffffffff01 02", r"a length of 18446744073709551615 at byte 1; 1 byte"),
        ("1a ffffffff07", r"a length of 2147483647 at byte 1; 0 bytes"),
        ("120b", r"field 2 \(element_type\) of ShapeProto is a length at byte 0; .* a varint"),
        ("2801", r"field 5 \(layout\) of ShapeProto is a varint at byte 0; it must be a length"),
        ("1d00000000", r"field 3 \(dimensions\) of ShapeProto is 4 bytes at byte 0"),
        ("100b 2a06 3a040a020100", r"field 7 \(element_size_in_bits\) of LayoutProto is a len"),
        ("2301", r"field 4 \(tuple_shapes\) of ShapeProto is a group at byte 0"),
        ("4b 0801", "group 9 is still open at byte 3"),
        ("4b 54", "the end of group 10 at byte 1"),
        ("4c", "the end of group 9 at byte 0"),
        ("3d 010203", "field 7 is cut off at byte 0; its message ends at byte 4"),
        ("41 010203", "field 8 is cut off at byte 0"),
        ("1a0202 83", "a varint without end at byte 3; its message ends at byte 4"),
        ("1a020203 320100", "1 is_dynamic_dimension flags and 2 dimensions .* at byte 0"),
        ("220432020000", "2 is_dynamic_dimension flags and 0 dimensions .* at byte 2"),
    ],
)
def test_broken_input_is_refused_with_the_offset(data: str, message: str) -> None:
    with pytest.raises(FormatError, match=f"^from_proto_bytes: {message}"):
        read(data)


def nested(depth: int, tag: int = 0x22) -> bytes:
    data = b""
    for _ in range(depth - 1):
        size = len(data)
        length = bytes([size]) if size < 128 else bytes([size & 127 | 128, size >> 7])
        data = bytes([tag]) + length + data
    return data


def test_depth_is_limited() -> None:
    assert decode_shape(nested(MAX_DEPTH))["tuple_shapes"]
    with pytest.raises(FormatError, match=r"one more message inside another at byte \d+"):
        decode_shape(nested(MAX_DEPTH + 1))
    with pytest.raises(FormatError, match="message inside another"):
        decode_shape(nested(5000))
    with pytest.raises(FormatError, match="one more group inside another at byte 99"):
        decode_shape(b"\x4b" * 100_000)


class _Nested:
    """A spec of tuples in tuples, deeper than text or arrays of specs would allow."""

    element_type = ELEMENT_TYPES_BY_NUMBER[13]
    layout = None
    dimensions: tuple[int, ...] = ()
    dynamic: tuple[bool, ...] = ()

    def __init__(self, depth: int) -> None:
        self.tuple_shapes = () if depth == 1 else (_Nested(depth - 1),)


def test_what_is_written_can_be_read_again() -> None:
    assert decode_shape(encode_shape(_Nested(MAX_DEPTH)))["element_type"] == 13
    with pytest.raises(FormatError, match=r"to_proto_bytes: .* more than 100 levels"):
        encode_shape(_Nested(MAX_DEPTH + 1))


def test_length_is_limited() -> None:
    with pytest.raises(FormatError, match=f"at most {MAX_BYTES} bytes"):
        decode_shape(b"\x10\x0b" * (MAX_BYTES // 2 + 1))
    assert decode_shape(b"\x10\x0b" * (MAX_BYTES // 2))["element_type"] == 11


@pytest.mark.parametrize("wrong", [None, PLAIN, [16, 11], 5])
def test_only_bytes_are_read(wrong: Any) -> None:
    with pytest.raises(TypeError, match="from_proto_bytes"):
        decode_shape(wrong)


def test_any_kind_of_bytes() -> None:
    data = bytes.fromhex(PLAIN)
    for kind in (data, bytearray(data), memoryview(data), memoryview(b"?" + data)[1:]):
        assert decode_shape(kind) == PLAIN_FIELDS


# --- round trips and hostile input -------------------------------------------------------------

SIZES = st.one_of(st.integers(1, 9), st.sampled_from([127, 128, 300, 2**31, 2**62]))


@st.composite
def specs(draw: st.DrawFn, depth: int = 2) -> ArraySpec:
    if depth and draw(st.integers(0, 3)) == 0:
        return ArraySpec.tuple(draw(st.lists(specs(depth - 1), max_size=3)))
    dims = draw(st.lists(st.sampled_from([0, 1, 2, 127, 128, 300]), max_size=4))
    dynamic = draw(st.lists(st.booleans(), min_size=len(dims), max_size=len(dims)))
    tiles = draw(st.lists(st.lists(SIZES, min_size=1, max_size=3), max_size=3))
    if tiles and draw(st.booleans()):
        tiles[0].insert(0, COMBINE)
    layout = Layout(
        draw(st.permutations(range(len(dims)))),
        tiles,
        tail_padding_alignment_in_elements=draw(SIZES),
        element_size_in_bits=draw(st.sampled_from([0, 8, 16, 64])),
        memory_space=draw(st.integers(0, 127)),
        dynamic_shape_metadata_prefix_bytes=draw(st.sampled_from([0, 8])),
    )
    name = draw(st.sampled_from(["f32", "pred", "s4", "c128", "f8e8m0fnu"]))
    return ArraySpec(name, dims, draw(st.sampled_from([layout, None])), dynamic=dynamic)


@settings(max_examples=80, deadline=None)
@given(specs())
def test_round_trip(spec: ArraySpec) -> None:
    data = spec.to_proto_bytes()
    back = ArraySpec.from_proto_bytes(data)
    assert back == spec
    assert str(back) == str(spec)
    assert back.to_proto_bytes() == data


def mutated(rng: random.Random, seeds: list[bytes]) -> bytes:
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        choice = rng.randrange(5)
        if choice == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif choice == 1:
            data[at:at] = rng.choice(
                [b"\x00", b"\x80", b"\xff", b"\x22", b"\x2a", b"\x0b", b"\x0c"]
            )
        elif choice == 2:
            del data[at : at + rng.randint(1, 3)]
        elif choice == 3:
            data[at:at] = rng.choice(seeds)
        else:
            del data[at:]
    return bytes(data)


def test_only_errors_of_this_package_escape() -> None:
    rng = random.Random(20_000)
    seeds = [bytes.fromhex(case["expected_hex"]) for case in FACTS]
    seeds += [bytes.fromhex(data) for data in MORE.values()]
    outcomes = {"read": 0, "refused": 0}
    messages = set()
    for _ in range(20_000):
        data = mutated(rng, seeds)
        try:
            spec = ArraySpec.from_proto_bytes(data)
        except (FormatError, LayoutError) as error:  # no message; no shape
            messages.add(str(error))
            outcomes["refused"] += 1
        else:
            assert ArraySpec.from_proto_bytes(spec.to_proto_bytes()) == spec
            outcomes["read"] += 1
    assert min(outcomes.values()) > 1000
    assert max(map(len, messages)) < 400


def test_random_bytes_are_read_or_refused() -> None:
    rng = random.Random(7)
    for _ in range(5_000):
        data = rng.randbytes(rng.randrange(40))
        try:
            fields = decode_shape(data)
        except FormatError:
            continue
        assert len(fields["is_dynamic_dimension"]) == len(fields["dimensions"])
