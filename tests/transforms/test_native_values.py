"""Operators of values of float64 in machine code: they are those in Python, only faster."""

from __future__ import annotations

import operator
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from tests.transforms.test_natives import both
from xarraylite.runtime import natives as loading

pytestmark = [
    pytest.mark.usefixtures("compiled", "installed"),
    pytest.mark.skipif(not loading.can_load(), reason="another interpreter"),
]


def test_operators_of_values_are_the_same() -> None:
    numbers = (2.5, -0.0, 0.0, float("inf"), float("nan"), 1e308)
    strangers = (3, True, 1 << 70, np.float64(1.5), np.float32(1.5), 1 + 2j, None, "text")
    a = xl.asarray(numbers)
    names = ("add", "sub", "mul", "truediv", "lt", "le", "gt", "ge", "eq", "ne", "floordiv", "pow")
    operands = (*numbers, *[a[j] for j in range(len(numbers))], *strangers)
    for compute in [getattr(operator, name) for name in names]:
        pairs = [(a[k], other) for k in range(len(numbers)) for other in operands]
        pairs += [(other, one) for one, other in pairs]
        with np.errstate(all="ignore"):
            fast, slow = both(lambda: [_shown(compute, *pair) for pair in pairs])  # noqa: B023
        assert fast == slow, compute


def _shown(compute: Any, *operands: Any) -> str:
    """Return a result's class and text, by which a NaN is the same as another, or the error's."""
    try:
        value = compute(*operands)
    except Exception as error:
        value = error
    return f"{operands} {type(value)} {value!r}"


def test_a_program_of_elements_alone_gets_machine_code() -> None:
    source = (
        "import xarraylite as xl; from xarraylite.assignment.direct import OFTEN\n"
        "a = xl.asarray([1.0, 2.0]); before = type(a).__getitem__\n"
        "for _ in range(OFTEN + 1): a[0]\n"
        "print(type(a).__getitem__ is not before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "True"
