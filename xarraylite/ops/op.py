"""What one elementwise operation is: a row that every other part of the package reads.

Expressions ask a row for dtypes, the reference engine for a NumPy function, the compiler for the
text of a scalar body, the documentation for words, HLO export for an opcode.  Adding an operation
is adding a row to one of the modules gathered in `ops.table`.

**Bodies** are expression templates in the arguments ``{0}``, ``{1}``, ``{2}``, which have exactly
the loop dtypes.  ``{t}`` is the short name of the first argument's register type (``f64``, ``i8``,
``b1``, ``c64``…), so ``"sin_{t}({0})"`` picks ``sin_f32`` or ``sin_f64``.  Arguments are names,
and the body stands between parentheses: those of a cast to the result dtype, without which it is
not complete, for Numba computes ``int8 + int8`` in int64 and the cast is what makes it wrap.
Functions that a body calls live in ``ops/bodies/``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

import numpy as np

from .._records import record
from ..dtypes.names import DType, float16, is_narrow_float, kind

Arg: TypeAlias = DType | type
"""Type of an operand: a dtype, or one of bool, int, float, complex for a Python scalar."""

Resolved: TypeAlias = tuple[tuple[DType, ...], DType]
"""Dtypes that the arguments are cast to, and the dtype of the result."""

Rule: TypeAlias = Callable[[str, tuple[Arg, ...]], Resolved]
"""Dtype rule: the operation's name (for errors) and its operands' types."""

ScalarRule: TypeAlias = Callable[
    [str, tuple[DType, ...], Mapping[int, object]],
    tuple[tuple[DType, ...], Mapping[int, object]],
]
"""Last word on Python scalars among the operands, by position, now that values are known."""

HOST = ""
"""Body of a kind that is left to NumPy although a more general body exists."""

COSTLY = 10
"""Cost of an element from which on an operation is not done twice without need."""


@record(frozen=True, slots=True, eq=False)
class Op:
    """One elementwise operation.

    Attributes
    ----------
    name : str
        The array API's name where it has one, else NumPy's.
    arity : int
        Number of operands.
    rule : Rule
        Dtypes of the loop and of the result.
    numpy : callable
        Reference: the same operation by NumPy, on arrays that have the loop dtypes.
    bodies : mapping of str to str
        Scalar body per kind (``b i u f c``) of the first loop dtype.  ``n`` stands before ``f``
        for floats of 16 bits or fewer, which run in float32, and ``h`` before both for float16;
        ``iu`` and ``ui`` are for int64 against uint64.  No body, or `HOST`: NumPy runs the
        operation.  `body` looks them up.
    summary : str
        One sentence for the documentation.
    hlo : str, optional
        Opcode of HLO that does the same to the same operands.
    cost : int
        Relative cost of one element: 1 for ``+``, 4 for a division, 10 and more for the
        elementary functions.
    exact : str
        Kinds for which the body has NumPy's bits; others agree within a bound.
    aliases : tuple of str
        Other names of the same function, NumPy's in most cases.
    example : tuple
        Arguments of the documentation's example, as nested lists.
    notes : str
        Paragraph of the documentation on special values.
    near : mapping of str to (str, str)
        By register type, the bodies that tell whether an argument is one of few that are hard, and
        that do the same to all others in less time.
    steep : bool
        Whether that is a quarter of the time.
    scalars : ScalarRule, optional
        Refuses or adapts Python scalars by value.
    reflected : object
        What stands for the operation with its operands exchanged, in the tables of kinds.
    """

    name: str
    arity: int
    rule: Rule
    numpy: Callable[..., Any]
    bodies: Mapping[str, str]
    summary: str
    hlo: str | None = None
    cost: int = 1
    exact: str = "biufc"
    aliases: tuple[str, ...] = ()
    example: tuple[Any, ...] = ()
    notes: str = ""
    near: Mapping[str, tuple[str, str]] = field(default_factory=dict, repr=False)
    steep: bool = field(default=False, repr=False)
    scalars: ScalarRule | None = field(default=None, repr=False)
    reflected: object = field(default_factory=object, repr=False)

    def body(self, loops: tuple[DType, ...]) -> str | None:
        """Return the template for arguments of the dtypes `loops`, or None if NumPy runs it.

        Parameters
        ----------
        loops : tuple of numpy.dtype
            Loop dtypes, as given by the rule.
        """
        for key in _keys(loops):
            if key in self.bodies:
                return self.bodies[key] or None
        return None


def row(
    name: str,
    rule: Rule,
    bodies: Mapping[str, str],
    summary: str,
    *,
    reference: Callable[..., Any] | None = None,
    example: tuple[Any, ...] = (),
    **more: Any,
) -> Op:
    """Return the operation of a row of the table.

    It has as many operands as its example, one without an example, and NumPy's function of its
    name is the reference where the row has no other.
    """
    run = getattr(np, name) if reference is None else reference
    arity = max(len(example), 1)
    return Op(name, arity, rule, run, bodies, summary, example=example, **more)


def _keys(loops: tuple[DType, ...]) -> tuple[str, ...]:
    """Kinds to look for, the most special first."""
    first = kind(loops[0])
    if loops[0] == float16:
        return "h", "n", first
    if is_narrow_float(loops[0]):
        return "n", first
    mixed = "".join(kind(dtype) for dtype in loops[:2])
    return (mixed,) if mixed in ("iu", "ui") else (first,)
