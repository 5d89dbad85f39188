"""Scalar routines: what a kernel calls by value, and which Python expression each one is.

An operation of the table is an expression in the names of scalar functions; in a kernel it is one
call of a small LLVM function that LLVM inlines.  A `Routine` says which: the expression and the
register types of its arguments and its result.  Routines are compared by that alone, so all
dtypes that are computed alike share one.  `routines` of the room above knows where
their LLVM comes from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache

from ..._records import record
from ...dtypes.names import DType
from ...ir.build import CAST
from ...ops.cast import cast_body
from ...ops.op import Op
from ...ops.user import UserOp
from ..cpython.api import METHODS
from .tokens import token

#: LLVM types of registers, by the names that tokens use.
LLVM: dict[str, str] = {
    "b1": "i1",
    "f32": "float",
    "f64": "double",
    **{f"{sign}{bits}": f"i{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
    "c64": "{ float, float }",
    "c128": "{ double, double }",
}


@record(frozen=True, slots=True)
class Routine:
    """A function of scalars.

    Attributes
    ----------
    text : str
        Python expression in ``a0``, ``a1``, ``a2``.
    args : tuple of str
        Register types of the arguments.
    result : str
        Register type of the result.
    op : UserOp or None
        What ``user`` in the expression stands for.
    hint : str
        What kernels call it, for readers; a token of ours.
    """

    text: str
    args: tuple[str, ...]
    result: str
    op: UserOp | None = None
    hint: str = field(default="routine", compare=False)

    @property
    def may_fail(self) -> bool:
        """Whether it gives a status beside its value, other than 0 if it raised an exception."""
        return self.op is not None

    @property
    def returns(self) -> str:
        """LLVM type of what it returns."""
        result = LLVM[self.result]
        return f"{{ {result}, i32 }}" if self.may_fail else result


@lru_cache(maxsize=4096)
def apply(op: Op, loops: tuple[DType, ...], dtype: DType) -> Routine:
    """Return the routine of an operation, its result not yet settled."""
    if op is CAST:
        return cast(loops[0], dtype)
    args, result = tuple([token(loop).value for loop in loops]), token(dtype).value
    names = [f"a{k}" for k in range(op.arity)]
    template = op.body(loops)
    assert template is not None, f"{op.name}{loops} is a host operation"
    text = template.format(*names, t=args[0])
    own = op if isinstance(op, UserOp) else None
    return Routine(f"{result}({text})", args, result, own, "user" if own else op.name)


@lru_cache(maxsize=4096)
def near(op: Op, loops: tuple[DType, ...], dtype: DType) -> tuple[Routine, Routine] | None:
    """Return what tells whether arguments are hard, and what does the same to all others.

    None of operations for which arguments are alike.
    """
    args, result = tuple([token(loop).value for loop in loops]), token(dtype).value
    if args[0] not in op.near:
        return None
    names = [f"a{k}" for k in range(op.arity)]
    hard, body = [template.format(*names) for template in op.near[args[0]]]
    guard = Routine(f"b1({hard})", args, "b1", hint=f"hard_{op.name}")
    return guard, Routine(f"{result}({body})", args, result, hint=f"near_{op.name}")


@lru_cache(maxsize=4096)
def cast(source: DType, result: DType) -> Routine:
    """Return the routine of a conversion, its result not yet settled."""
    text, names = cast_body(source, result).format("a0"), token(result)
    return Routine(text, (token(source).value,), names.value, hint=f"to_{names.value}")


@lru_cache(maxsize=4096)
def _plain(function: str, arg: str, result: str) -> Routine:
    return Routine(f"{function}(a0)", (arg,), result, hint=function)


def decode(dtype: DType) -> Routine | None:
    """Return what makes a register of memory, or None where nothing is to do."""
    names = token(dtype)
    return _plain(names.decode, names.memory, names.value) if names.decode else None


def encode(dtype: DType) -> Routine | None:
    """Return what makes memory of a register, or None where nothing is to do."""
    names = token(dtype)
    return _plain(names.encode, names.value, names.memory) if names.encode else None


def settle(dtype: DType) -> Routine | None:
    """Return what rounds or wraps a register, or None where nothing is to do."""
    names = token(dtype)
    return _plain(names.settle, names.value, names.value) if names.settle else None


@lru_cache(maxsize=4096)
def collect_error(value: str) -> Routine:
    """Return the routine ``lost, total, part, total + part`` -> what is lost by then."""
    text = f"{value}(a0 + sum_error(a1, a2, a3))"
    return Routine(text, (value,) * 4, value, hint="collect_error")


@lru_cache(maxsize=4096)
def compensate(value: str) -> Routine:
    """Return the routine ``total, lost`` -> their sum."""
    return Routine(f"{value}(compensate(a0, a1))", (value,) * 2, value, hint="compensate")


@lru_cache(maxsize=4096)
def plain_sum(value: str) -> Routine:
    """Return the routine that adds two registers, as the table's ``add`` does."""
    return Routine(f"{value}(a0 + a1)", (value,) * 2, value, hint="add")


def _one_of(methods: Mapping[str, tuple[int, str]]) -> str:
    """Return the expression that calls the method whose number ``a0`` is.

    Larger numbers are those of what is called instead.
    """
    calls = [f"({call}) if a0 == {k}" for k, (_, call) in enumerate(methods.values())]
    return " else ".join([*calls, f"instead(a0 - {len(calls)}, a1, a2, a3, a4)"])


#: What `codegen.cpython` does: no scalar routine, and made and kept like one.
OBJECTS = Routine(f"i64({_one_of(METHODS)})", ("i64",) * 5, "i64", hint="entry")

#: One function of it, for processes that launch a few times.
LAUNCH = Routine("i64(started(a0, a1, a2, a3))", ("i64",) * 4, "i64", hint="launch")
