"""What stands where an array, a number or a flag should: refused by name, when it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from xarraylite._errors import XarrayliteError
from xarraylite.ops.table import OPS

#: What NumPy has and this package does not compute with.
ARRAYS: dict[str, Any] = {
    "objects": np.array([None, 1], dtype=object),
    "text": np.array(["a", "b"]),
    "bytes": np.array([b"a", b"b"]),
    "dates": np.array(["2020", "2021"], "M8[D]"),
    "spans": np.array([1, 2], "m8[s]"),
    "structures": np.array([(1, 2), (3, 4)], "i4,f4"),
    "void": np.zeros(2, "V3"),
    "masked": np.ma.array([1, 2], mask=[0, 1]),
    "long double": np.zeros(2, "g"),
}

#: What becomes NumPy's array of it, as no numbers are asked for, or is cast where they are.
OBJECTS = [(x, f) for x in ("a string", "objects") for f in ("full", "asarray", "where")]
OBJECTS += [(x, "assignment") for x in ("objects", "dates", "spans", "long double")]
OBJECTS += [(x, "array_equal") for x in ("a string", "None", "a dict")] + [("None", "full")]
OBJECTS += [(x, "array_equal") for x in ("a function", "long double")]
THINGS: dict[str, Any] = {"a string": "ab", "None": None, "a dict": {}, "a function": len}

#: What is refused though NumPy makes something of it: masks would be lost.
REFUSED = ["asarray", "assignment", "update", "astype", "einsum", "full", "where"]
TAKEN = ["asarray", "full", "where"]

A, B = xl.asarray([1.0, 2.0]), xl.asarray([[1, 2], [3, 4]])

NAMES = "sum prod mean var std min max any all count_nonzero argmin argmax"
REDUCERS = NAMES.split(" ")
FUNCTIONS: dict[str, Callable[[Any, Any, Any], Any]] = {
    **{
        name: lambda xp, a, x, name=name: getattr(xl, name)(*[x] * OPS[name].arity)
        for name in sorted(OPS.keys() - {"cast", "with_imag"})
    },
    **{name: lambda xp, a, x, name=name: getattr(xl, name)(x) for name in REDUCERS},
    **{
        f"{name} beside an array": lambda xp, a, x, name=name: getattr(xl, name)(a, x)
        for name in ("add", "less", "logical_and", "atan2")
    },
    "zeros_like": lambda xp, a, x: xp.zeros_like(x),
    "full_like": lambda xp, a, x: xp.full_like(x, 1),
    "reshape": lambda xp, a, x: xp.reshape(x, (2, 1)),
    "broadcast_to": lambda xp, a, x: xp.broadcast_to(x, (3, 2)),
    "permute_dims": lambda xp, a, x: xp.permute_dims(x, (0,)),
    "flip": lambda xp, a, x: xp.flip(x),
    "expand_dims": lambda xp, a, x: xp.expand_dims(x, axis=0),
    "concat": lambda xp, a, x: xp.concat([a, x]),
    "stack": lambda xp, a, x: xp.stack([a, x]),
    "matmul": lambda xp, a, x: xp.matmul(a, x),
    "tensordot": lambda xp, a, x: xp.tensordot(x, a, axes=1),
    "einsum": lambda xp, a, x: xp.einsum("i,i->", x, a),
    "astype": lambda xp, a, x: xp.astype(x, "f4"),
    "asarray": lambda xp, a, x: xp.asarray(x),
    "full": lambda xp, a, x: xp.full(2, x),
    "where": lambda xp, a, x: xp.where(True, a, x),
    "clip": lambda xp, a, x: xp.clip(x, 0, 1),
    "a bound of clip": lambda xp, a, x: xp.clip(a, x, 2),
    "assignment": lambda xp, a, x: xp.zeros(2).__setitem__(..., x),
    "update": lambda xp, a, x: xp.zeros(2).__iadd__(x),
    "array_equal": lambda xp, a, x: xp.array_equal(a, x),
    "allclose": lambda xp, a, x: xp.allclose(a, x),
    "initial": lambda xp, a, x: xp.sum(a, initial=x),
}


@pytest.mark.once
@pytest.mark.filterwarnings("ignore:The 'generic' unit:DeprecationWarning")
@together("name", FUNCTIONS)
def test_what_is_no_array_of_numbers(name: str) -> None:
    for thing in [*ARRAYS, *THINGS]:
        _is_refused_or_numpys(name, thing)


def _is_refused_or_numpys(name: str, thing: str) -> None:
    if name == "assignment" and thing in ("text", "bytes", "a string"):
        with pytest.raises(ValueError, match="assignment to XArray float64"):
            FUNCTIONS[name](xl, A, (ARRAYS | THINGS)[thing])  # numbers written out are taken
        return
    if thing == "None" and name in ("a bound of clip", "initial", "assignment"):
        return  # it means "no bound", "none"
    value = {**ARRAYS, **THINGS}[thing]
    try:
        with np.errstate(all="ignore"):
            theirs = FUNCTIONS[name](np, np.array([1.0, 2.0]), value)
    except Exception:  # by whatever class
        theirs = None
    if (
        theirs is None
        or thing in (*THINGS, "long double")
        or (name in REFUSED and not (thing in OTHERS and name in TAKEN))
    ):
        if (thing, name) not in OBJECTS and (name, thing) != ("where", "objects"):
            with pytest.raises((XarrayliteError, ValueError)) as found:
                FUNCTIONS[name](xl, A, value)
            assert len(str(found.value)) > 10
        return
    ours = FUNCTIONS[name](xl, A, value)
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))
    assert isinstance(ours, np.ma.MaskedArray) == isinstance(theirs, np.ma.MaskedArray)


#: Elements that are no numbers, and functions that NumPy has for some of them.
OTHERS = ["text", "bytes", "dates", "spans", "structures", "void"]
ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "asarray": lambda xp, x: xp.asarray(x),
    "full": lambda xp, x: xp.full(2, x),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (3, 2)),
    "permute_dims": lambda xp, x: xp.permute_dims(x, (0,)),
    "flip": lambda xp, x: xp.flip(x),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=0),
    "concat of these": lambda xp, x: xp.concat([x, x]),
    "reshape": lambda xp, x: xp.reshape(x, (2, 1)),
    "unique": lambda xp, x: xp.unique(x),
    "array_equal": lambda xp, x: xp.array_equal(x, x[::-1]),
    "split": lambda xp, x: xp.split(x, 2)[1],
    "meshgrid": lambda xp, x: xp.meshgrid(x, x)[0],
    "atleast_2d": lambda xp, x: xp.atleast_2d(x),
    "select": lambda xp, x: xp.select([[True, False]], [x], x[1:]),
    "size": lambda xp, x: [xp.size(x), xp.ndim(x), *xp.shape(x)],
    "array_str": lambda xp, x: xp.array_str(x),
    "take": lambda xp, x: xp.take(x, [1, 0]),
    "copy": lambda xp, x: xp.copy(x),
    "count_nonzero": lambda xp, x: xp.count_nonzero(x),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "a list of extents": lambda xp, x: xp.zeros([2], x.dtype),
    "stack of these": lambda xp, x: xp.stack([xp.asarray([1, 2]), x]),
    "stack": lambda xp, x: xp.stack([x, x[::-1]]),
    "concat": lambda xp, x: xp.concat([xp.asarray([1, 2]), x]),
    "full_like": lambda xp, x: xp.full_like(x, x[0]),
    "clip": lambda xp, x: xp.clip(x, x[0], x[0]),
    **{
        name: lambda xp, x, name=name: getattr(xp, name)(x)
        for name in ("diff", "ptp", "nanmax", "abs", *REDUCERS[:3], "min", "max", *REDUCERS[-2:])
    },
    **{
        name: lambda xp, x, name=name: getattr(xp, name)(x, x[:1])
        for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
    },
    **{
        name: lambda xp, x, name=name: getattr(xp, name)(x, x[1:])
        for name in ("maximum", "minimum", "add", "subtract")
    },
}


@pytest.mark.once
@together("name", ASKED)
@pytest.mark.parametrize("thing", OTHERS)
def test_what_is_asked_of_others_is_asked_of_numpy(name: str, thing: str) -> None:
    value = ARRAYS[thing]
    try:
        theirs = ASKED[name](np, value)
    except TypeError:
        with pytest.raises(XarrayliteError, match="not supported"):
            ASKED[name](xl, value)
        return
    ours = ASKED[name](xl, value)
    assert not isinstance(ours, xl.XExpression)
    np.testing.assert_array_equal(ours, theirs)


ARGUMENTS: dict[str, tuple[Callable[[], Any], str]] = {
    "out": (lambda: xl.abs(A, (A, A)), "abs: out must be one array, got a tuple of 2"),
    "a complex number": (lambda: xl.fill_diagonal(xl.zeros((2, 2)), 1j), "do not go into float64"),
    "keepdims": (lambda: xl.sum(A, keepdims="yes"), "sum: keepdims must be a bool, got 'yes'"),
    "an array for keepdims": (lambda: xl.max(A, keepdims=A), "max: keepdims must be a bool"),
    "axis": (lambda: xl.sum(A, axis="x"), "sum: axis must be an integer, got 'x'"),
    "an array of rank 0 for axis": (
        lambda: xl.sum(A, axis=np.array("x")),
        "sum: axis must be an integer",
    ),
    "correction": (lambda: xl.var(A, correction="n"), "var: correction must be a real number"),
    "arange": (lambda: xl.arange("3"), "arange: stop must be a real number, got '3'"),
    "start of arange": (lambda: xl.arange([], 3), "arange: start must be a real number"),
    "linspace": (lambda: xl.linspace(None, 1, 3), "linspace: start must be a number, got None"),
    "rtol": (lambda: xl.allclose(A, A, rtol=None), "tolerance must be a real number"),
    "axes": (lambda: xl.permute_dims(B, 1), "permute_dims: axes must be a sequence"),
    "arrays": (lambda: xl.concat(3), "concat: a sequence of arrays is needed, got 3"),
    "strides": (lambda: xl.zeros(2, strides=["a"]), "strides must be integers, got ['a']"),
    "an index": (lambda: A[int], "index <class 'int'> of type type is not supported"),
    "a text array as index": (lambda: A[np.array("x")], "of type ndarray is not supported"),
    "bitcast": (lambda: A.bitcast(len), "is not the spec of one array"),
    "to_padded": (lambda: xl.XJagged([[1]]).to_padded(A), "to_padded: the value must be a scalar"),
    "transpose_": (lambda: xl.zeros(2).transpose_(0), "transpose_: 0 is no permutation of 1 axes"),
    "complex initial": (lambda: xl.max(A, initial=1j), "Python complex 1j does not convert"),
}


@together("name", ARGUMENTS)
def test_other_arguments(name: str) -> None:
    call, message = ARGUMENTS[name]
    with pytest.raises(XarrayliteError) as found:
        call()
    assert message in str(found.value)


def test_what_has_no_value_yet_is_no_mistake() -> None:
    """A function that is traced may not ask its arguments; the message says so."""
    for use in (
        lambda u: A[u],
        lambda u: xl.sum(B, axis=u),
        lambda u: xl.sum(B, keepdims=u),
        xl.arange,
    ):
        with pytest.raises(xl.TracedValueError, match="asks its argument"):
            xl.jit(use)(xl.asarray(1))


def test_what_is_taken_for_a_number_or_a_flag() -> None:
    assert xl.sum(B, keepdims=np.True_).shape == (1, 1)
    assert xl.sum(B, keepdims=1).shape == (1, 1)
    assert xl.sum(B, axis=np.int8(1)).shape == (2,)
    assert xl.sum(B, axis=np.array([0, 1])).shape == ()
    assert xl.arange(np.float32(2)).shape == (2,)
    assert xl.take(A, [0.5, 1.0]).tolist() == np.take([1.0, 2.0], [0.5, 1.0]).tolist()
    assert xl.tri(1.5).tolist() == np.tri(1.5).tolist()
    assert xl.arange(xl.sum(xl.asarray([1, 2]))).shape == (3,)
    assert xl.zeros_like(np.zeros((2, 3), np.float32)).dtype == xl.float32


V = xl.asarray([1.0, 2.0, 3.0])

#: Calls with something else than an integer, which NumPy refuses by the same class.
INTEGERS: dict[str, tuple[type[Exception], str]] = {
    "xp.diagonal(m, 1.0)": (TypeError, "diagonal: offset"),
    "xp.trace(m, 1.0)": (TypeError, "trace: offset"),
    "xp.diag(v, 'a')": (TypeError, "diag: k"),
    "xp.roll(v, None)": (TypeError, "roll|add"),
    "xp.pad(v, 1.0)": (TypeError, "pad"),
    "xp.round(v, 1.5)": (TypeError, "round: decimals"),
    "xp.diff(v, n=None)": (TypeError, "diff: n"),
    "xp.array_split(v, (1, 1.5))": (TypeError, "array_split"),
    "xp.zeros('a')": (TypeError, "zeros: an extent"),
    "xp.reshape(v, (1.0, 3))": (TypeError, "reshape: an extent"),
    "xp.transpose(m, 1.5)": (TypeError, "transpose: axis"),
    "xp.expand_dims(v, {})": (TypeError, "expand_dims: axis"),
    "xp.average(m, weights=2)": (TypeError, "average"),
    "xp.average(m, 1.5, v)": (TypeError, "average: axis"),
    "xp.average(m, ..., v)": (TypeError, "average: axis"),
    "xp.average(v[:0], 0, v[:0])": (ZeroDivisionError, "average"),
    "xp.triu(3.0)": (TypeError, "triu"),
    "xp.bincount(v[:0] * 1j)": (TypeError, "bincount"),
    "xp.fromiter([1, 2], float, 7)": (ValueError, "fromiter: 7 elements"),
}


@together("call", INTEGERS)
def test_what_should_be_an_integer_is_refused_as_numpy_refuses_it(call: str) -> None:
    error, message = INTEGERS[call]
    for _ in range(3):  # a call that is like an earlier one too
        with pytest.raises(error, match=message):
            xl.eval(eval(call, {"xp": xl, "m": B, "v": V}))
    with pytest.raises(error):
        eval(call, {"xp": np, "m": np.asarray(B), "v": np.asarray(V)})


def test_integers_in_arrays_of_rank_0_are_integers() -> None:
    m = xl.asarray([[1, 2, 3], [4, 5, 6]])
    one = xl.asarray(1)
    for _ in range(3):
        assert xl.diagonal(m, one).tolist() == [2, 6]
        assert xl.diag(m, np.array(1)).tolist() == [2, 6]
        assert xl.expand_dims(V, np.array(1)).shape == (3, 1)
        assert xl.moveaxis(m, one, 0).shape == (3, 2)


def test_floats_that_no_integer_dtype_holds_are_true() -> None:
    for beyond in (float("nan"), float("inf"), 1e300):
        for _ in range(3):
            assert xl.logical_and(xl.asarray([0, 2]), beyond).tolist() == [False, True]


def test_missing_values_are_refused_wherever_numpy_would_be_asked() -> None:
    """NumPy would ask them back, and so on."""
    missing = xl.optional(A, xl.asarray([True, False]))
    for call in (lambda: xl.delete(A, missing), lambda: xl.histogram(A, bins=missing)):
        with pytest.raises(TypeError, match="values may be missing"):
            call()


def test_what_types_make_of_bytes_and_ranges() -> None:
    assert xl.int64(range(3)).tolist() == [0, 1, 2]
    for kind in (xl.int4, xl.int8, xl.float32):
        assert kind(b"3") == 3
        with pytest.raises(ValueError, match="b'ab'"):
            kind(b"ab")


def test_a_number_has_no_inverse_matrix() -> None:
    with pytest.raises(np.linalg.LinAlgError, match=r"pinv\(2.5\)"):
        xl.linalg.pinv(2.5)


def test_folds_of_time_differences_keep_their_options() -> None:
    spans, mask = np.array([1, 2, 4], "m8[s]"), np.array([True, True, False])
    out = np.zeros((), "m8[s]")
    for name, options in (
        ("sum", {"where": mask}),
        ("sum", {"initial": np.timedelta64(100, "s")}),
        ("min", {"where": mask, "initial": np.timedelta64(9, "s")}),
        ("max", {"keepdims": True}),
        ("sum", {"where": xl.asarray(mask)}),
    ):
        plain = {key: np.asarray(x) if key == "where" else x for key, x in options.items()}
        assert getattr(xl, name)(spans, **options) == getattr(np, name)(spans, **plain)
    assert xl.sum(spans, out=out) is out
    assert out == np.timedelta64(7, "s")
    twice = np.zeros(3, "m8[s]")
    assert xl.add(spans, spans, out=twice, where=xl.asarray(mask)) is twice
    assert (twice == np.array([2, 4, 0], "m8[s]")).all()
    for refused in (
        lambda: xl.sum(spans, dtype="m8[ms]"),
        lambda: xl.add(spans, spans, where=mask),
        lambda: xl.add(spans, spans, out=xl.zeros(3)),
    ):
        with pytest.raises(xl.DTypeError):
            refused()


def test_complex_numbers_are_true_where_one_part_is_not_zero() -> None:
    for number in (1j, np.complex64(1j), xl.asarray(1j)):
        for key in (..., 0, slice(None), np.array([0]), np.array([True, False])):
            x = xl.asarray([False, False])
            x[key] = number
            assert x[0]


def test_casting_rules_and_operands_are_named() -> None:
    a, b = xl.zeros(3), xl.ones(3)
    with pytest.raises((ValueError, TypeError)):
        xl.copyto(a, b, casting="nonsense")
    assert a.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match=r"can_cast: casting is '\[\]'"):
        xl.can_cast(xl.int8, xl.int16, casting=[])
    with pytest.raises(xl.DTypeError, match="vdot"):
        xl.vdot(object(), a)


@pytest.mark.parametrize("name", ["modf", "frexp", "divmod"])
def test_of_two_results_none_is_written_where_one_does_not_fit(name: str) -> None:
    first, second = xl.asarray([1.0, 2.0, 3.0]), xl.zeros(5)
    operands = [xl.asarray([1.5, 2.5, 3.5])] * (1 + (name == "divmod"))
    for options in ({"out": (first, second)}, {"out": (second, first)}):
        with pytest.raises(ValueError, match=name):
            getattr(xl, name)(*operands, **options)
    with pytest.raises(TypeError, match=f"{name}: out must be an array, got tuple"):
        getattr(xl, name)(*operands, out=(first, (2, 3)))
    assert (first.tolist(), second.tolist()) == ([1.0, 2.0, 3.0], [0.0] * 5)


@pytest.mark.parametrize("order", ["Z", "", "rows"])
def test_orders_and_casts_are_numpys(order: str) -> None:
    for call in (
        lambda: xl.add(A, 1, order=order),
        lambda: xl.sin(A, order=order),
        lambda: xl.clip(A, 1, 2, order=order),
        lambda: xl.einsum("i->", A, order=order),
    ):
        with pytest.raises(ValueError, match="order must be one of"):
            call()
    with pytest.raises(TypeError, match="einsum"):
        xl.einsum("i->", A, dtype="i4", casting="safe")


def test_numbers_of_repeats_are_integers() -> None:
    for repeats in (xl.zeros(0), xl.asarray([1.0, 2.0]), np.float64([1.0, 2.0])):
        with pytest.raises(TypeError, match="repeat: repeats must be integers, got float64"):
            xl.repeat(A[: len(repeats)], repeats)


def test_truth_values_have_no_decimals() -> None:
    for flags in (A > 1, True):
        assert xl.round(flags).dtype == np.float16
        for decimals in (-1, 1):
            with pytest.raises(xl.CastError, match="do not cast to bool"):
                xl.round(flags, decimals)


@together(
    ("call", "names"),
    [
        (lambda a: xl.unstack(a, 0), "axis"),
        (lambda a: xl.cumulative_sum(a, 0), "axis, dtype, out, include_initial"),
        (lambda a: xl.stack([a], 0, None, a), "dtype, casting"),
        (lambda a: xl.linalg.cholesky(a, True), "upper"),
    ],
)
def test_what_is_given_by_keyword_is_named(call: Any, names: str) -> None:
    with pytest.raises(
        TypeError, match=f"positional arguments? but .* given; by keyword: {names}$"
    ):
        call(xl.ones((2, 2)))


def test_a_kind_that_there_is_not_is_a_wrong_value() -> None:
    with pytest.raises(ValueError, match="isdtype: 'whole' is not a kind"):
        xl.isdtype(xl.int8, "whole")
    with pytest.raises(ValueError, match="isdtype: 'whole' is not a kind"):
        xl.__array_namespace_info__().dtypes(kind="whole")
