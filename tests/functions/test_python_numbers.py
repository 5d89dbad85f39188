"""Python numbers beside arrays: NumPy's dtypes, and its answers to integers beyond 64 bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.properties import oracle
from xarraylite.testing import assert_same_bits
from xarraylite.transforms import natives

NAMES = "add sub mul truediv floordiv mod pow and_ or_ xor lshift rshift eq ne lt le gt ge"
OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    name: getattr(operator, name) for name in NAMES.split(" ")
}
FUNCTIONS = {name: name for name in ("pow", "floor_divide", "add", "maximum", "atan2", "copysign")}
NUMBERS: list[Any] = [
    True, False, 0, 1, 2, 3, -1, -2, 127, 128, 300, 2**31, 2**40, -(2**63),
    0.0, -0.5, 1.0, 2.0, 3.0, 1e39, float("inf"), float("nan"), 1j, 2 + 0j,
]  # fmt: skip
DTYPES = "?bBhHiIlLefdFD"


def outcome(function: Callable[[], Any]) -> Any:
    """The dtype of a result, or None if it is refused."""
    try:
        with np.errstate(all="ignore"):
            return function().dtype
    except (TypeError, ValueError, OverflowError):
        return None


def differences(ours: Callable[..., Any], theirs: Callable[..., Any], code: str) -> list[Any]:
    array = np.ones(2, code)
    container = xl.asarray(array)
    found = []
    for number in NUMBERS:
        for left in (True, False):
            pair = (container, number) if left else (number, container)
            plain = (array, number) if left else (number, array)
            got = outcome(lambda p=pair: ours(*p))
            wanted = outcome(lambda p=plain: np.asarray(theirs(*p)))
            if got != wanted:
                found.append((plain, got, wanted))
    return found


@together("code", DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.filterwarnings("ignore")
def test_dtypes_of_operators(name: str, code: str) -> None:
    assert not differences(OPERATORS[name], OPERATORS[name], code)


@together("code", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_dtypes_of_functions(name: str, code: str) -> None:
    assert not differences(getattr(xl, name), getattr(np, name), code)


def test_the_square_of_bools() -> None:
    """NumPy's operator looks at the exponent, its function does not."""
    array = np.array([True, False])
    assert_same_bits(xl.asarray(array) ** 2, array**2)
    assert_same_bits((xl.asarray(array) | False) ** 2, array**2)
    for _ in range(2):  # neither is remembered as the other
        natives.install()
        assert_same_bits(xl.pow(xl.asarray(array), 2), np.power(array, 2))
        assert_same_bits(xl.asarray(array) ** 2, array**2)
    assert (xl.asarray(array) ** 2).dtype == np.int8
    rows = xl.XJagged([[True], [False, True]])
    assert (rows**2).dtype == np.int8


HUGE = [2**64, -(2**64), 2**63 + 1, 10**30, 2**1000]


@together("number", HUGE)
@pytest.mark.parametrize("code", ["f2", "f4", "f8", "c8", "c16", "?"])
def test_integers_beyond_64_bits(code: str, number: int) -> None:
    array = np.ones(3, code)
    container = xl.asarray(array)
    with np.errstate(all="ignore"):
        if code != "?":
            assert_same_bits(container * number, array * number)
        array[0] = container[0] = number
        assert_same_bits(container, array)
        array[:] = number
        container[:] = [number] * 3
        assert_same_bits(container, array)
        assert_same_bits(xl.full(3, number, dtype=code), array)
        assert_same_bits(xl.asarray([number, 1], dtype=code), np.array([number, 1], code))
        assert_same_bits(xl.asarray(number, dtype=code), np.array(number, code))
        container.assign(number)
        assert_same_bits(container, array[0])


def test_integers_beyond_64_bits_are_rounded_once_to_narrow_floats() -> None:
    """2**62 is half a unit of bfloat16 here; one more decides, far below float64's last bit."""
    ones = xl.ones(1, dtype="bfloat16")
    tie = 2**70 + 2**62
    for number, expected in ((tie, 2**70), (tie + 1, 2**70 + 2**63), (-tie - 1, -(2**70 + 2**63))):
        for result in (ones * number, xl.asarray([number], dtype="bfloat16")):
            assert float(xl.eval(result)[0]) == expected
    assert_same_bits(ones * 2**130, oracle.convert(np.array([np.inf]), ml_dtypes.bfloat16))


def test_integers_without_a_dtype_are_refused() -> None:
    for refused, error in (
        (lambda: xl.full(2, 2**64), OverflowError),
        (lambda: xl.asarray([2**64]), xl.DTypeError),
        (lambda: xl.asarray([2**64, 1j], dtype=float), xl.DTypeError),
        (lambda: xl.zeros(2, dtype="i4").fill(2**64), OverflowError),
        (lambda: xl.zeros(2, dtype="i4").fill(10**6000), OverflowError),  # too long to be shown
        (lambda: xl.zeros(2).fill(10**400), OverflowError),
        (lambda: xl.zeros(2) * 10**400, OverflowError),
    ):
        with pytest.raises(error):
            refused()


@pytest.mark.parametrize("call", ["sum(3)", "max(2.5)", "reshape(3, ())", "nan_to_num(3)"])
def test_what_is_made_of_a_number_is_no_number_of_python_any_more(call: str) -> None:
    for dtype in ("int8", "int32", "float32"):
        a = np.arange(3, dtype=dtype)
        expected, got = eval(f"np.{call}") + a, eval(f"xl.{call}") + xl.asarray(a)
        assert got.dtype == expected.dtype


@pytest.mark.parametrize("number", [3, 2.5, True, 300])
def test_the_dtype_of_a_number_that_is_clipped_counts(number: Any) -> None:
    low, high = np.array([1, 2], "i1"), np.array([5, 2], "f4")
    for bounds in ((low, high), (high, None), (None, low), (low, 5), (0, low)):
        for _ in range(3):
            ours = xl.clip(
                number, *[xl.asarray(x) if isinstance(x, np.ndarray) else x for x in bounds]
            )
            assert_same_bits(np.asarray(ours), np.clip(number, *bounds))
