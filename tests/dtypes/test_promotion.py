"""Promotion: NumPy's dtypes against NumPy, the narrow ones against the written table."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import together
from xarraylite._errors import DTypeError
from xarraylite.dtypes.names import SUPPORTED, as_dtype, is_narrow_float, is_narrow_int, kind
from xarraylite.dtypes.promotion import can_cast, check_scalar, float_for, int_bounds, result_type

NUMPY = [np.dtype(code) for code in "?bhilBHILefdFD"]
NARROW_FLOATS = [dt for dt in SUPPORTED if is_narrow_float(dt) and dt != np.float16]
NARROW_INTS = [dt for dt in SUPPORTED if is_narrow_int(dt)]
WEAK = {bool: False, int: 0, float: 0.0, complex: 0j}
OPERANDS = [*SUPPORTED, *WEAK]

Operand = np.dtype | type


def as_value(operand: Operand) -> object:
    """What stands for an operand in NumPy's functions."""
    return operand if isinstance(operand, np.dtype) else WEAK[operand]


# NumPy's own dtypes --------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 3])
def test_numpy_dtypes_and_python_scalars_are_exactly_numpys(count: int) -> None:
    for operands in itertools.product([*NUMPY, *WEAK], repeat=count):
        expected = np.result_type(*map(as_value, operands))
        found = result_type(*operands)
        assert found == expected, operands
        assert found is as_dtype(expected), operands


