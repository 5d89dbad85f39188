"""Fixed costs of evaluating: ten elements, where writing and launching are all there is.

Expressions stand in the statements that use them.  One that a variable held would be kept with
its old values, which is another case.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

import xarraylite as xl

from . import values
from .statements import Statement

N = 10


class Ten(Statement):
    """Statements of three vectors; products with ``b`` converge when they are repeated."""

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"a": values(N), "b": 0.5 * values(N, seed=1), "c": values(N, seed=2)}


class Evaluate(Ten):
    """Write an expression and evaluate it into a new container."""

    title = "eval(a + b*c), n = 10"
    here, there = "xl.eval(a + b*c)", "a + b*c"
    wanted = 1 / 3


class Assign(Ten):
    """Write an expression and evaluate it into one of its operands."""

    title = "c[...] = a + b*c, n = 10"
    here = "c[...] = a + b*c"
    shown = "c"
    wanted = 1 / 2


class WaitedFor(Ten):
    """Update what a result of the same loop, which still has a name, was written of."""

    title = "g = a + c*b; c -= 0.5*g, n = 10"
    here = "g = a + c*b; d = c; d -= 0.5*g"
    shown = "c"
    wanted = 1 / 3


class WaitedForByATotal(WaitedFor):
    """The same where the result is of rank 0."""

    title = "g = xp.sum(c); c *= 1 + 0*g, n = 10"
    here = "g = xp.sum(c); d = c; d *= 1 + 0*g"


class History(Ten):
    """Join results of a loop that nobody has asked for, as the steps of a simulation are."""

    title = "xp.array([a*0.0, ..., a*99.0]), n = 10"
    here = "xp.array([a * float(k) for k in range(100)])"
    wanted = 1 / 5


class AssignApart(Ten):
    """The same on the caller's word that nothing overlaps, into memory apart."""

    title = "noalias(o)[...] = a + b*c, n = 10"
    here, there = "xl.noalias(o)[...] = a + b*c", "o[...] = a + b*c"
    shown = "o"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return super().operands(xp) | {"o": np.zeros(N)}


class Build(Ten):
    """Write an expression and throw it away; NumPy computes it meanwhile."""

    title = "a + b*c built, not evaluated, n = 10"
    here = "a + b*c"


class Jit(Ten):
    """A traced function: nothing is built on the way."""

    title = "jit(lambda a, b, c: a + b*c)(a, b, c), n = 10"
    here, there = "step(a, b, c)", "a + b*c"
    wanted = 1 / 2

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return super().operands(xp) | {"step": xl.jit(lambda a, b, c: a + b * c)}


class JitSix(Ten):
    """A traced function of six operations: one launch against six."""

    title = "jit of ((a + b*c)*b - a/c) + 1.5, n = 10"
    here, there = "step(a, b, c)", "((a + b*c)*b - a/c) + 1.5"
    wanted = 1.0

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        step = xl.jit(lambda a, b, c: ((a + b * c) * b - a / c) + 1.5)
        return super().operands(xp) | {"step": step}


class Total(Ten):
    """A reducer to a Python float."""

    title = "float(sum(a)), n = 10"
    here = "float(xp.sum(a))"
    wanted = 1.0


class TotalOfProduct(Ten):
    """A reducer of an expression."""

    title = "float(sum(a*b)), n = 10"
    here = "float(xp.sum(a*b))"


class Recurrence(Statement):
    """Every element from the one before: reading, one operation and writing of single elements."""

    title = "y[i+1] = y[i]*c, 100 elements"
    here = "for i in range(99): y[i+1] = y[i]*c"
    shown = "y"
    wanted = 1 / 5

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"y": values(100), "c": 0.999}


class Planes(Statement):
    """Statements of small planes."""

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"a": values(16, 16), "c": values(16, 16, seed=1)}


class Update(Planes):
    """An in-place operation."""

    title = "c += a, 16 x 16"
    here = "global c; c += a"
    shown = "c"
    wanted = 1 / 3


_AROUND = "u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]"


