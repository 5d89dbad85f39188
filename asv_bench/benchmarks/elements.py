"""What does not enter the engine: single elements, views, conversions and new containers."""

from __future__ import annotations

from array import array
from types import ModuleType
from typing import Any

import numpy as np

from . import values
from .statements import Statement


class Plane(Statement):
    """Statements of one small plane, each at most four times NumPy's time."""

    wanted = 1 / 4

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"a": values(16, 16)}


class ReadElement(Plane):
    """One element as a Python number."""

    title = "float(a[3, 4]), 16 x 16"
    here = "float(a[3, 4])"


class WriteElement(Plane):
    """One element from a Python number."""

    title = "a[3, 4] = 1.0, 16 x 16"
    here = "a[3, 4] = 1.0"
    shown = "a"


class Recurrence(Plane):
    """Elements read, computed with and written, one after another; at most five times NumPy's."""

    wanted = 1 / 5
    title = "a[0, i + 1] = a[0, i] * 0.5, 15 times"
    here = "for i in range(15): a[0, i + 1] = a[0, i] * 0.5"
    shown = "a"


class Values(Plane):
    """Arithmetic of elements, which are values."""

    title = "a[0, 0] * a[0, 1] + 2.0"
    here = "a[0, 0] * a[0, 1] + 2.0"


class WholeValues(Plane):
    """Arithmetic of whole values, mixed with Python's numbers and truth values."""

    title = "(i[0] // 2 + 1) * i[1] + (i[2] > 3)"
    here = "(i[0] // 2 + 1) * i[1] + (i[2] > 3)"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"i": np.arange(1, 17)}


class AtValues(WholeValues):
    """An element at values of an index array, read and written."""

    title = "a[i[0], i[1]] = a[i[2], i[3]], 16 x 16"
    here = "a[i[0], i[1]] = a[i[2], i[3]]"
    shown = "a"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return super().operands(xp) | {"a": values(16, 16)}


class ChosenOfRows(AtValues):
    """One element of each row: several index arrays, as for the losses of a classifier."""

    title = "a[xp.arange(15), i[:15]], 16 x 16"
    here = "a[xp.arange(15), i[:15]]"
    shown = ""


class Iteration(Plane):
    """The elements of a row, one after another."""

    title = "for x in a[3]: pass, 16 elements"
    here = "for x in a[3]: pass"
    shown = "a"


class MaskRead(Plane):
    """The elements where a mask is true."""

    title = "a[a > 0], 16 x 16"
    here = "a[a > 0]"


class MaskWrite(Plane):
    """A number written where a mask is true."""

    title = "a[a > 9] = 0.5, 16 x 16"
    here = "a[a > 9] = 0.5"
    shown = "a"


class FillRow(Plane):
    """A row from a Python number."""

    title = "a[0] = 0, 16 x 16"
    here = "a[0] = 0"
    shown = "a"


class Interior(Plane):
    """A view, not evaluated."""

    title = "a[1:-1, 1:-1], 16 x 16"
    here = "a[1:-1, 1:-1]"


class ToNumPy(Plane):
    """A NumPy array over a container's memory, against one over an array's."""

    title = "np.asarray(a), against a.view(), 16 x 16"
    here, there = "np.asarray(a)", "a.view()"


class LeastToNumPy(Plane):
    """What the buffer of a class in C takes, which containers have too."""

    wanted = None
    title = "np.asarray(array.array), against a.view()"
    here, there = "np.asarray(least)", "a.view()"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        numbers = values(256)
        return {"a": numbers, "least": array("d", numbers.tobytes())}


class Adapt(Plane):
    """A container over a NumPy array's memory, against another array over it."""

    title = "adapt(x), against x.view(), 16 x 16"
    here, there = "xl.adapt(x[0])", "x[0].view()"

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"x": (values(16, 16),)}


class Zeros(Plane):
    """A new container of zeros."""

    title = "zeros((16, 16))"
    here = "xp.zeros((16, 16))"


class Copy(Plane):
    """A copy in new memory."""

    title = "a.copy(), 16 x 16"
    here = "a.copy()"


class Iterate(Plane):
    """Every element of a row as a value."""

    title = "[float(x) for x in row], 16 elements"
    here = "[float(x) for x in row]"
    wanted = None

    def operands(self, xp: ModuleType) -> dict[str, Any]:
        return {"row": values(16)}
