"""Dtype rules: from the operands' types to the loop dtypes and the result dtype.

NumPy finds the loop of an operation by searching a list of signatures for the first one that all
operands can safely be cast to.  The rules below say what that search finds, in closed form: the
operands' common dtype, moved up where the operation has no loop for it (integers to floats for
``sin``, bool to int8 for ``floor_divide``).  The tests compare every operation with NumPy on
every pair of dtypes and Python scalars.

Python scalars are *weak* (NEP 50): they take part in the common dtype by kind only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from .._errors import DTypeError
from .._records import record
from ..dtypes.names import (
    DType,
    bool_,
    complex64,
    dtype_name,
    float16,
    float64,
    int8,
    int64,
    kind,
    uint64,
)
from ..dtypes.promotion import float_for, int_bounds, result_type
from .op import Arg, Resolved

Loops = Callable[[tuple[Arg, ...]], tuple[DType, ...]]


@record(frozen=True, slots=True)
class TypeRule:
    """A dtype rule: how the loop dtypes are found, and what the result is made of them.

    Attributes
    ----------
    text : str
        The rule in words, for documentation and errors.
    accepts : str
        Kinds that the last loop dtype may have.
    loops : callable
        From operand types to loop dtypes.
    result : callable
        From the last loop dtype to the result dtype.
    """

    text: str
    accepts: str
    loops: Loops
    result: Callable[[DType], DType]

    def __call__(self, name: str, args: tuple[Arg, ...]) -> Resolved:
        """Return the loop dtypes and the result dtype.

        Raises
        ------
        DTypeError
            If the operation is not defined for these types.
        """
        loops = self.loops(args)
        if kind(loops[-1]) not in self.accepts:
            received = ", ".join(describe(arg) for arg in args)
            allowed = ", ".join(KIND_NAMES[k] for k in self.accepts)
            raise DTypeError(f"{name}({received}): defined for {allowed} only ({self.text})")
        return loops, self.result(loops[-1])


KIND_NAMES = {
    "b": "bool",
    "i": "signed integers",
    "u": "unsigned integers",
    "f": "real floats",
    "c": "complex floats",
}


def describe(arg: Arg) -> str:
    """Return how an error message shows an operand type."""
    return dtype_name(arg) if isinstance(arg, np.dtype) else f"Python {arg.__name__}"


# --- loops -----------------------------------------------------------------------------------


def common(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """All operands in their common dtype."""
    return (result_type(*args),) * len(args)


def common_with(bool_as: DType) -> Loops:
    """As `common`, but bool counts as another dtype: these operations have no bool loop in NumPy.

    That is int8, and float16 where ``np.round`` takes it.
    """

    def loops(args: tuple[Arg, ...]) -> tuple[DType, ...]:
        dtype = result_type(*args)
        return (bool_as if dtype == bool_ else dtype,) * len(args)

    return loops


def common_quotient(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """The common dtype if it is a float, else float64."""
    dtype = result_type(*args)
    return (dtype if kind(dtype) in "fc" else float64,) * len(args)


def common_float(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """The narrowest float that holds every operand.

    It is not always the float that holds the common dtype: int16 and uint16 fit float32 while
    their common dtype int32 needs float64.  Python scalars count if they raise the kind.
    """
    whole = result_type(*args)
    strong = [arg for arg in args if isinstance(arg, np.dtype)]
    if not strong or result_type(*strong) != whole:
        return (float_for(whole),) * len(args)
    return (result_type(*[float_for(dtype) for dtype in strong]),) * len(args)


def common_complex(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """The narrowest complex dtype that holds every operand."""
    return (result_type(*args, complex64),) * len(args)


def truth(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """Every operand as its truth value."""
    return (bool_,) * len(args)


def ordered(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """The common dtype, except that int64 and uint64 meet exactly instead of in float64."""
    loops = common(args)
    kinds = [kind(arg) if isinstance(arg, np.dtype) else _WEAK_KIND[arg] for arg in args]
    if kind(loops[0]) == "f" and not set(kinds) - {"i", "u"}:
        return tuple([uint64 if k == "u" else int64 for k in kinds])
    return loops


_WEAK_KIND: dict[type, str] = {bool: "b", int: "i", float: "f", complex: "c"}


def selection(args: tuple[Arg, ...]) -> tuple[DType, ...]:
    """A truth value, and two operands in their common dtype."""
    return (bool_, *common(args[1:]))


# --- results ---------------------------------------------------------------------------------


def same(dtype: DType) -> DType:
    """The loop dtype itself."""
    return dtype


def boolean(dtype: DType) -> DType:
    """Bool, whatever the loop dtype."""
    return bool_


def real_part(dtype: DType) -> DType:
    """The real dtype of the same precision."""
    return np.dtype(f"f{dtype.itemsize // 2}") if kind(dtype) == "c" else dtype


# --- rules -----------------------------------------------------------------------------------

_SAME = "the result has the operands' common dtype"
_NUMBER = f"{_SAME}, bool counting as int8"
_FLOAT = (
    "the result is the narrowest float that holds every operand: float16 for bool and 8-bit "
    "integers, float32 for 16-bit ones, float64 for wider ones, floats as they are"
)
_BOOL = "the result is bool"

ANY = TypeRule(_SAME, "biufc", common, same)
NUMBERS = TypeRule(_SAME, "iufc", common, same)
COMMON_NUMBER = TypeRule(_NUMBER, "iufc", common_with(int8), same)
REAL_NUMBER = TypeRule(_NUMBER, "iuf", common_with(int8), same)
REAL = TypeRule(_SAME, "biuf", common, same)
INTEGERS = TypeRule(_SAME, "biu", common, same)
SHIFTS = TypeRule(_NUMBER, "iu", common_with(int8), same)
QUOTIENT = TypeRule(
    "the result is the common dtype, float64 for integers and bool", "fc", common_quotient, same
)
FLOATS = TypeRule(_FLOAT, "fc", common_float, same)
REAL_FLOATS = TypeRule(_FLOAT, "f", common_float, same)
ROUNDED = TypeRule(f"{_SAME}, float16 for bool", "iufc", common_with(float16), same)
MAGNITUDE = TypeRule(
    "the result has the operand's dtype, complex giving its real dtype", "biufc", common, real_part
)
PARTS = TypeRule(
    "the result is the narrowest complex dtype that holds both parts", "c", common_complex, same
)
COMPARISON = TypeRule(_BOOL, "biufc", ordered, boolean)
PREDICATE = TypeRule(_BOOL, "biufc", common, boolean)
SIGN_BIT = TypeRule(_BOOL, "f", common_float, boolean)
LOGICAL = TypeRule(_BOOL, "b", truth, boolean)
SELECTION = TypeRule("the result has the common dtype of the two values", "biufc", selection, same)
CAST = TypeRule("the result has the dtype asked for", "biufc", common, same)


# --- Python scalars, once their values are known ---------------------------------------------


def compare_scalars(
    name: str, loops: tuple[DType, ...], values: Mapping[int, object]
) -> tuple[tuple[DType, ...], Mapping[int, object]]:
    """Let a Python int be compared with integers that cannot hold it.

    ``uint8 < 300`` is true everywhere; only arithmetic would overflow.  The int moves to int64 or
    uint64, whichever holds it, and beyond both to an infinity of its sign.

    Parameters
    ----------
    name : str
        The operation.
    loops : tuple of numpy.dtype
        Loop dtypes of both operands.
    values : mapping of int to object
        Python scalars among the operands, by position.

    Returns
    -------
    tuple
        `loops` and `values`, changed where an int does not fit.
    """
    for position, value in values.items():
        other = loops[1 - position]
        if not _is_misfit(value, loops[position]) or 1 - position in values:
            continue
        if _is_misfit(value, int64) and _is_misfit(value, uint64):
            beyond = float("inf") if int(value) > 0 else float("-inf")  # type: ignore[call-overload]
            return (float64, float64), {**values, position: beyond}
        loop = uint64 if _is_misfit(value, int64) else int64
        return ordered((other, loop) if position else (loop, other)), values
    return loops, values


def _is_misfit(value: object, dtype: DType) -> bool:
    """Tell whether `value` is a Python int outside the integer type `dtype`."""
    if type(value) is not int or kind(dtype) not in "iu":
        return False
    low, high = int_bounds(dtype)
    return not low <= value <= high


def refuse_negative_powers(
    name: str, loops: tuple[DType, ...], values: Mapping[int, object]
) -> tuple[tuple[DType, ...], Mapping[int, object]]:
    """Refuse an integer to the power of a negative Python int, as NumPy does.

    Raises
    ------
    ValueError
        If the loop dtype is a signed integer and the exponent a negative Python int, which no
        unsigned one holds.
    """
    exponent = values.get(1, 0)
    if kind(loops[0]) == "i" and type(exponent) is int and exponent < 0:
        raise ValueError(
            f"{name}({dtype_name(loops[0])}, {exponent}): integers to negative integer powers are "
            "not integers; cast the base to a float dtype first"
        )
    return loops, values
