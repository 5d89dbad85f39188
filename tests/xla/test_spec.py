"""Array specs: kinds, construction, equality and small queries."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError, IndexRangeError, LayoutError, SizeError
from xarraylite.layout.layout import Layout
from xarraylite.layout.text import UNBOUNDED
from xarraylite.xla.spec import ArraySpec

SAMPLES = [
    "f32[]",
    "f32[]{:T(256)}",
    "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
    "pred[<=4,?,0]{0,2,1}",
    "s4[3]{0:T(128)L(8)E(4)S(5)M(16)}",
    "token[]",
    "opaque[]",
    "b(f32[2]{0})",
    "()",
    "(f32[2]{0}, ((), token[]), b(s8[]))",
]


@together("text", SAMPLES)
def test_value_semantics(text: str) -> None:
    spec = ArraySpec.parse(text)
    assert str(spec) == text
    again = ArraySpec.parse(f" {text} ")
    assert spec == again
    assert hash(spec) == hash(again)
    assert eval(repr(spec)) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec == copy.deepcopy(spec)
    assert ArraySpec.from_proto_bytes(spec.to_proto_bytes()) == spec


def test_fields() -> None:
    spec = ArraySpec(np.float32, np.array([2, 3]), "{0,1:T(2,2)}")
    assert spec.element_type.name == "f32"
    assert spec.dtype == np.dtype(np.float32)
    assert spec.dimensions == spec.shape == (2, 3)
    assert spec.rank == spec.ndim == 2
    assert spec.layout == Layout((0, 1), [(2, 2)])
    assert spec.dynamic == (False, False)
    assert spec.tuple_shapes == ()
    assert (spec.is_array, spec.is_tuple, spec.is_token, spec.is_static) == (
        True,
        False,
        False,
        True,
    )
    assert eval(repr(ArraySpec("f32", (2, 3)))) == ArraySpec("f32", (2, 3))


def test_a_layout_may_be_unsaid() -> None:
    spec = ArraySpec("f32", (2, 3))
    assert spec.layout is None
    assert str(spec) == "f32[2,3]"
    assert spec != ArraySpec.parse("f32[2,3]")
    assert spec.with_layout(Layout.row_major(2)) == ArraySpec.parse("f32[2,3]")
    assert spec.with_layout("{0,1}").with_layout(None) == spec


def test_equality_is_xlas() -> None:
    assert ArraySpec.parse("f32[2]{0:M(8)}") == ArraySpec.parse("f32[2]")
    different = "f32[2] s32[2] f32[3] f32[<=2] f32[2]{0:T(2)} f32[2]{0:S(1)} f32[2]{0:E(32)}"
    different += " f32[2,1] f32[2,1]{0,1} (f32[2]) b(f32[2])"
    assert len({ArraySpec.parse(text) for text in different.split()}) == len(different.split())
    assert ArraySpec.token() == ArraySpec.parse("token[]") != ArraySpec("f32")


def test_tuples_buffers_and_tokens() -> None:
    inner = ArraySpec.parse("f32[2]")
    group = ArraySpec.tuple([inner, ArraySpec.token(), ArraySpec.opaque(), ArraySpec.buffer(inner)])
    assert str(group) == "(f32[2]{0}, token[], opaque[], b(f32[2]{0}))"
    assert group.is_tuple
    assert group.tuple_shapes[1].is_token
    assert group.tuple_shapes[2].is_opaque
    assert group.tuple_shapes[3].is_buffer
    assert group.tuple_shapes[0] is inner
    assert group.human_string() == "(f32[2], token[], opaque[], b(f32[2]))"
    assert str(ArraySpec.tuple([])) == "()"


def test_every_fifth_element_is_numbered() -> None:
    group = ArraySpec.tuple([ArraySpec("s8")] * 12)
    assert str(group) == (
        "(s8[], s8[], s8[], s8[], s8[], /*index=5*/s8[], s8[], s8[], s8[], s8[], "
        "/*index=10*/s8[], s8[])"
    )
    assert ArraySpec.parse(str(group)).human_string() == str(group)


def test_dynamic_dimensions() -> None:
    spec = ArraySpec("f32", (4, UNBOUNDED, 3), dynamic=(True, True, False))
    assert str(spec) == "f32[<=4,?,3]"
    assert spec.is_dynamic
    assert ArraySpec("f32", (UNBOUNDED,)).dynamic == (True,)
    assert ArraySpec.tuple([ArraySpec("f32", (3,)), spec]).is_dynamic
    assert not ArraySpec.tuple([ArraySpec("f32", (3,))]).is_dynamic


def test_queries() -> None:
    spec = ArraySpec("f32", (1, 2, 0, 1))
    assert (spec.true_rank, spec.true_num_dimensions()) == (1, 2)
    assert ArraySpec.parse("f32[1,5,0,2]").true_rank == 2  # as XLA's page counts
    assert ArraySpec.parse("f32[1,?,<=3]").true_rank == 2
    assert [spec.get_dimension(k) for k in (-4, -1, 0, 1)] == [1, 1, 1, 2]
    for bad in (4, -5):
        with pytest.raises(IndexRangeError, match="4 dimensions"):
            spec.get_dimension(bad)
    letters = [ArraySpec("f32", (1,) * n).dimension_letters for n in range(6)]
    assert letters == ["", "x", "y,x", "z,y,x", "p,z,y,x", "0,1,2,3,4"]
    with pytest.raises(LayoutError, match="no dtype"):
        _ = ArraySpec.token().dtype


@together(
    ("call", "error", "rule"),
    [
        (lambda: ArraySpec("f32", (-2,)), LayoutError, "not negative"),
        (lambda: ArraySpec("f32", (UNBOUNDED,), dynamic=(False,)), LayoutError, "not negative"),
        (lambda: ArraySpec("f32", (2.5,)), LayoutError, "not an integer"),
        (lambda: ArraySpec("f32", 3), LayoutError, "not a sequence"),
        (lambda: ArraySpec("f32", (2**62, 4)), SizeError, "64-bit"),
        (lambda: ArraySpec("f32", (2**61,)), SizeError, "64-bit"),
        (lambda: ArraySpec("f32", (2**62, 4, 0)), SizeError, "64-bit"),
        (lambda: ArraySpec("f32", (2**63,)), LayoutError, "64-bit"),
        (lambda: ArraySpec("f32", (1,) * 65), LayoutError, "at most 64"),
        (lambda: ArraySpec("f32", (2,), dynamic=(True, False)), LayoutError, "one each"),
        (lambda: ArraySpec("f32", (2,), "{1}"), LayoutError, "each of 0 to 0"),
        (lambda: ArraySpec("f32", (2,), "{0:SC(0:2)}"), LayoutError, "inside"),
        (lambda: ArraySpec("f32", (2,), "{0:#(u32)}"), LayoutError, "sparse"),
        (lambda: ArraySpec("f32", (2,), 3), LayoutError, "neither a Layout"),
        (lambda: ArraySpec("token", (2,)), LayoutError, "neither dimensions"),
        (lambda: ArraySpec("tuple", (), Layout(())), LayoutError, "neither dimensions"),
        (lambda: ArraySpec("f33"), DTypeError, "f33"),
        (lambda: ArraySpec("invalid"), LayoutError, "invalid"),
        (lambda: ArraySpec("f32", tuple_shapes=[ArraySpec.token()]), LayoutError, "only tuples"),
        (lambda: ArraySpec.tuple(["f32[2]"]), LayoutError, "not all array specs"),
        (lambda: ArraySpec.buffer(ArraySpec.token()), LayoutError, "wraps one array"),
        (lambda: ArraySpec("buffer"), LayoutError, "wraps one array"),
        (lambda: ArraySpec.tuple([ArraySpec.parse("f32[2]{0:#(u32)}")]), LayoutError, "sparse"),
    ],
)
def test_refused(call: Any, error: type[Exception], rule: str) -> None:
    with pytest.raises(error, match=rule):
        call()


def test_sizes_at_the_edge_are_accepted() -> None:
    assert ArraySpec("s8", (2**63 - 1,)).rank == 1
    assert ArraySpec("f32", (2**61 - 1,)).rank == 1
    assert ArraySpec("f32", (0, 2**62, 4)).rank == 3


def test_nesting_is_bounded() -> None:
    spec = ArraySpec.token()
    for _ in range(32):
        spec = ArraySpec.tuple([spec])
    assert ArraySpec.parse(str(spec)) == spec
    with pytest.raises(LayoutError, match="at most 32 deep"):
        ArraySpec.tuple([spec])


def test_old_padding_survives_the_bytes() -> None:
    layout = Layout((0, 1), padded_dimensions=(3, 5), padding_value="ZERO")
    spec = ArraySpec("f32", (2, 3), layout)
    assert ArraySpec.from_proto_bytes(spec.to_proto_bytes()) == spec
    assert eval(repr(spec)) == spec


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        ("1064", "element type 100"),
        ("100b1a01022a040a020100", "minor_to_major"),
        ("100b1a01", "byte"),
    ],
)
def test_bytes_of_no_spec(data: str, rule: str) -> None:
    with pytest.raises(ValueError, match=rule):
        ArraySpec.from_proto_bytes(bytes.fromhex(data))
