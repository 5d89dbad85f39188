"""Labelled expressions: values against `numpy.einsum`, aliasing, pending readers, errors."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle, tiling
from xarraylite.dtypes.names import as_dtype, kind
from xarraylite.testing import assert_same_bits, count_allocations
from xarraylite.testing.operands import LAYOUTS, WRITABLE, fill, sample

Array = np.ndarray[Any, np.dtype[Any]]

DTYPES = [
    "float64",
    "float32",
    "bfloat16",
    "float16",
    "float8_e5m2",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint64",
    "int4",
    "bool",
    "complex64",
    "complex128",
]
#: What sums of products are exact in, by kind.
EXACT = {"b": np.bool_, "i": np.int64, "u": np.uint64, "f": np.float64, "c": np.complex128}


def einsum(inputs: list[str], out: str, arrays: list[Array], dtype: np.dtype[Any]) -> Array:
    """The same in a dtype without rounding, then rounded once."""
    wide = [oracle.convert(a, np.dtype(EXACT[kind(dtype)])) for a in arrays]
    return oracle.convert(np.asarray(np.einsum(f"{','.join(inputs)}->{out}", *wide)), dtype)


def labelled(array: Any, letters: str) -> Any:
    held = array if isinstance(array, xl.XExpression) else xl.asarray(array)
    return held[",".join(letters)]


def operand(draw: st.DrawFn, values: Array, seed: int) -> tuple[Any, Array]:
    """An operand in some layout, tiled ones included, and what it holds."""
    tiles = tiling.LAYOUTS.get(values.ndim, ())
    layout = draw(st.sampled_from([*LAYOUTS, *tiles]))
    if layout in tiles:
        return tiling.poisoned(values, layout), values
    made = sample(layout, values, seed)
    return made.operand, made.array


@st.composite
def products(draw: st.DrawFn) -> tuple[list[str], str, list[tuple[Any, Array]], np.dtype[Any]]:
    """A product of labelled operands, labels of its result, and its dtype."""
    dtype = as_dtype(draw(st.sampled_from(DTYPES)))
    extents = {
        k: draw(st.sampled_from([2, 3, 1, 5, 4, 0] if k == "m" else [2, 3, 1, 5])) for k in "ijklm"
    }
    count = draw(st.integers(1, 4))
    inputs = [
        "".join(draw(st.lists(st.sampled_from("ijklm"), unique=True, max_size=3)))
        for _ in range(count)
    ]
    known = sorted(set("".join(inputs)))
    out = "".join(
        draw(st.permutations(draw(st.lists(st.sampled_from(known), unique=True)))) if known else []
    )
    operands = []
    for number, labels in enumerate(inputs):
        shape = tuple([extents[k] for k in labels])
        # Small whole numbers: every sum is exact in float32.
        values = fill(dtype, shape, draw(st.integers(0, 99)) + number, plain=True)
        if dtype.itemsize == 1:
            values = oracle.convert(oracle.convert(values, np.dtype(np.float64)) % 3, dtype)
        operands.append(operand(draw, values, number))
    return inputs, out, operands, dtype


@given(products())
def test_products_agree_with_einsum(
    case: tuple[list[str], str, list[tuple[Any, Array]], np.dtype[Any]],
) -> None:
    inputs, out, operands, dtype = case
    expression = labelled(operands[0][0], inputs[0])
    for (ours, _), labels in zip(operands[1:], inputs[1:], strict=True):
        expression = expression * labelled(ours, labels)
    result = xl.eval(expression, ",".join(out))
    assert_same_bits(result, einsum(inputs, out, [a for _, a in operands], dtype))


@given(products(), st.data())
def test_assignment_to_every_layout(
    case: tuple[list[str], str, list[tuple[Any, Array]], np.dtype[Any]], data: st.DataObject
) -> None:
    """Written into memory of any layout and another dtype; and added to what is there."""
    inputs, out, operands, dtype = case
    product = labelled(operands[0][0], inputs[0])
    for (ours, _), labels in zip(operands[1:], inputs[1:], strict=True):
        product = product * labelled(ours, labels)
    expected = einsum(inputs, out, [a for _, a in operands], dtype)
    tiles = [t for t in tiling.LAYOUTS.get(expected.ndim, ()) if "(*,3)" not in t]
    layout = data.draw(st.sampled_from([*WRITABLE, *tiles]))
    before = fill(dtype, expected.shape, 7, plain=True)
    if layout in tiles:
        destination = tiling.poisoned(before, layout)
    else:
        destination = sample(layout, before, 3).operand
    labels = ",".join(out)
    destination[labels] = product
    assert_same_bits(np.asarray(destination), expected)
    if dtype != np.bool_:
        destination[...] = before
        destination[labels] += product
        wide = np.dtype(EXACT[kind(dtype)])
        exact = einsum(inputs, out, [a for _, a in operands], wide)
        total = oracle.convert(before, wide) + exact
        assert_same_bits(np.asarray(destination), oracle.convert(total, dtype))


def arrays(*shapes: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(5)
    return [rng.random(shape) for shape in shapes]


@together("dtype", ["float64", "float32", "complex128"])
@together(
    ("spec", "shapes"),
    [
        ("ij,jk->ik", [(40, 50), (50, 60)]),
        ("ij,jk->ki", [(40, 50), (50, 60)]),
        ("ji,kj->ik", [(50, 40), (60, 50)]),
        ("ijk,kl->ijl", [(6, 7, 20), (20, 30)]),
        ("ijk,jl->ilk", [(6, 30, 20), (30, 25)]),
        ("ijkl,jlmn->ikmn", [(5, 6, 7, 8), (6, 8, 9, 4)]),
        ("ijkl,jlmn->inmk", [(5, 6, 7, 8), (6, 8, 9, 4)]),
        ("bij,bjk->bik", [(7, 20, 30), (7, 30, 10)]),
        ("ibj,jkb->kbi", [(20, 7, 30), (30, 10, 7)]),
        ("ij,jk,kl->il", [(30, 5), (5, 40), (40, 6)]),
        ("i,ij,j->", [(50,), (50, 60), (60,)]),
        ("ij,j->i", [(50, 60), (60,)]),
        ("abc,cd,db->a", [(5, 6, 7), (7, 8), (8, 6)]),
        ("ij,kl->ijkl", [(5, 6), (7, 8)]),
        ("ij,ij->i", [(50, 60), (50, 60)]),
    ],
)
def test_larger_products(spec: str, shapes: list[tuple[int, ...]], dtype: str) -> None:
    left, out = spec.split("->")
    values = [a.astype(dtype) for a in arrays(*shapes)]
    expected = np.einsum(spec, *values)
    expression = labelled(values[0], left.split(",")[0])
    for array, labels in zip(values[1:], left.split(",")[1:], strict=True):
        expression = labelled(array, labels) * expression
    result = xl.eval(expression, ",".join(out))
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(np.asarray(result), expected, rtol=tolerance)
    assert result.dtype == expected.dtype
    assert result.layout is xl.row_major


A, B = arrays((3, 4), (4, 5))


def test_sums_scales_and_groups() -> None:
    a, b, c = xl.asarray(A), xl.asarray(B), xl.asarray(A + 1)
    cases: list[tuple[Any, str, Array]] = [
        (a["i,j"], "j,i", A.T),
        (-a["i,j"], "i,j", -A),
        (+a["i,j"] - c["i,j"], "j,i", A.T - (A + 1).T),
        (2 * a["i,j"] / 4, "i,j", 2 * A / 4),
        (a["i,j"] * np.float64(3), "i", 3 * A.sum(1)),
        (xl.asarray(3.0) * a["i,j"], "", 3 * A.sum()),
        ((a["i,j"] + c["i,j"]) * b["j,k"], "i,k", (2 * A + 1) @ B),
        ((a["i,j"] * c["i,j"] - 2 * a["i,j"]) * b["j,k"], "i,k", (A * (A + 1) - 2 * A) @ B),
        (a["i,j"] * b["j,k"] - 2 * (a["i,j"] * b["j,k"]), "i,k", -(A @ B)),
        # The second term has no j: it is not summed over it.
        (a["i,j"] * b["j,k"] + (a @ b)["i,k"], "k,i", 2 * (A @ B).T),
        ((a["i,j"] * b["j,k"] + (a @ b)["i,k"]) * b["l,k"], "i,l", 2 * A @ B @ B.T),
        ((a + c)["i,j"] * a["i,j"], "i,j", (2 * A + 1) * A),
        (a[1:]["i,j"] * b[:, ::2]["j,k"], "i,k", A[1:] @ B[:, ::2]),
        (xl.asarray(2.0)[""] * xl.asarray(4.0)[""], "", np.array(8.0)),
    ]
    for expression, labels, expected in cases:
        np.testing.assert_allclose(np.asarray(xl.eval(expression, labels)), expected, rtol=1e-14)


def test_long_labels_and_spaces() -> None:
    a, b = xl.asarray(A), xl.asarray(B)
    result = xl.eval(a["row, inner"] * b["inner,column"], " row,column")
    np.testing.assert_allclose(np.asarray(result), A @ B)


def test_one_dtype_for_all_of_it() -> None:
    small = xl.asarray([[100, 100]], dtype="int8")
    tall = xl.asarray([[100], [100]], dtype="int8")
    assert xl.eval(small["i,j"] * tall["j,k"], "i,k").tolist() == [[20000 - 78 * 256]]
    assert xl.eval(0.5 * small["i,j"] * tall["j,k"], "i,k").tolist() == [[10000.0]]
    wide = xl.asarray([[1]], dtype="int32")
    both = small["i,j"] * tall["j,k"] + wide["i,k"]
    assert both.dtype == xl.int32
    assert xl.eval(both, "i,k").tolist() == [[20001]]
    assert (small["i,j"] / 2).dtype == xl.float64
    assert (small["i,j"] * 2j).dtype == xl.complex128
    with pytest.raises(OverflowError, match="300 out of bounds for int8"):
        small["i,j"] * 300


def test_narrow_floats_are_rounded_once() -> None:
    ones = xl.ones((1, 1024), dtype="bfloat16")
    assert xl.eval(ones["i,j"] * ones["k,j"], "i,k").tolist() == [[1024.0]]  # not 256
    third = xl.full((1, 3), 1 / 3, dtype="bfloat16")
    exact = float(np.float32(ml_dtypes.bfloat16(1 / 3))) ** 2 * 3
    result = xl.eval(third["i,j"] * third["k,j"] + 0 * third["i,j"] * third["k,j"], "i,k")
    assert result.tolist() == [[float(ml_dtypes.bfloat16(exact))]]


def test_bool_products_are_any_of_all() -> None:
    rng = np.random.default_rng(0)
    p, q = rng.random((40, 300)) < 0.1, rng.random((300, 50)) < 0.1
    result = xl.eval(xl.asarray(p)["i,j"] * xl.asarray(q)["j,k"], "i,k")
    assert_same_bits(result, p @ q)
    with pytest.raises(xl.DTypeError, match="subtract"):
        xl.asarray(p)["i,j"] - xl.asarray(p)["i,j"]
    with pytest.raises(xl.DTypeError, match="negative"):
        -xl.asarray(p)["i,j"]


@together("dtype", ["int8", "uint8", "int16", "uint16", "int32", "int64", "uint64"])
def test_integers_wrap(dtype: str) -> None:
    p, q = (fill(np.dtype(dtype), shape, 3) for shape in ((30, 70), (70, 20)))
    ours = xl.eval(xl.asarray(p)["i,j"] * xl.asarray(q)["j,k"], "i,k")
    assert_same_bits(ours, p @ q)


# --- errors ------------------------------------------------------------------------------------


def test_errors_come_when_the_expression_is_written() -> None:
    a, b = xl.asarray(A), xl.asarray(B)
    c = xl.zeros((3, 5))
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: a["i,j"] * b["i,k"], "label 'i' has extent 3 on the left and 4 on the right"),
        (lambda: a["i,j"] + b["i,j"], "label 'i' has extent 3 on the left and 4 on the right"),
        (lambda: a["i,i"], "label 'i' stands for modes 0 and 1"),
        (lambda: a["i,j,k"], "has 3 labels, the array has 2 dimensions"),
        (lambda: a["i"], "has 1 labels, the array has 2 dimensions"),
        (lambda: a["i,"], "label 1 of 'i,' is '', not an identifier"),
        (lambda: a["i,2"], "not an identifier"),
        (lambda: (a + 1)["i,j,k"], r"labels of float64\[3, 4\]"),
        (lambda: a["i,j"] * a, "only numbers scale a labelled expression"),
        (lambda: A * a["i,j"], "only numbers scale a labelled expression"),
        (lambda: a["i,j"] + 1, "every term of a sum has labels"),
        (lambda: 1 - a["i,j"], "every term of a sum has labels"),
        (lambda: xl.eval(a["i,j"], "i,l"), "label 'l' of 'i,l' is missing in the term"),
        (lambda: xl.eval(a["i,j"] + a["i,k"], "i,j"), r"label 'j' .* the term \(i=3, k=4\)"),
        (lambda: xl.eval(a["i,j"], "i,i"), "label 'i' stands for modes"),
        (lambda: xl.eval(a["i,j"]), "needs the labels of the result, such as 'i,j'"),
        (lambda: xl.eval(a + 1, "i,j"), "labels 'i,j' are for labelled expressions"),
        (lambda: c.__setitem__("i,k", a["i,j"] * b["j,l"]), "label 'k' of 'i,k' is missing"),
        (lambda: c.__setitem__("k,i", a["i,j"] * b["j,k"]), "label 'k' has extent 3 in the dest"),
        (lambda: c.__setitem__("i", a["i,j"]), "has 1 labels, the array has 2 dimensions"),
    ]
    for call, message in cases:
        with pytest.raises(xl.ShapeError, match=message), count_allocations() as count:
            call()
        assert count.allocations == 0
    assert not np.asarray(c).any()


@pytest.mark.parametrize("number", [3, 2.5, np.float32(7), xl.asarray(4.0), xl.asarray(1.0) + 1])
def test_a_number_fills(number: Any) -> None:
    c = xl.zeros((3, 4))
    c["i,j"] = number
    assert np.asarray(c).tolist() == [[float(number)] * 4] * 3
    xl.noalias(c)["j,i"] = 0
    assert not np.asarray(c).any()
    for labels, error in [("i", xl.BoundsError), ("i,i", xl.ShapeError)]:
        with pytest.raises(error):
            c[labels] = number
    assert not np.asarray(c).any()


def test_what_cannot_be_assigned() -> None:
    a, c = xl.asarray(A), xl.zeros((3, 4))
    with pytest.raises(xl.DTypeError, match="without labels"):
        c["i,j"] = a
    with pytest.raises(xl.DTypeError, match="without labels"):
        c["i,j"] = [3.0]
    fixed = xl.adapt(np.frombuffer(bytes(96), np.float64), (3, 4))
    with pytest.raises(xl.ReadOnlyError, match="labelled assignment"):
        fixed["i,j"] = a["i,j"]
    whole = xl.zeros((3, 4), dtype="int32")
    with pytest.raises(xl.CastError, match="same_kind"):
        whole["i,j"] += a["i,j"]
    whole["i,j"] = 10 * a["i,j"]  # plain assignment converts
    assert_same_bits(whole, (10 * A).astype(np.int32))


def test_the_handle() -> None:
    a, b = xl.asarray(A), xl.asarray(B)
    e = a["i,j"] * b["j,k"]
    assert repr(e) == "<XLabelled i=3, j=4, k=5: float64, lazy>"
    assert (e.labels, e.extents, e.dtype) == (("i", "j", "k"), {"i": 3, "j": 4, "k": 5}, xl.float64)
    with pytest.raises(TypeError, match="not compared"):
        assert e == e
    with pytest.raises(TypeError):
        hash(e)
    with pytest.raises(TypeError):
        xl.sum(e)
    with pytest.raises(TypeError):
        a["i,j"] / b["j,k"]


def test_stale_and_traced_operands() -> None:
    a, b = xl.asarray(A), xl.asarray(B)
    late = xl.late(a * 1)
    a[...] = 1.0
    np.testing.assert_allclose(
        np.asarray(xl.eval(late["i,j"] * b["j,k"], "i,k")), np.ones((3, 4)) @ B
    )
    traced = xl.jit(lambda x: xl.eval(x["i,j"] * x["j,k"], "i,k"))
    with pytest.raises(xl.TracedValueError):
        traced(xl.ones((3, 3)))


def test_results_have_a_limit() -> None:
    with xl.config(max_result_bytes=1000), pytest.raises(xl.SizeError):
        xl.eval(xl.ones((20, 2))["i,j"] * xl.ones((2, 20))["j,k"], "i,k")


def test_explain() -> None:
    a, c = xl.ones((64, 64)), xl.zeros((64, 64))
    plan = xl.explain(c["i,k"], a["i,j"] * a["j,k"])
    assert (plan.kernels, plan.temporaries, plan.result_bytes) == (0, (), 0)
    assert plan.steps[0].startswith("BLAS: float64[64, 64][i,j] * float64[64, 64][j,k] over j")
    assert plan.bytes_moved == 3 * 64 * 64 * 8
    plan = xl.explain(c["i,k"], c["i,j"] * a["j,k"])
    assert [t.nbytes for t in plan.temporaries] == [64 * 64 * 8]
    assert "lies in the destination" in plan.temporaries[0].reason
    plan = xl.explain((a + 1)["i,j"] * a["j,k"] + a["i,k"], "i,k")
    assert [step.split()[0] for step in plan.steps[:2]] == ["pack", "BLAS:"]
    assert len(plan.temporaries) == 2
    assert plan.result_bytes == 64 * 64 * 8
    tiled = a.to_layout("{1,0:T(8,16)}")
    assert "it is tiled" in xl.explain(tiled["i,j"] * a["j,k"], "i,k").steps[0]
    assert "BLAS" not in str(xl.explain(tiled["i,j"] * a["i,j"], "i"))
    integers = xl.explain(xl.ones((64, 64), dtype="int64")["i,j"] * a.astype("int64")["j,k"], "i,k")
    assert "the kernel reads it many times" in str(integers)
    with pytest.raises(TypeError, match="container with labels"):
        xl.explain(a["i,j"] * a["j,k"], a["i,j"])
    assert not np.asarray(c).any()


def test_explain_says_what_happens() -> None:
    """The temporaries it names are those that are allocated."""
    rng = np.random.default_rng(1)
    a, b, c = [xl.asarray(rng.random((40, 40))) for _ in range(3)]
    t = xl.asarray(rng.random((6, 40, 7)))
    expressions = [
        a["i,j"] * b["j,k"],
        c["i,j"] * b["j,k"],
        a["i,j"] * b["j,l"] * c["l,k"],
        (a + b)["i,j"] * a["k,j"] - 2 * c["i,k"],
        t["p,i,q"] * t["p,k,q"],
    ]
    for e in expressions:
        with xl.config(engine="compiled"):
            plan = xl.explain(c["i,k"], e)
        with count_allocations() as count:
            c["i,k"] = e
        snapshots = count.snapshots * c.nbytes
        assert count.bytes - snapshots == sum([t.nbytes for t in plan.temporaries])


def test_threads_setting_caps_blas() -> None:
    a = xl.asarray(arrays((300, 300))[0])
    with xl.config(threads=1):
        one = xl.eval(a["i,j"] * a["j,k"], "i,k")
    np.testing.assert_allclose(np.asarray(one), np.asarray(a) @ np.asarray(a), rtol=1e-12)


def test_every_order_of_two_matrices() -> None:
    values = arrays((3, 4, 5), (5, 4, 6))
    for left, right in itertools.product(
        itertools.permutations("ajk"), itertools.permutations("kjb")
    ):
        p = np.einsum(f"ajk->{''.join(left)}", values[0])
        q = np.einsum(f"kjb->{''.join(right)}", values[1])
        result = xl.eval(labelled(p, "".join(left)) * labelled(q, "".join(right)), "b,a")
        np.testing.assert_allclose(np.asarray(result), np.einsum("ajk,kjb->ba", *values))


@pytest.mark.parametrize("spec", ["ni,ij->q", "ni,ij->nn"])
def test_what_is_refused_is_told_as_it_was_written(spec: str) -> None:
    with pytest.raises(xl.ShapeError, match=rf"'{spec}', float64\[3, 4\], float64\[4, 5\]"):
        xl.einsum(spec, xl.zeros((3, 4)), xl.zeros((4, 5)))
