"""Fixed costs: ten elements, where building, looking up and calling are all there is."""

from __future__ import annotations

import numpy as np

import xarraylite as xl

from . import Comparison, values

N = 10


class BuildAndAssign(Comparison):
    """Write an expression and evaluate it into an existing container."""

    title = "noalias(o)[...] = a + b*c, n = 10"

    def setup(self) -> None:
        self.operands = [values(N, seed=k) for k in range(3)]
        self.a, self.b, self.c = (xl.asarray(x) for x in self.operands)
        self.out = xl.empty(N)
        self.numpy_out = np.empty(N)
        self.xarraylite()

    def xarraylite(self) -> object:
        xl.noalias(self.out)[...] = self.a + self.b * self.c
        return self.out

    def numpy(self) -> object:
        a, b, c = self.operands
        np.multiply(b, c, out=self.numpy_out)
        return np.add(a, self.numpy_out, out=self.numpy_out)


class BuildAndEval(BuildAndAssign):
    """Write an expression and evaluate it into a new container."""

    title = "eval(a + b*c), n = 10"

    def xarraylite(self) -> object:
        return xl.eval(self.a + self.b * self.c)

    def numpy(self) -> object:
        a, b, c = self.operands
        return a + b * c


class BuildOnly(BuildAndEval):
    """Write an expression and throw it away; NumPy computes it meanwhile."""

    title = "a + b*c built, not evaluated, n = 10"

    def xarraylite(self) -> object:
        return self.a + self.b * self.c


class Jit(BuildAndEval):
    """A traced function: nothing is built on the way."""

    title = "jit(lambda a, b, c: a + b*c)(a, b, c), n = 10"

    def setup(self) -> None:
        self.step = xl.jit(_multiply_add)
        super().setup()

    def xarraylite(self) -> object:
        return self.step(self.a, self.b, self.c)


def _multiply_add(a: object, b: object, c: object) -> object:
    return a + b * c  # type: ignore[operator]


class Reduce(BuildAndEval):
    """A reducer to a Python float."""

    title = "float(sum(a*b)), n = 10"

    def xarraylite(self) -> object:
        return float(xl.sum(self.a * self.b))

    def numpy(self) -> object:
        a, b, _ = self.operands
        return float(np.sum(a * b))
