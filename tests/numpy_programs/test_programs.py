"""Small NumPy programs run as written: with NumPy and with us, results and types compared."""

from __future__ import annotations

import copy
import datetime as dt
import decimal
import fractions
import functools
import itertools
import math
import operator
import statistics
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.cases import together
from tests.numpy_programs import (
    exercises,
    idioms,
    loops,
    memory,
    methods,
    objects,
    recipes,
    science,
    textbooks,
    texts,
    values,
    writing,
)
from xarraylite.dtypes.names import SUPPORTED
from xarraylite.layout.strided import ByteCount
from xarraylite.transforms import natives

#: Modules that idioms use.
MODULES = (copy, dt, decimal, fractions, functools, itertools, math, operator, statistics)

Program = Callable[[ModuleType], Any]


def close(ours: np.ndarray[Any, Any], theirs: Any, where: str) -> None:
    """Compare values: floats to a few units in the last place, as sums have orders of their own."""
    if theirs.dtype.kind in "fc":
        np.testing.assert_allclose(ours, theirs, 4 * np.finfo(theirs.dtype).eps, 0, err_msg=where)
    else:
        np.testing.assert_array_equal(ours, theirs, where)


def same(ours: Any, theirs: Any, where: str = "result") -> None:
    """Compare results: arrays by shape, dtype and values, others as they are.

    Where NumPy has a value we may have an expression of rank 0 (a reduction, say).
    """
    if isinstance(theirs, np.ndarray | np.generic) and theirs.dtype not in SUPPORTED:
        assert type(ours) is type(theirs), where
        assert ours.dtype == theirs.dtype, where
        np.testing.assert_array_equal(ours, theirs, where)
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, xl.XExpression), where
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), where
        close(np.asarray(ours), theirs, where)
    elif isinstance(theirs, np.generic):
        assert isinstance(ours, xl.XScalar | xl.XExpression), (where, type(ours))
        assert (ours.shape, ours.dtype) == ((), theirs.dtype), where
        close(np.asarray(ours), theirs, where)
    elif isinstance(theirs, list | tuple):
        assert type(ours) is type(theirs), where
        assert len(ours) == len(theirs), where
        for k, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            same(mine, other, f"{where}[{k}]")
    else:
        assert type(ours) is type(theirs) or type(ours) is ByteCount, where
        assert ours == theirs or (ours != ours and theirs != theirs), where


PROGRAMS: list[Program] = [
    *loops.PROGRAMS,
    *values.PROGRAMS,
    *writing.PROGRAMS,
    *methods.PROGRAMS,
    *memory.PROGRAMS,
    *objects.PROGRAMS,
    *texts.PROGRAMS,
    *science.PROGRAMS,
    *recipes.PROGRAMS,
    *textbooks.PROGRAMS,
    *exercises.PROGRAMS,
]


@pytest.fixture(params=["python", "machine code"])
def methods_of_arrays(request: pytest.FixtureRequest) -> Iterator[None]:
    """Operators and indices in Python, and as they are in programs that use them often."""
    if request.param == "machine code":
        natives.install()
    yield
    natives.remove()


@pytest.mark.usefixtures("methods_of_arrays")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_gives_numpys_results(program: Program) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's scalars warn where ours do not
        theirs = program(np)
    same(program(xl), theirs)


def names(xp: ModuleType) -> dict[str, Any]:
    """The names that idioms use."""
    return {
        "a": xp.asarray([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]),
        "v": xp.asarray([1.0, 2.0, 3.0]),
        "i": xp.asarray([0, 2, 1]),
        "xp": xp,
        **{module.__name__: module for module in MODULES},
        "np": np,
    }


@together("line", idioms.READING.strip().splitlines())
def test_an_idiom_gives_numpys_result(line: str) -> None:
    same(eval(line, names(xl)), eval(line, names(np)), line)


@together("line", idioms.WRITING.strip().splitlines())
def test_an_idiom_writes_what_numpy_writes(line: str) -> None:
    ours, theirs = names(xl), names(np)
    exec(line, ours)
    exec(line, theirs)
    for name in ("a", "v", "i"):
        same(ours[name], theirs[name], f"{name} after {line}")


def refusal(line: str, xp: ModuleType) -> Exception | None:
    """Return what a line raises."""
    try:
        eval(line, names(xp))
    except Exception as error:
        return error
    return None


@together("line", idioms.REFUSED.strip().splitlines())
def test_what_numpy_refuses_is_refused_with_an_error_of_its_class(line: str) -> None:
    theirs = refusal(line, np)
    assert theirs is not None
    assert isinstance(refusal(line, xl), type(theirs))
