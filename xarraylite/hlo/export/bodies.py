"""Scalar bodies as formulas: the text that kernels are made of, run on terms.

A body (`ops.bodies`) is a template over Python functions of scalars: operators, choices
``a if c else b``, and a few functions of `math` and NumPy.  Given terms in place of scalars its
operators write instructions.  A choice cannot be made then, so it is rewritten to a ``select`` of
both values; and the few functions are replaced by operations of HLO.  So an operation is said once,
and the special values of what is exported are those of what is computed here.

Bodies with loops, or of functions that bodies get from elsewhere (polynomials), are not read.
"""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable
from functools import cache
from types import CodeType, SimpleNamespace
from typing import Any, Final

import numpy as np

from ...ops.bodies import library
from .terms import Term, copysign


class _Choices(ast.NodeTransformer):
    """Rewrites ``a if c else b`` and ``not a`` to calls."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return _called("choose", node.test, node.body, node.orelse)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        return _called("invert", node.operand) if isinstance(node.op, ast.Not) else node


def _called(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def choose(truth: Term, yes: Any, no: Any) -> Term:
    """Return one of two values, of which either may be a number of NumPy's, by a truth."""
    if isinstance(yes, Term):
        return truth.where(yes, no)
    if isinstance(no, Term):
        return (~truth).where(no, yes)
    return truth.where(truth.writer.constant(yes).stretched(truth.shape), no)


def _opcode(name: str) -> Callable[..., Term]:
    return lambda x, *others: x.apply(name, *others)


def _cast(name: str) -> Callable[[Any], Any]:
    dtype = np.dtype(name)
    return lambda x: x.cast(dtype) if isinstance(x, Term) else dtype.type(x)


def _bits(name: str) -> Callable[[Term], Term]:
    """Reads the bits of a float as an integer, or the other way round, in its own width."""
    return lambda x: x.apply("bitcast-convert", dtype=np.dtype(f"{name}{x.bits}"))


def _whole(x: Term, y: Term) -> tuple[Term, Term, Term, Term]:
    """Return integers in 64 bits, and where the second is 0 or -1, and 1 in its place.

    Nothing is divided by 0, nor the least integer by -1.  Kernels multiply by reciprocals
    (`ops.bodies.integers`); here XLA divides.
    """
    wide = np.dtype("uint64" if x.kind == "u" else "int64")
    x, y = x.cast(wide), y.cast(wide)
    zero = y == 0
    turned = zero if x.kind == "u" else y == -1
    return x, choose(zero | turned, wide.type(1), y), zero, turned


def _floor_divide(x: Term, y: Term) -> Term:
    dividend, divisor, zero, turned = _whole(x, y)
    quotient = dividend // divisor
    if x.kind == "i":
        quotient = turned.where(-dividend, quotient)
    return choose(zero, quotient.dtype.type(0), quotient).cast(x.dtype)


def _remainder(x: Term, y: Term) -> Term:
    dividend, divisor, zero, _ = _whole(x, y)
    return choose(zero, dividend.dtype.type(0), dividend % divisor).cast(x.dtype)


#: What names mean in a body that is run on terms.
_GIVEN: Final[dict[str, Any]] = {
    "__builtins__": {"abs": abs},
    "bits_f32": _bits("int"),
    "bits_f64": _bits("int"),
    "choose": choose,
    "complex": lambda x, y: x.apply("complex", y, dtype=np.result_type(x.dtype, np.complex64)),
    "float_f32": _bits("float"),
    "float_f64": _bits("float"),
    "floor_divide_f64": _floor_divide,  # of integers, too: templates are filled in for one type
    "remainder_f64": _remainder,
    "fmod_f": _opcode("remainder"),  # which is exact too
    "invert": lambda x: ~x,
    "math": SimpleNamespace(copysign=copysign, pi=math.pi, sqrt=_opcode("sqrt")),
    "np": SimpleNamespace(
        ceil=_opcode("ceil"),
        floor=_opcode("floor"),
        rint=_opcode("round-nearest-even"),
        trunc=lambda x: copysign(abs(x).apply("floor"), x),
        **{name: _cast(name) for name in ("int32", "int64", "uint64")},
    ),
    "type": lambda x: x.like,
}


@cache
def _code(template: str) -> tuple[CodeType, dict[str, Any]]:
    """Return a template that can be run on terms, and the functions that it calls."""
    code = _compiled(ast.parse(template, mode="eval"))
    known = dict(_GIVEN)
    waiting = list(code.co_names)
    while waiting:
        name = waiting.pop()
        function = library.others().get(name)
        if function is None or name in known:
            continue
        made: dict[str, Any] = {}
        exec(_compiled(ast.parse(inspect.getsource(function))), known, made)  # noqa: S102  (our own)
        known[name] = made[name]
        waiting += made[name].__code__.co_names
    return code, known


def _compiled(tree: Any) -> CodeType:
    made: CodeType = compile(
        ast.fix_missing_locations(_Choices().visit(tree)),
        "<body>",
        "eval" if isinstance(tree, ast.Expression) else "exec",
    )
    return made


def is_plain(template: str) -> bool:
    """Whether a template is operators and choices alone."""
    tree = ast.parse(template.format(*"xyz", t="f64"))
    return not any([isinstance(node, ast.Call) for node in ast.walk(tree)])


def run(template: str, terms: tuple[Term, ...]) -> Any:
    """Return what a body makes of terms: a term, or a number.

    Raises
    ------
    NameError
        If the body calls what terms have not.

    Examples
    --------
    >>> import numpy as np
    >>> from xarraylite.hlo.export.bodies import run
    >>> from xarraylite.hlo.export.terms import Writer
    >>> x = Writer().constant(np.float32([1, -2]))
    >>> run("{0} if {0} > 0 else -{0}", (x,)).instruction.opcode
    'select'
    """
    code, known = _code(template.format(*"xyz", t="f64"))
    return eval(code, known, dict(zip("xyz", terms, strict=False)))  # noqa: S307  (our own)
