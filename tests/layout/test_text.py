"""The text of specs and layouts: what is read, what is refused and where, what is printed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import LayoutError, LayoutParseError
from xarraylite.dtypes.element_types import ARRAY_TYPES
from xarraylite.layout.fields import COMBINE, Tile
from xarraylite.layout.layout import Layout
from xarraylite.layout.text import MAX_LENGTH, UNBOUNDED
from xarraylite.xla.spec import ArraySpec

CANONICAL = [
    "f32[]",
    "f32[2]{0}",
    "pred[3,0,5]{0,2,1}",
    "f32[<=4,?]{1,0}",
    "f32[<=0]{0}",
    "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
    "f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}",
    "bf16[2048]{0:T(1024)(128)(2,1)}",
    "f32[]{:T(128)}",
    "u2[]{:E(2)}",
    "f32[2]{0:T(2)L(4)#(u32)*(u8)E(8)S(127)SC(0:1)M(4)}",
    "f32[2,3]{0,1:SC(0:3)(1:0,4)}",
    "f32[9223372036854775807]{0}",
    "f32[4611686018427387904,4]{1,0}",
    "s1[1]{0:L(9223372036854775807)}",
    "b(f32[2]{0:T(128)S(1)})",
    "(f32[2]{0:T(128)}, (bf16[2,2]{0,1}, token[]), opaque[], b(s8[]))",
    "((), (()))",
    "(s8[], s8[], s8[], s8[], s8[], /*index=5*/(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[]))",
]


@together("text", CANONICAL)
def test_canonical_text_prints_as_it_is(text: str) -> None:
    assert str(ArraySpec.parse(text)) == text


@together(
    ("text", "canonical"),
    [
        ("f32[2,3]", "f32[2,3]{1,0}"),
        (" f32 [ 2 , <= 3 ] { 1 , 0 : T ( 2 , * , 1 ) ( 2 ) } ", "f32[2,<=3]{1,0:T(2,*,1)(2)}"),
        ("f32\t[\r\n2]", "f32[2]{0}"),
        ("f32[02,007]{01,00}", "f32[2,7]{1,0}"),
        ("(f32[2],s32[])", "(f32[2]{0}, s32[])"),
        ("( )", "()"),
        ("b ( f32[] )", "b(f32[])"),
        ("token [ ]", "token[]"),
        ("f32[2]{0:}", "f32[2]{0}"),
        ("f32[]{:}", "f32[]"),
        ("f32[2]{0:L(1)E(0)S(0)M(0)}", "f32[2]{0}"),
        ("f32[2,3]{1,0:D(D+,C~)}", "f32[2,3]{1,0}"),
        ("f32[2,3]{1,0:D(S+~,H)T(2,2)}", "f32[2,3]{1,0:T(2,2)}"),
        ("f32[2]{0:T(-9223372036854775808,2)}", "f32[2]{0:T(*,2)}"),
        ("/*a*/f32[2]", "f32[2]{0}"),
        ("// f33\nf32[2]// c", "f32[2]{0}"),
        ("f32/**/[/* ] // */2]/***/", "f32[2]{0}"),
        ("f32[2]// \u00e9 /*", "f32[2]{0}"),
        ("(f32[2], /*index=1*/f32[3])", "(f32[2]{0}, f32[3]{0})"),
        ("f32[2]{0}//x\r", "f32[2]{0}"),
        ("(BF16[2,3], b(U8[]))", "(bf16[2,3]{1,0}, b(u8[]))"),
        ("f32[2,7]{1,0:T(\u2217,3)}", "f32[2,7]{1,0:T(*,3)}"),
    ],
)
def test_loose_text_prints_canonically(text: str, canonical: str) -> None:
    assert str(ArraySpec.parse(text)) == canonical
    assert ArraySpec.parse(text) == ArraySpec.parse(canonical)


@together("name", ARRAY_TYPES)
def test_every_element_type_is_read(name: str) -> None:
    assert ArraySpec.parse(f"{name}[2]").element_type.name == name


# A caret stands before the character that is reported; at the end it is the end.
REFUSED = [
    ("^", "element type"),
    (" ^", "element type"),
    ("^f33[2]", "element type"),
    ("^f3X[2]", "element type"),
    ("^Bf16[2]", "element type"),
    ("f32[2]{0:SC(0:^)}", "a split has at least one"),
    ("^[3]", "element type"),
    ("^tuple[]", "element type"),
    ("^%f32[2]", "element type"),
    ("^b[2]", "element type"),
    ('^"f32[2]"', "element type"),
    ("f32^", "expected '\\['"),
    ("f32[2^", "expected ',' or ']'"),
    ("f32[2,^]", "expected a size"),
    ("f32[^,2]", "expected a size"),
    ("f32[^-2]", "expected a size"),
    ("f32[^-0]", "expected a size"),
    ("f32[^-9223372036854775808]", "expected a size"),
    ("f32[^+2]", "expected a size"),
    ("f32[2^x3]", "expected ','"),
    ("f32[2^.0]", "expected ','"),
    ("f32[<=^?]", "expected a size"),
    ("f32[^< =4]", "expected a size"),
    ("f32[^9223372036854775808]", "from 0 to 9223372036854775807"),
    ("f32[^00000000000000000002]", "19 digits"),
    ("f32[^\u0662]", "unexpected"),
    ("f32[2]^\u00b2", "unexpected"),
    ("f32[2]^\x0b", "nothing more"),
    ("f32[2]^\x00", "nothing more"),
    ("f32[2]^[3]", "nothing more"),
    ("f32[2]^, f32[3]", "nothing more"),
    ("f32[2]{0}^{0}", "nothing more"),
    ("f32[2] ^/* c", "without an end"),
    ("f32[2] ^/*/", "without an end"),
    ("f32[2]^/", "nothing more"),
    ("f32[]{^}", "dimension number or ':'"),
    ("f32[2]{^foo}", "dimension number or ':'"),
    ("f32[2]{0^", "expected ','"),
    ("f32[2]{0,^}", "dimension number"),
    ("f32[2]{0 ^1}", "expected ','"),
    ("f32[2,3]{^1}", "1 entries for 2"),
    ("f32[]{^0}", "1 entries for 0"),
    ("f32[2]{^:T(2)}", "0 entries for 1"),
    ("f32[2,3]{1,^1}", "once"),
    ("f32[2,3]{^2,1}", "once"),
    ("f32[2]{0:^,}", "one of the properties"),
    ("f32[2]{0:^t(2)}", "one of the properties"),
    ("f32[2]{0:T^}", "expected '\\('"),
    ("f32[2]{0:T(^)}", "tile size"),
    ("f32[2]{0:T(2)(^)}", "tile size"),
    ("f32[2]{0:T(^0)}", "from 1 to"),
    ("f32[2]{0:T(^-1)}", "tile size"),
    ("f32[2]{0:T(2,*^)}", "merges"),
    ("f32[2]{0:T(*^)}", "merges"),
    ("f32[2]{0:T(*^*)}", "merges"),
    ("f32[2]{0:T(2 ^2)}", "expected '\\)'"),
    ("f32[2]{0:T(2^}", "expected '\\)'"),
    ("f32[2]{0:T(2)^T(2)}", "once each"),
    ("f32[2]{0:S(1)^L(4)}", "once each"),
    ("f32[2]{0:M(1)^S(1)}", "once each"),
    ("f32[2]{0:T(2)^,L(2)}", "one of the properties"),
    ("f32[2]{0:L(^0)}", "from 1 to"),
    ("f32[2]{0:E(^-1)}", "a number"),
    ("f32[2]{0:S(^128)}", "from 0 to 127"),
    ("f32[2]{0:S(^-1)}", "a number"),
    ("f32[2]{0:S(1^}", "expected '\\)'"),
    ("f32[2]{0:M(^-8)}", "a number"),
    ("f32[2]{0:#(^f32)}", "an integer type"),
    ("f32[2]{0:*(^)}", "an integer type"),
    ("f32[2]{0:SC^}", "expected '\\('"),
    ("f32[2]{0:SC(0^)}", "':' after"),
    ("f32[2]{0:SC(^1:1)}", "from 0 to 0"),
    ("f32[2]{0:SC(0:1,^)}", "an index"),
    ("f32[2,3]{1,0:^D(D)}", "1 dimension levels for 2"),
    ("f32[2]{0:D(^X)}", "dimension level"),
    ("f32[2]{0:D(D~^+)}", "expected '\\)'"),
    ("f32[2]{0:^P(f32[2])}", "physical shape"),
    ("(f32[3],^", "element type"),
    ("(f32[3],^)", "element type"),
    ("(f32[3] ^f32[2])", "expected ',' or '\\)'"),
    ("(f32[2], ^f32[2]{0:SC(0:2)})", "not valid"),
    ("(^f32[9223372036854775807])", "not valid"),
    ("((^b(f32[2]{0:#(u32)})))", "not valid"),
    ("b(^token[])", "one array"),
    ("b(^b(f32[]))", "one array"),
    ("b(f32[]^,f32[])", "expected '\\)'"),
    ("token[^2]", "no dimensions"),
    ("token[]^{:S(1)}", "nothing more"),
    ("opaque^", "expected '\\['"),
]


@together(("marked", "rule"), REFUSED)
def test_refused_at_the_column(marked: str, rule: str) -> None:
    text = marked.replace("^", "")
    with pytest.raises(LayoutParseError, match=rule) as caught:
        ArraySpec.parse(text)
    assert caught.value.column == marked.index("^") + 1
    assert caught.value.text == text
    assert str(caught.value).startswith("ArraySpec.parse: ")


@together(
    "text",
    [
        "{}",
        "{4,5,6}",
        "{1,2,0}",
        "{:T(128)}",
        "{3,2,1,0:T(42,123)(4,5)L(100)E(42)}",
        "{1,0:#(u32)*(u16)E(4)S(3)SC(0:1)P(f32[2]{0:T(2)})M(123)}",
        "{0:P((b(f32[]), token[]))}",
    ],
)
def test_layouts_stand_alone(text: str) -> None:
    layout = Layout.parse(text)
    assert str(layout) == text
    assert Layout.parse(str(layout)) == layout
    assert hash(Layout.parse(text)) == hash(layout)


@together(
    ("text", "column"),
    [
        ("", 1),
        ("1,0", 1),
        ("{", 2),
        ("{1,0", 5),
        ("{1,}", 4),
        ("{0}x", 4),
        ("{0:P(f32[2]{0:P(s8[])})}", 15),
    ],
)
def test_no_layout(text: str, column: int) -> None:
    with pytest.raises(LayoutParseError, match=r"Layout\.parse") as caught:
        Layout.parse(text)
    assert caught.value.column == column


@pytest.mark.parametrize("parse", [ArraySpec.parse, Layout.parse])
def test_only_text_is_read(parse: Callable[[object], object]) -> None:
    for bad in (None, 3, b"f32[2]", ["f32[2]"]):
        with pytest.raises(LayoutError, match="not text"):
            parse(bad)


def test_rank_depth_and_length_are_bounded() -> None:
    assert ArraySpec.parse(f"f32[{','.join('1' * 64)}]").rank == 64
    for text, rule in [
        (f"f32[{','.join('1' * 65)}]", "64 dimensions"),
        ("(" * 33 + ")" * 33, "32 deep"),
        ("(" * 10000, "32 deep"),
        (" " * (MAX_LENGTH + 1), "1048576"),
    ]:
        with pytest.raises(LayoutParseError, match=rule):
            ArraySpec.parse(text)
    with pytest.raises(LayoutParseError, match="64 dimensions"):
        Layout.parse(f"{{{','.join('1' * 65)}}}")


@together(
    "piece",
    ["(", " ", "/*", "/", "//\n", "/*/", "1", "-", "f32[", "f32[1", "9,", "T(", "*", "{0:", "a.",
     "f32[2]{0:T(2)(2)},", "f32[2],", "<", "<=", "/**/", "\u00e9", "((),"],
)  # fmt: skip
def test_time_is_linear(piece: str) -> None:
    def lines(length: int) -> int:
        """Count the lines that are run, and the characters that are copied by slices."""
        text = Copied("(" + (piece * (length // len(piece))))
        steps = 0

        def step(frame: FrameType, event: str, arg: object) -> Callable[..., Any]:
            nonlocal steps
            steps += 1
            return step

        before = sys.gettrace()
        sys.settrace(step)
        try:
            with pytest.raises(LayoutParseError):
                ArraySpec.parse(text)
        finally:
            sys.settrace(before)
        return steps + text.copied

    # Eight times the text; a quadratic reader would take 64 times as many.
    assert lines(24_000) < 12 * lines(3_000)


class Copied(str):
    """A text that counts the characters of its slices."""

    __slots__ = ("copied",)

    def __init__(self, text: str) -> None:
        self.copied = 0

    def __getitem__(self, key: Any) -> str:
        part = super().__getitem__(key)
        self.copied += len(part)
        return part


types = st.sampled_from(sorted(ARRAY_TYPES))
sizes = st.one_of(st.integers(0, 200), st.just(UNBOUNDED))
tile_sizes = st.lists(st.sampled_from([1, 2, 8, 128, COMBINE]), max_size=3)
tiles = st.builds(lambda head, last: Tile([*head, last]), tile_sizes, st.integers(1, 256))


@st.composite
def arrays(draw: st.DrawFn) -> ArraySpec:
    dimensions = draw(st.lists(sizes, max_size=5))
    rank = len(dimensions)
    flags = [draw(st.booleans()) or size == UNBOUNDED for size in dimensions]
    split = draw(st.lists(st.integers(0, rank - 1), max_size=2, unique=True)) if rank else []
    places = st.lists(st.integers(1, 5), min_size=1, max_size=2, unique=True).map(sorted)
    cuts = [(p, draw(places)) for p in split]
    order = draw(st.permutations(range(rank)))
    layout = Layout(
        order,
        draw(st.lists(tiles, max_size=3)),
        tail_padding_alignment_in_elements=draw(st.sampled_from([1, 1, 2, 100])),
        element_size_in_bits=draw(st.sampled_from([0, 0, 1, 4, 32])),
        memory_space=draw(st.sampled_from([0, 0, 1, 5, 127])),
        dynamic_shape_metadata_prefix_bytes=draw(st.sampled_from([0, 8])),
        split_configs=[
            (p, cut) for p, cut in cuts if not cut or cut[-1] < dimensions[order[rank - 1 - p]]
        ],
    )
    return ArraySpec(draw(types), dimensions, layout, dynamic=flags)


leaves = st.one_of(
    arrays(),
    st.just(ArraySpec.token()),
    st.just(ArraySpec.opaque()),
    arrays().map(ArraySpec.buffer),
)
specs = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=7).map(ArraySpec.tuple), max_leaves=8
)


@given(specs)
def test_round_trip(spec: ArraySpec) -> None:
    text = str(spec)
    again = ArraySpec.parse(text)
    assert again == spec
    assert hash(again) == hash(spec)
    assert str(again) == text
    assert eval(repr(spec)) == spec
    if "*" not in text.replace("/*index", "").replace("*/", ""):
        assert ArraySpec.from_proto_bytes(spec.to_proto_bytes()) == spec


@given(specs, st.sampled_from([" ", "\n", "/* [ */", "//]\n", " \t "]))
def test_blanks_and_comments_mean_nothing(spec: ArraySpec, blank: str) -> None:
    spaced = re.sub(r"[,(\]}]|/[*]index=\d+[*]/", lambda token: token[0] + blank, str(spec))
    assert ArraySpec.parse(spaced) == spec


def test_messages_can_be_quoted_anywhere() -> None:
    with pytest.raises(LayoutParseError) as caught:
        ArraySpec.parse("f32[2]{0:T(2}")
    assert json.loads(json.dumps(str(caught.value))) == (
        "ArraySpec.parse: expected ')', found '}' at column 13 of 'f32[2]{0:T(2}'"
    )
