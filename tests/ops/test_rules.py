"""Dtype rules against NumPy: every operation, every pair of dtypes, every Python scalar."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from tests.cases import together
from xarraylite._errors import DTypeError
from xarraylite.dtypes import names
from xarraylite.ops import rules
from xarraylite.ops.op import Arg, Op
from xarraylite.ops.table import OPS

pytestmark = pytest.mark.once

DTYPES = [np.dtype(code) for code in "?bBhHiIlLefdFD"]
ML_DTYPES = [dtype for dtype in names.SUPPORTED if dtype not in DTYPES]
SCALARS: dict[type, object] = {bool: True, int: 1, float: 1.0, complex: 1.0 + 0j}

BY_ARITY = {n: [op for op in OPS.values() if op.arity == n] for n in (1, 2, 3)}
OURS_ONLY = {"fdim", "cast", "with_imag"}


def value(arg: Arg) -> Any:
    return np.ones(2, arg) if isinstance(arg, np.dtype) else SCALARS[arg]


def numpy_dtype(op: Op, args: tuple[Arg, ...]) -> np.dtype[Any] | None:
    """Dtype of NumPy's function of the same name, None if it refuses."""
    try:
        with np.errstate(all="ignore"):
            return np.asarray(getattr(np, op.name)(*map(value, args))).dtype
    except TypeError:
        return None


def our_dtype(op: Op, args: tuple[Arg, ...]) -> np.dtype[Any] | None:
    try:
        loops, result = op.rule(op.name, args)
    except DTypeError:
        return None
    assert len(loops) == op.arity
    return result


def same(a: np.dtype[Any] | None, b: np.dtype[Any] | None) -> bool:
    return a is b if a is None or b is None else a == b


def check(op: Op, combinations: Any) -> None:
    wrong = [
        (args, our_dtype(op, args), numpy_dtype(op, args))
        for args in combinations
        if not same(our_dtype(op, args), numpy_dtype(op, args))
    ]
    assert not wrong


def numpy_ops(arity: int) -> list[Any]:
    return [op for op in BY_ARITY[arity] if op.name not in OURS_ONLY]


@together("op", numpy_ops(1))
def test_unary(op: Op) -> None:
    check(op, [(dtype,) for dtype in DTYPES])


@together("op", numpy_ops(2))
def test_binary(op: Op) -> None:
    check(op, itertools.product(DTYPES, DTYPES))


@together("op", numpy_ops(2))
def test_binary_with_python_scalars(op: Op) -> None:
    pairs = list(itertools.product(DTYPES, SCALARS))
    check(op, [*pairs, *[(weak, dtype) for dtype, weak in pairs]])


@together("op", numpy_ops(3))
def test_ternary(op: Op) -> None:
    some = [np.dtype(code) for code in "?bHiLefF"]
    check(op, itertools.product([np.dtype(bool), *some[1:4]], some, some))
    check(op, itertools.product([np.dtype(bool)], some, SCALARS))
    check(op, itertools.product([np.dtype(bool)], SCALARS, some))


@together("op", OPS.values())
def test_loops_of_loops(op: Op) -> None:
    """Arguments that already have the loop dtypes stay, and NumPy gives the promised dtype."""
    for args in itertools.product(DTYPES, repeat=min(op.arity, 2)):
        full = (*args, args[-1]) if op.arity == 3 else args
        if our_dtype(op, full) is None:
            continue
        loops, result = op.rule(op.name, full)
        again, same_result = op.rule(op.name, loops)
        assert again == loops
        assert same_result == result
        with np.errstate(all="ignore"):
            computed = op.numpy(*[np.ones(2, loop) for loop in loops])
        assert computed.dtype == result


@together("dtype", ML_DTYPES, ids=str)
def test_narrow_types_stay(dtype: np.dtype[Any]) -> None:
    for name in ("add", "multiply", "maximum", "square", "negative", "abs", "remainder"):
        op = OPS[name]
        loops, result = op.rule(name, (dtype,) * op.arity)
        assert set(loops) == {dtype}
        assert result == dtype
    assert OPS["less"].rule("less", (dtype, dtype))[1] == np.dtype(bool)
    floats = OPS["sin"].rule("sin", (dtype,))[1]
    assert floats == (dtype if names.is_narrow_float(dtype) else np.dtype("f2"))


def test_mixed_signs_meet_exactly_in_comparisons_only() -> None:
    pair = (np.dtype("i1"), np.dtype("u8"))
    assert OPS["less"].rule("less", pair)[0] == (np.dtype("i8"), np.dtype("u8"))
    assert OPS["less"].rule("less", pair[::-1])[0] == (np.dtype("u8"), np.dtype("i8"))
    assert OPS["add"].rule("add", pair)[0] == (np.dtype("f8"),) * 2


def test_error_names_operation_operands_and_rule() -> None:
    with pytest.raises(DTypeError) as caught:
        OPS["subtract"].rule("subtract", (np.dtype(bool), bool))
    text = str(caught.value)
    assert "subtract(bool, Python bool)" in text
    assert "signed integers, unsigned integers, real floats, complex floats" in text
    with pytest.raises(DTypeError, match=r"bitwise_and\(float32, Python int\).*common dtype"):
        OPS["bitwise_and"].rule("bitwise_and", (np.dtype("f4"), int))


COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
INTS = [-(2**70), -(2**63) - 1, -(2**63), -129, -1, 0, 127, 300, 2**40, 2**63, 2**64 - 1, 2**64]


@together("name", COMPARISONS)
@pytest.mark.parametrize("dtype", [np.dtype(code) for code in "bBhHiIlL"], ids=str)
def test_comparison_with_ints_of_any_size(name: str, dtype: np.dtype[Any]) -> None:
    op = OPS[name]
    info = np.iinfo(dtype)
    x = np.array([info.min, 0, 1, info.max], dtype)
    for number, first in itertools.product(INTS, (False, True)):
        position = 0 if first else 1
        args: tuple[Arg, ...] = (int, dtype) if first else (dtype, int)
        loops, _ = op.rule(name, args)
        loops, values = rules.compare_scalars(name, loops, {position: number})
        scalar = np.asarray(values[position]).astype(loops[position])
        array = x.astype(loops[1 - position])
        ours = op.numpy(scalar, array) if first else op.numpy(array, scalar)
        expected = op.numpy(number, x) if first else op.numpy(x, number)
        assert ours.tolist() == expected.tolist(), (number, loops)


def test_comparison_scalars_that_fit_change_nothing() -> None:
    loops = (np.dtype("i1"), np.dtype("i1"))
    assert rules.compare_scalars("less", loops, {1: 5}) == (loops, {1: 5})
    floats = (np.dtype("f4"), np.dtype("f4"))
    assert rules.compare_scalars("less", floats, {1: 10**30}) == (floats, {1: 10**30})
    assert rules.compare_scalars("less", loops, {1: True}) == (loops, {1: True})


def test_negative_integer_powers_are_refused() -> None:
    op = OPS["pow"]
    assert op.scalars is not None
    ints = (np.dtype("i4"), np.dtype("i4"))
    with pytest.raises(ValueError, match=r"pow\(int32, -2\).*negative integer powers"):
        op.scalars("pow", ints, {1: -2})
    for loops, values in [
        (ints, {1: 2}),
        (ints, {0: -2}),
        ((np.dtype("f4"), np.dtype("f4")), {1: -2}),
    ]:
        assert op.scalars("pow", loops, values) == (loops, values)