class SmallStencil(Planes):
    """One step of diffusion between two small planes."""

    title = "5-point stencil, 16 x 16, assigned"
    here = f"v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1*({_AROUND} - 4.0*u[1:-1, 1:-1])"
    shown = "v"
    wanted = 1 / 1.5

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"u": values(16, 16), "v": np.zeros((16, 16))}


class SmallStencilInPlace(Planes):
    """One step of diffusion in the plane itself, which needs its old values."""

    title = "5-point stencil, 16 x 16, in place"
    here = SmallStencil.here.replace("v[", "u[")
    shown = "u"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"u": values(16, 16)}


class Shift(Statement):
    """Elements moved by one place, as a queue moves them."""

    title = "y[1:] = y[:-1], 100 elements"
    here = "y[1:] = y[:-1]"
    shown = "y"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"y": values(100)}


class SmallStencilJit(SmallStencil):
    """The same traced."""

    title = "5-point stencil, 16 x 16, under jit"
    here = "v[1:-1, 1:-1] = step(u)"
    there = SmallStencil.here

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return super().operands(xp) | {"step": xl.jit(_diffused)}

    wanted = None


def _diffused(u: Any) -> Any:
    around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return u[1:-1, 1:-1] + 0.1 * (around - 4.0 * u[1:-1, 1:-1])


class SmallProduct(Statement):
    """A matrix product too small for its arithmetic to count."""

    title = "a @ b, 8 x 8"
    here, there = "xl.eval(a @ b)", "a @ b"
    wanted = 1 / 3

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"a": values(8, 8), "b": values(8, 8, seed=1)}


class OfDtype(Statement):
    """Statements of a matrix, a vector of four rows and a mask, of a dtype of their own."""

    dtype = "complex128"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        z = values(4, 4).astype(self.dtype)
        return {"z": z, "w": z[0].copy(), "mask": np.arange(N) % 3 == 0}


class ComplexNumber(OfDtype):
    """A complex number is an operand like any other."""

    title = "eval(z * 1j + w), 4 x 4"
    here, there = "xl.eval(z * 1j + w)", "z * 1j + w"
    wanted = 1 / 4


class MaskNumber(OfDtype):
    """A mask compared with a whole number."""

    title = "eval(mask == 1), n = 10"
    here, there = "xl.eval(mask == 1)", "mask == 1"
    wanted = 1 / 4


class WholeProduct(OfDtype):
    """A product of whole numbers, which no BLAS computes."""

    dtype = "int64"
    title = "z @ w of int64, 4 x 4"
    here = "z @ w"
    wanted = 1 / 6


class HalfNumber(OfDtype):
    """A number that is rounded to half precision first."""

    dtype = "float16"
    title = "eval(z * 0.1) of float16, 4 x 4"
    here, there = "xl.eval(z * 0.1)", "z * 0.1"
    wanted = 1 / 2


class StoredTotal(Ten):
    """A lazy total written to an element: computed, then stored."""

    title = "c[3] = sum(a*b), n = 10"
    here = "c[3] = xp.sum(a*b)"
    shown = "c"
    wanted = 1 / 4


class RowOfShares(Statement):
    """A row written from an expression with a total in it."""

    title = "m[2] = a / sum(a), rows of 10"
    here = "m[2] = a / xp.sum(a)"
    shown = "m"
    wanted = 1 / 4

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"a": values(N), "m": values(5, N)}


class FunctionOfElement(Ten):
    """A function of one element, which is a value."""

    title = "sqrt(a[3]), n = 10"
    here = "xp.sqrt(a[3])"


class FilterStep(Statement):
    """Products of matrices, columns and rows in turn, as a filter takes them."""

    title = "A @ P @ A.T + Q, H @ (A @ x), 2 x 2"
    here = "P = xp.asarray(A @ P0 @ A.T + Q); y = H @ (A @ x)"
    shown = "y"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {
            **{name: values(2, 2, seed=k) for k, name in enumerate(("A", "P0", "Q"))},
            "x": values(2, 1),
            "H": values(1, 2),
        }