FORMS: dict[str, Callable[[np.dtype], object]] = {
    "array": lambda dt: np.zeros(2, dt),
    "0-d": lambda dt: np.zeros((), dt),
    "scalar": lambda dt: dt.type(0),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_operands_form_does_not_matter(form: str) -> None:
    for a, b in itertools.product(NUMPY, NUMPY):
        assert np.result_type(np.zeros(2, a), FORMS[form](b)) == result_type(a, b), (a, b)
    for a, scalar in itertools.product(NUMPY, WEAK):
        expected = np.result_type(FORMS[form](a), WEAK[scalar])
        assert expected == result_type(a, scalar), (a, scalar)


# The table of the narrow types ---------------------------------------------------------------

# Operand, other operand, result.  "F" is every narrow float but float16, "I" every narrow integer,
# "S" the signed ones, "U" the unsigned ones.
TABLE = [
    ("F", "same", "F"),
    ("F", "bool", "F"),
    ("F", "int8", "F"),
    ("F", "uint8", "F"),
    ("F", "I", "F"),
    ("F", "other F", "float32"),
    ("F", "float16", "float32"),
    ("F", "int16", "float32"),
    ("F", "uint16", "float32"),
    ("F", "int32", "float64"),
    ("F", "uint32", "float64"),
    ("F", "int64", "float64"),
    ("F", "uint64", "float64"),
    ("F", "float32", "float32"),
    ("F", "float64", "float64"),
    ("F", "complex64", "complex64"),
    ("F", "complex128", "complex128"),
    ("F", bool, "F"),
    ("F", int, "F"),
    ("F", float, "F"),
    ("F", complex, "complex64"),
    ("I", "same", "I"),
    ("I", "bool", "I"),
    ("I", bool, "I"),
    ("I", int, "I"),
    ("I", float, "float64"),
    ("I", complex, "complex128"),
    ("I", "float16", "float16"),
    ("I", "float32", "float32"),
    ("I", "float64", "float64"),
    ("I", "complex64", "complex64"),
    ("I", "complex128", "complex128"),
    ("S", "int8", "int8"),
    ("S", "int16", "int16"),
    ("S", "int32", "int32"),
    ("S", "int64", "int64"),
    ("S", "uint8", "int16"),
    ("S", "uint16", "int32"),
    ("S", "uint32", "int64"),
    ("S", "uint64", "float64"),
    ("S", "U", "int8"),
    ("U", "uint8", "uint8"),
    ("U", "uint16", "uint16"),
    ("U", "uint32", "uint32"),
    ("U", "uint64", "uint64"),
    ("U", "int8", "int8"),
    ("U", "int16", "int16"),
    ("U", "int32", "int32"),
    ("U", "int64", "int64"),
    ("int2", "int4", "int4"),
    ("uint2", "uint4", "uint4"),
]
if "int1" in map(str, SUPPORTED):
    TABLE += [("int1", wider, wider) for wider in ("int2", "int4")]
    TABLE += [("uint1", wider, wider) for wider in ("uint2", "uint4")]
GROUPS = {
    "F": NARROW_FLOATS,
    "I": NARROW_INTS,
    "S": [dt for dt in NARROW_INTS if kind(dt) == "i"],
    "U": [dt for dt in NARROW_INTS if kind(dt) == "u"],
}


def others(dt: np.dtype, word: str | type) -> list[Operand]:
    """The dtypes a cell of the table stands for in the row of `dt`."""
    if isinstance(word, type):
        return [word]
    if word == "same":
        return [dt]
    if word == "other F":
        return [other for other in NARROW_FLOATS if other != dt]
    return list(GROUPS[word]) if word in GROUPS else [as_dtype(word)]


@together(("row", "column", "result"), TABLE)
def test_table(row: str, column: str | type, result: str) -> None:
    rows = GROUPS[row] if row in GROUPS else [as_dtype(row)]
    checked = 0
    for dt in rows:
        for other in others(dt, column):
            expected = dt if result == row else as_dtype(result)
            assert result_type(dt, other) is expected, (dt, other)
            assert result_type(other, dt) is expected, (other, dt)
            checked += 1
    assert checked >= len(rows)


def test_the_table_has_a_row_for_every_pair() -> None:
    covered: set[frozenset[Operand]] = set()
    for row, column, _ in TABLE:
        for dt in GROUPS[row] if row in GROUPS else [as_dtype(row)]:
            covered |= {frozenset((dt, other)) for other in others(dt, column)}
    pairs = itertools.product([*NARROW_FLOATS, *NARROW_INTS], OPERANDS)
    assert covered == {frozenset(pair) for pair in pairs}


# Where np.result_type answers, symmetrically, and the table says otherwise: class of the narrow
# operand, class of the other, and NumPy's answer.  "F" as answer means one of the two floats.
DELIBERATE = {
    ("F", "float"): {"float64", "float32"},  # a weak scalar must not widen
    ("F", "F"): {"F"},  # neither holds the other's values
    ("I", "int"): {"int8", "uint8"},  # a weak scalar must not widen
    ("I", "float"): {"float16"},  # int8 with a Python float is float64
    ("I", "complex"): {"complex64"},  # int8 with a Python complex is complex128
}


def class_of(operand: Operand) -> str:
    if operand in NARROW_FLOATS:
        return "F"
    if operand in NARROW_INTS:
        return "I"
    return operand.__name__ if isinstance(operand, type) else operand.name


def test_differences_from_numpy_are_the_deliberate_ones() -> None:
    differences: dict[tuple[str, str], set[str]] = {}
    agreements = 0
    for a, b in itertools.product([*NARROW_FLOATS, *NARROW_INTS], OPERANDS):
        try:
            numpys = np.result_type(a, as_value(b))
            swapped = np.result_type(as_value(b), a)
        except TypeError:  # NumPy has no answer
            continue
        if numpys != swapped:  # nor one it can be held to
            continue
        if numpys == result_type(a, b):
            agreements += 1
        else:
            pair = class_of(a), class_of(b)
            differences.setdefault(pair, set()).add(class_of(numpys))
    assert agreements > 200
    assert differences == DELIBERATE


@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_ufuncs_agree_where_numpy_has_dtypes_of_its_own() -> None:
    """np.add resolves what np.result_type refuses, as bfloat16 with int32; so do we."""
    for narrow, other in itertools.product([*NARROW_FLOATS, *NARROW_INTS], NUMPY):
        pairs = [(narrow, other), (other, narrow)]
        found = {np.add(np.ones(1, a), np.ones(1, b)).dtype for a, b in pairs}
        assert found == {result_type(narrow, other)}, (narrow, other)


@given(st.lists(st.sampled_from(OPERANDS), min_size=1, max_size=5), st.randoms())
def test_order_and_repetition_do_not_matter(operands: list[Operand], random: object) -> None:
    shuffled = operands * 2
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert result_type(*operands) is result_type(*shuffled)


@given(st.lists(st.sampled_from(SUPPORTED), min_size=1, max_size=4), st.sampled_from([bool, int]))
def test_weak_ints_change_nothing_but_bool(operands: list[np.dtype], weak: type) -> None:
    strong = result_type(*operands)
    expected = as_dtype(int) if strong == np.bool_ and weak is int else strong
    assert result_type(*operands, weak) is expected


@pytest.mark.parametrize(
    "operands",
    [(), ("float32",), (object,), (np.dtype("O"),), (np.dtype(">f4"), np.dtype("f4")), (None,)],
    ids=str,
)
def test_result_type_refuses_what_is_no_operand(operands: tuple[object, ...]) -> None:
    if operands[:1] == (np.dtype(">f4"),) and np.dtype(">f4").isnative:
        pytest.skip("native on this machine")
    with pytest.raises(DTypeError, match="result_type"):
        result_type(*operands)  # type: ignore[arg-type]


# Casting -------------------------------------------------------------------------------------

CASTINGS = ("no", "equiv", "safe", "same_kind", "unsafe")


@pytest.mark.parametrize("casting", CASTINGS)
def test_can_cast_between_numpy_dtypes_is_numpys(casting: str) -> None:
    for a, b in itertools.product(NUMPY, NUMPY):
        assert can_cast(a, b, casting) == np.can_cast(a, b, casting), (a, b)


@together(
    ("src", "dst", "least"),
    [
        ("bfloat16", "bfloat16", "no"),
        ("bfloat16", "float32", "safe"),
        ("bfloat16", "complex64", "safe"),
        ("bfloat16", "float16", "same_kind"),
        ("float32", "bfloat16", "same_kind"),
        ("float8_e4m3fn", "float8_e5m2", "same_kind"),
        ("float8_e4m3fn", "float32", "safe"),
        ("bfloat16", "int32", "unsafe"),
        ("complex64", "bfloat16", "unsafe"),
        ("int8", "bfloat16", "safe"),
        ("int32", "bfloat16", "same_kind"),
        ("bool", "int4", "safe"),
        ("int4", "int8", "safe"),
        ("uint4", "int8", "safe"),
        ("int8", "int4", "same_kind"),
        ("int4", "uint4", "unsafe"),
        ("int4", "float16", "safe"),
        ("int4", "bool", "unsafe"),
    ],
)
def test_can_cast_with_narrow_types(src: str, dst: str, least: str) -> None:
    """`least` is the strictest rule that allows the cast; looser rules do too."""
    allowed = [can_cast(as_dtype(src), as_dtype(dst), casting) for casting in CASTINGS]
    assert allowed == [i >= CASTINGS.index(least) for i in range(len(CASTINGS))]


def test_can_cast_python_scalars_by_kind() -> None:
    assert can_cast(float, as_dtype("bfloat16"))
    assert can_cast(int, as_dtype("uint8"))
    assert not can_cast(float, as_dtype("int64"), "same_kind")
    assert can_cast(float, as_dtype("int64"), "unsafe")
    assert not can_cast(complex, as_dtype("float64"))


def test_can_cast_refuses_unknown_rules() -> None:
    with pytest.raises(ValueError, match=r"casting is 'sometimes'.*same_kind"):
        can_cast(as_dtype("int8"), as_dtype("int8"), "sometimes")


# Floats for functions, ranges of integers ----------------------------------------------------


@together("dt", SUPPORTED)
def test_float_for_is_what_numpys_functions_return(dt: np.dtype) -> None:
    with np.errstate(all="ignore"):
        assert float_for(dt) == np.sqrt(np.ones(1, dt)).dtype


@together("dt", [dt for dt in SUPPORTED if kind(dt) in "iu"], ids=str)
def test_int_bounds_and_check_scalar(dt: np.dtype) -> None:
    info = ml_dtypes.iinfo(dt) if is_narrow_int(dt) else np.iinfo(dt)
    low, high = int_bounds(dt)
    assert (low, high) == (int(info.min), int(info.max))
    check_scalar(low, dt)
    check_scalar(high, dt)
    for value in (low - 1, high + 1, 10**30):
        with pytest.raises(OverflowError, match=rf"Python integer {value} out of bounds for {dt}"):
            check_scalar(value, dt)


@together("dt", [np.dtype(code) for code in "bhiBHI"], ids=str)
def test_check_scalar_refuses_with_numpys_words(dt: np.dtype) -> None:
    value = int_bounds(dt)[1] + 1
    with pytest.raises(OverflowError) as numpys:
        np.ones(1, dt) + value
    with pytest.raises(OverflowError) as ours:
        check_scalar(value, dt)
    assert str(ours.value) == str(numpys.value)


def test_check_scalar_leaves_other_scalars_alone() -> None:
    for value in (True, 1e300, 1j, np.int64(300), "x"):
        check_scalar(value, as_dtype("int8"))
    check_scalar(10**30, as_dtype("bool"))
    check_scalar(10**300, as_dtype("float16"))
    for dt in ("float64", "bfloat16", "complex64"):
        with pytest.raises(OverflowError, match="too large"):
            check_scalar(10**400, as_dtype(dt))
