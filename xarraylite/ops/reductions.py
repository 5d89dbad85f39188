"""The table of reductions: which elementwise operation folds, and what an empty fold gives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._records import record
from .op import Op
from .table import OPS
from .user import UserOp


@record(frozen=True, slots=True, eq=False)
class Reduction:
    """One way to fold many elements into one.

    Attributes
    ----------
    name : str
        Array API name.
    combine : Op
        Associative operation that joins two partial results.
    identity : object
        Value of an empty fold, or None where an empty fold is an error.
    numpy : callable
        NumPy's reduction, the reference.
    hlo : str
        Opcode of the HLO computation that it reduces with; "" if there is none.
    ordered : bool
        Whether elements are folded from the first to the last: ``combine`` is a user's function
        that may not be commutative.
    known : str
        What a user's ``combine`` does, where `codegen.emit.lanes` has instructions for that.
    divided : bool
        Whether few results are folded in parts, side by side.
    """

    name: str
    combine: Op
    identity: object
    numpy: Callable[..., Any]
    hlo: str
    ordered: bool = False
    known: str = ""
    divided: bool = True

    @property
    def vector(self) -> str:
        """Name of what folds vectors of neighbours onto each other; whatever users call theirs."""
        return self.known if isinstance(self.combine, UserOp) else self.combine.name

    @property
    def ends(self) -> bool:
        """Whether a value decides the result whatever follows, so that a fold may end there."""
        return self.name in ("any", "all")


SUM = Reduction("sum", OPS["add"], 0, np.add.reduce, "add")
PROD = Reduction("prod", OPS["multiply"], 1, np.multiply.reduce, "multiply")
MIN = Reduction("min", OPS["minimum"], None, np.minimum.reduce, "minimum")
MAX = Reduction("max", OPS["maximum"], None, np.maximum.reduce, "maximum")
ANY = Reduction("any", OPS["logical_or"], False, np.logical_or.reduce, "or")
ALL = Reduction("all", OPS["logical_and"], True, np.logical_and.reduce, "and")

#: Extremes of floats that are not NaN, and NaN where there are none.
KNOWN_MIN = Reduction("nanmin", OPS["fmin"], None, np.fmin.reduce, "")
KNOWN_MAX = Reduction("nanmax", OPS["fmax"], None, np.fmax.reduce, "")

_ALL = (SUM, PROD, MIN, MAX, ANY, ALL, KNOWN_MIN, KNOWN_MAX)
REDUCTIONS: dict[str, Reduction] = {op.name: op for op in _ALL}


@functools.lru_cache(64)
def undivided(op: Reduction) -> Reduction:
    """Return the same in one part, however few results there are: of what is a part itself."""
    return replace(op, divided=False)
