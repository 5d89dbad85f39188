"""What is fixed of shapes goes through expressions; layouts that were asked for stay."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite.transforms import natives

A = np.arange(1.0, 5.0).reshape(2, 2)


def operands() -> dict[str, Any]:
    fixed = xl.XTensorFixed[xl.float64, (2, 2)](A)
    row, column = (xl.XTensorFixed[xl.float64, shape](shape=shape) for shape in ((1, 2), (2, 1)))
    arrays = {"a": xl.XArray(A), "t": xl.XTensor(A), "f": fixed, "row": row, "column": column}
    return {**arrays, "n": A, "s": 2.0}


#: Expression, what its result is, and whether its rank and its shape are fixed.
PROMOTION = [
    ("t + t", "XTensor", True, False),
    ("t * s", "XTensor", True, False),
    ("t + f", "XTensor", True, False),
    ("f + f", "XTensorFixed[float64, (2, 2)]", True, True),
    ("row + f", "XTensorFixed[float64, (2, 2)]", True, True),
    ("row - column * s", "XTensorFixed[float64, (2, 2)]", True, True),
    ("xl.where(row > 1, f, column)", "XTensorFixed[float64, (2, 2)]", True, True),
    ("f * f[1]", "XTensor", True, False),
    ("row + f[:1]", "XTensor", True, False),
    ("row + t", "XTensor", True, False),
    ("row + a", "XArray", False, False),
    ("xl.broadcast_to(row, (2, 2)) * s", "XTensor", True, False),
    ("s - f", "XTensorFixed[float64, (2, 2)]", True, True),
    ("f < f", "XTensorFixed[bool, (2, 2)]", True, True),
    ("xl.sin(f) * t", "XTensor", True, False),
    ("t + a", "XArray", False, False),
    ("f + a", "XArray", False, False),
    ("f + n", "XArray", False, False),
    ("a + a", "XArray", False, False),
    ("f + f[0]", "XTensor", True, False),
    ("t[1:] + t[:1]", "XTensor", True, False),
    ("t.T + t", "XTensor", True, False),
    ("xl.sum(f, axis=0)", "XTensor", True, False),
    ("xl.sum(t)", "XTensor", True, False),
    ("xl.mean(a)", "XArray", False, False),
    ("xl.concat([t, t])", "XTensor", True, False),
    ("xl.concat([t, a])", "XArray", False, False),
    ("xl.reshape(t + t, (4, 1))", "XTensor", True, False),
    ("(t + t)[[0, 1, 1]]", "XTensor", True, False),
    ("xl.fromfunction(lambda i: i, (2,)) + f", "XArray", False, False),
    ("xl.add(xl.asarray(1.0), np.float64(2))", "XArray", False, False),
    ("t @ t", "XTensor", True, False),
    ("t @ (t + 1)", "XTensor", True, False),
    ("f @ f[0]", "XTensor", True, False),
    ("f @ f", "XTensorFixed[float64, (2, 2)]", True, True),
    ("xl.einsum('ij,kj->ik', f, t)", "XTensor", True, False),
    ("xl.vecdot(f, f)", "XTensorFixed[float64, (2,)]", True, True),
    ("xl.tensordot(t, t)", "XTensor", True, False),
    ("xl.eval(t['i,j'] * t['j,k'] + f['i,k'], 'i,k')", "XTensor", True, False),
    ("t @ a", "XArray", False, False),
    ("n @ t", "XArray", False, False),
    ("xl.sort(f)", "XTensor", True, False),
    ("xl.linalg.inv(t)", "XTensor", True, False),
    ("xl.cumsum(t, axis=0)", "XTensor", True, False),
    ("xl.searchsorted(t[0], a[0])", "XArray", False, False),
    ("xl.median(f, axis=0)", "XTensor", True, False),
    ("t[t > 1]", "XTensor", True, False),
    ("xl.filter(t, A > 1).copy()", "XTensor", True, False),
    ("t[:1].copy()", "XTensor", True, False),
    ("xl.zeros_like(f)", "XTensorFixed[float64, (2, 2)]", True, True),
    ("xl.zeros_like(f, shape=(3,))", "XTensor", True, False),
    ("xl.accumulate(lambda x, y: x + y, t, 0)", "XTensor", True, False),
    ("xl.asarray(f, dtype='int8')", "XTensorFixed[int8, (2, 2)]", True, True),
]


@together(("text", "kind", "rank", "shape"), PROMOTION)
def test_promotion_of_shapes(text: str, kind: str, rank: bool, shape: bool) -> None:
    names = {**operands(), "xl": xl, "np": np, "A": A}
    e = eval(text, names)
    values = eval(text, {**names, **dict.fromkeys("atf", xl.XArray(A))})
    for _ in range(2):  # the first evaluation and what it has taught
        result = xl.eval(e)
        assert (type(result).__name__, result.rank) == (kind, e.rank)
        np.testing.assert_array_equal(result, xl.eval(values))
    if isinstance(e, xl.XExpression):
        assert (e.has_fixed_rank, e.has_fixed_shape) == (rank, shape)


def test_tiled_tensors_promote_too() -> None:
    t = xl.XTensor(A, layout="{1,0:T(2,2)}")
    assert type(xl.eval(t + t)) is xl.XTensor
    assert type(xl.eval(t[:1] + t[1:])) is xl.XTensor


def test_jitted_functions_return_what_eval_does() -> None:
    step = xl.jit(lambda u: u + 1)
    for value in operands().values():
        if isinstance(value, xl.XArray):
            assert [type(step(value)) for _ in range(3)] == [type(xl.eval(value + 1))] * 3


def test_results_keep_their_rank_and_shape() -> None:
    names = operands()
    for name in "tf":
        result = xl.eval(names[name] + 1)
        with pytest.raises(xl.ShapeError):
            result.assign(xl.ones(3))
        assert type(pickle.loads(pickle.dumps(result))) is type(result)
        assert type(result.copy()) is type(result)


def test_containers_from_a_shape() -> None:
    t = xl.XTensor[xl.float64, 3](shape=(2, 3, 4))
    assert (t.shape, t.strides, t.dtype) == ((2, 3, 4), (12, 4, 1), xl.float64)
    assert xl.XArray(shape=3, dtype="int8", layout="column_major").nbytes == 3
    assert xl.XTensorFixed[xl.int16, (2, 2)]().shape == (2, 2)
    for make in (
        lambda: xl.XTensor[xl.float64, 3](shape=(2, 3)),
        lambda: xl.XTensorFixed[xl.int16, (2, 2)](shape=(2, 3)),
        lambda: xl.XArray(shape=(-1,)),
    ):
        with pytest.raises(xl.ShapeError):
            make()
    for wrong in ({}, {"values": [1], "shape": (1,)}):
        with pytest.raises(TypeError, match="either values or shape="):
            xl.XArray(**wrong)  # type: ignore[arg-type]


def test_a_layout_may_be_part_of_the_type() -> None:
    column = xl.XTensor[xl.float64, 2, "column_major"]
    assert column.__name__ == "XTensor[float64, 2, column_major]"
    assert column is xl.XTensor[float, 2, xl.column_major]
    t = column([[1, 2, 3], [4, 5, 6]])
    assert t.strides == (1, 2)
    assert type(pickle.loads(pickle.dumps(t))) is column
    assert xl.XTensorFixed[xl.int8, (2, 3), "column_major"]().strides == (1, 2)
    with pytest.raises(xl.LayoutError, match="the type's layout is column_major"):
        column([[1]], layout="row_major")
    with pytest.raises(xl.LayoutError, match="the type's layout is column_major"):
        column([[1]], strides=(1, 1))
    with pytest.raises(xl.LayoutError, match="unknown"):
        xl.XTensor[xl.float64, 2, "diagonal"]


def test_the_default_layout_is_a_setting() -> None:
    with xl.config(default_layout="column_major"):
        assert xl.zeros((2, 3)).strides == (1, 2)
        assert xl.XArray(A).layout is xl.column_major
        assert xl.XArray(A, layout="row_major").strides == (2, 1)
        assert xl.asarray(np.zeros((2, 3)), layout="dynamic").strides == (3, 1)
        assert xl.eval(xl.XArray(A) * 2).tolist() == (A * 2).tolist()
        for made in [
            xl.eye(2, 3),
            xl.linspace([0, 1], [1, 2], 3, axis=1),
            xl.fromfunction(lambda i, j: i + j, (2, 3)),
        ]:
            assert made.layout is xl.column_major
            assert made.strides == (1, 2)
    assert xl.zeros((2, 3)).strides == xl.eye(2, 3).strides == (3, 1)
    with pytest.raises(ValueError, match="default_layout must be one of"):
        xl.config(default_layout="dynamic")


@pytest.mark.parametrize("order", ["row_major", "column_major", "{1,0}"])
def test_a_layout_that_was_asked_for_stays(order: str) -> None:
    made = [xl.XArray(A, layout=order), xl.zeros((2, 2), layout=order)]
    made += [made[0].copy(), pickle.loads(pickle.dumps(made[0])), xl.XArray(A).to_layout(order)]
    for a in made:
        before = a.tolist(), a.strides
        with pytest.raises(xl.LayoutError, match=r"transpose_.*keeps it"):
            a.transpose_()
        assert (a.tolist(), a.strides) == before
        assert a.transpose_((0, 1)) is a  # nothing changes
    one = xl.XArray([[1.0, 2.0]], layout="row_major").transpose_()
    assert one.shape == (2, 1)  # and still row-major


def test_a_default_layout_gives_way() -> None:
    a = xl.XArray(A).transpose_()
    assert (a.strides, a.static_layout) == ((1, 2), xl.dynamic)


@pytest.mark.usefixtures("compiled")
def test_machine_code_knows_what_is_fixed() -> None:
    natives.install()
    try:
        t, f = xl.XTensor(A), xl.XTensorFixed[xl.float64, (2, 2)](A)
        step = xl.jit(lambda u: u * 2)
        own, pinned = type("Own", (xl.XTensor,), {}), xl.XTensor[xl.float64, 2]
        g = xl.XTensorFixed[xl.float64, (1, 2)](A[:1])
        for _ in range(5):
            for cls in (own, pinned, xl.XTensor[xl.float64, 2, "row_major"]):
                copy = cls(A).copy()
                assert (type(copy), copy.tolist()) == (cls, A.tolist())
            assert type(xl.eval(g + g)) is type(g)
            assert type(xl.eval(t + t)) is type(t.copy()) is type(step(t)) is xl.XTensor
            assert type(xl.eval(f + f)) is type(f.copy()) is type(step(f)) is type(f)
            assert type(xl.eval(t[0] + t[1])) is xl.XTensor
            assert type(t @ t) is xl.XTensor
            t[:1] = t[1:]
            assert (t[0] == t[1]).all()
            assert type(f @ f) is type(f)
            assert type(f[:1].copy()) is xl.XTensor
            assert type(f @ f[:, :1].copy()) is xl.XTensor
            assert float(xl.sum(f)) == 10.0
            kept = xl.XArray(A, layout="row_major").copy()
            with pytest.raises(xl.LayoutError, match="keeps it"):
                kept.transpose_()
    finally:
        natives.remove()
