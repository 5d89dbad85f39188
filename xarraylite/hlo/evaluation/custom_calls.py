"""Custom calls: those that JAX writes, and functions of the user's.

JAX calls LAPACK on CPUs; SciPy has the routines.  A target is ``lapack_``, the letter of the
element type, the routine and ``_ffi``; characters among its settings are numbers (``uplo = 76`` is
``L``).  Matrices are the last two dimensions of stacks and are handed over one after the other.
What a routine leaves in memory that it has used up is zeros here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias, overload

import numpy as np

from ..._errors import HloError
from ...arrays.xarray import XArray
from ...dtypes.names import NumpyArray
from ...xla.spec import ArraySpec
from ..instruction import HloInstruction
from .ordering import top
from .values import TOKEN, Evaluator, Runner, Value, array, container, dtype_of, fits, refuse

_Settings: TypeAlias = dict[str, int]
# SciPy's routine, for an element type.
_Scipy: TypeAlias = Callable[..., Any]
# Takes that, the call's settings, and one matrix of each operand.
_Routine: TypeAlias = Callable[..., tuple[Any, ...]]

_SETTING = re.compile(r"(\w+) = (-?[0-9]+|true|false)")


def _is(settings: _Settings, name: str, letter: str) -> bool:
    return settings.get(name) == ord(letter)


def _trsm(scipy: _Scipy, given: _Settings, a: NumpyArray, b: NumpyArray) -> tuple[Any, ...]:
    x = scipy(
        1,
        a,
        b,
        side=int(_is(given, "side", "R")),
        lower=int(_is(given, "uplo", "L")),
        trans_a="NTC".index(chr(given["trans_x"])),
        diag=int(_is(given, "diag", "U")),
    )
    return (x,)


def _potrf(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(scipy(a, lower=_is(given, "uplo", "L"), clean=0))


def _getrf(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    factors, pivots, info = scipy(a)
    return factors, pivots + 1, info


def _geqrf(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(scipy(a)[:2])


def _geqp3(scipy: _Scipy, given: _Settings, a: NumpyArray, fixed: NumpyArray) -> tuple[Any, ...]:
    if fixed.any():
        raise ValueError("columns that are fixed in front")
    return tuple(scipy(a)[:3])


def _orgqr(scipy: _Scipy, given: _Settings, a: NumpyArray, tau: NumpyArray) -> tuple[Any, ...]:
    return (scipy(a, tau)[0],)


def _ormqr(
    scipy: _Scipy, given: _Settings, a: NumpyArray, tau: NumpyArray, c: NumpyArray
) -> tuple[Any, ...]:
    turned = "C" if np.iscomplexobj(a) else "T"
    side, trans = "L" if given["left"] else "R", turned if given["transpose"] else "N"
    return (scipy(side, trans, a, tau, c, 64 * max(c.shape))[0],)


def _singular_values(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    full, vectors = _is(given, "mode", "A"), not _is(given, "mode", "N")
    u, s, vt, info = scipy(a, compute_uv=int(vectors), full_matrices=int(full))
    return (0, s, u, vt, info) if vectors else (0, s, 0, 0, info)


def _syevd(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    vectors = int(_is(given, "mode", "V"))
    w, v, info = scipy(a, compute_v=vectors, lower=int(_is(given, "uplo", "L")))
    return v if vectors else 0, w, info


def _geev(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    sides = [_is(given, name, "V") for name in ("compute_left", "compute_right")]
    *values, left, right, info = scipy(a, compute_vl=int(sides[0]), compute_vr=int(sides[1]))
    vectors = [
        _unpacked(values, v) if side else 0 for v, side in zip((left, right), sides, strict=True)
    ]
    return (*values, *vectors, info)


def _unpacked(values: list[NumpyArray], packed: NumpyArray) -> NumpyArray:
    """Return eigenvectors; of real matrices, those of a pair lie as real and imaginary part."""
    if len(values) == 1:
        return packed
    made = packed.astype(np.result_type(packed, 1j))
    (first,) = np.nonzero(values[1] > 0)
    made[:, first] = packed[:, first] + 1j * packed[:, first + 1]
    made[:, first + 1] = made[:, first].conj()
    return made


def _gees(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    vectors = int(_is(given, "mode", "V"))
    t, selected, *values, v, _, info = scipy(lambda *_: None, a, compute_v=vectors)
    return t, v if vectors else 0, *values, selected, info


def _gehrd(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(scipy(a, given["low"] - 1, given["high"] - 1))


def _sytrd(scipy: _Scipy, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(scipy(a, lower=int(_is(given, "uplo", "L"))))


def _gtsv(
    scipy: _Scipy, given: _Settings, low: NumpyArray, d: NumpyArray, up: NumpyArray, b: NumpyArray
) -> tuple[Any, ...]:
    x, info = scipy(low[1:], d, up[:-1], b)[-2:]
    return 0, 0, 0, x, info


#: Routines by name, and for which letters of element types, of how many dimensions, they are.
_ROUTINES: Final[dict[tuple[str, int], dict[str, _Routine]]] = {
    ("sdcz", 1): {"gtsv": _gtsv},
    ("sdcz", 2): {
        "geev": _geev, "gees": _gees, "gehrd": _gehrd, "geqp3": _geqp3, "geqrf": _geqrf,
        "gesdd": _singular_values, "gesvd": _singular_values, "getrf": _getrf, "potrf": _potrf,
        "trsm": _trsm,
    },
    ("sd", 2): {"orgqr": _orgqr, "ormqr": _ormqr, "syevd": _syevd, "sytrd": _sytrd},
    ("cz", 2): {"ungqr": _orgqr, "unmqr": _ormqr, "heevd": _syevd, "hetrd": _sytrd},
}  # fmt: skip


def _on_matrices(
    name: str, routine: _Routine, rank: int, instruction: HloInstruction, *operands: NumpyArray
) -> Any:
    """Return what a routine makes of stacks, of matrices or of vectors."""
    try:
        import scipy.linalg  # noqa: PLC0415
    except ImportError as error:
        raise refuse(instruction, "calls LAPACK, for which SciPy is needed") from error
    found_in = scipy.linalg.blas if routine is _trsm else scipy.linalg.lapack
    given = {
        key: int(value) if value[-1].isdigit() else int(value == "true")
        for key, value in _SETTING.findall(str(instruction.get("backend_config") or ""))
    }
    shape = instruction.shape
    batch = operands[0].shape[: operands[0].ndim - rank]
    results = [
        np.zeros(part.dimensions, part.dtype)
        for part in (shape.tuple_shapes if shape.is_tuple else (shape,))
    ]
    # LAPACK refuses matrices without elements; what is to be found of them has none either.
    for place in np.ndindex(batch) if operands[0].size else ():
        try:
            matrices = [operand[place] for operand in operands]
            found = routine(getattr(found_in, name), given, *matrices)
            for result, part in zip(results, found, strict=False):
                result[place] = part
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise refuse(instruction, f"operands or settings do not fit: {error!r}") from error
    return tuple(results) if shape.is_tuple else results[0]


CustomCall = Callable[..., Any]

# Where values are placed; on one device, everything is everywhere.
_ANNOTATIONS: Final = (
    "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement",
    "LayoutConstraint", "MoveToDevice", "MoveToHost", "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape",
)  # fmt: skip


#: What custom calls do, by target.
CUSTOM_CALLS: Final[dict[str, CustomCall]] = {
    **dict.fromkeys(_ANNOTATIONS, lambda instruction, x: x),
    "TopK": lambda made, x: top(array(x), made.shape.tuple_shapes[0].dimensions[-1], True),
    **{
        f"lapack_{letter}{name}_ffi": partial(_on_matrices, letter + name, routine, rank)
        for (letters, rank), routines in _ROUTINES.items()
        for name, routine in routines.items()
        for letter in letters
    },
}


@overload
def register_custom_call(target: str) -> Callable[[CustomCall], CustomCall]: ...


@overload
def register_custom_call(target: str, function: CustomCall) -> CustomCall: ...


def register_custom_call(target: str, function: CustomCall | None = None) -> Any:
    """Say what a custom call does, from now on and in every module.

    Parameters
    ----------
    target : str
        Its ``custom_call_target``.
    function : callable, optional
        Takes the instruction and its operands: read-only NumPy arrays in the order of their
        dimensions, however they lie, and tuples of such.  Returns an array of the instruction's
        dtype and shape, or a list or number that is converted to it unless that
        changes an integer; a tuple where the shape is
        one.  What the call says of itself stands in ``instruction.get("backend_config")``, and
        `evaluate` runs the computations that it calls.

    Returns
    -------
    callable
        The function; without one, a decorator that takes it.

    Raises
    ------
    TypeError
        If the function cannot be called, or the target is no string.

    Examples
    --------
    >>> import numpy as np
    >>> import xarraylite as xl
    >>> @xl.hlo.register_custom_call("example_extremes")
    ... def extremes(instruction, x):
    ...     return x.min(), x.max()
    >>> module = xl.hlo.parse(
    ...     "ENTRY e { p = f32[3] parameter(0)  "
    ...     'ROOT r = (f32[], f32[]) custom-call(p), custom_call_target="example_extremes" }'
    ... )
    >>> [float(x) for x in module(np.float32([2, 1, 4]))]
    [1.0, 4.0]
    """
    if not isinstance(target, str):
        raise TypeError(f"register_custom_call: the target is a string, not {target!r}")
    if function is None:
        return partial(register_custom_call, target)
    if not callable(function):
        raise TypeError(f"register_custom_call: {function!r} for {target!r} cannot be called")
    CUSTOM_CALLS[target] = function
    return function


def _custom_call(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    target = instruction.get("custom_call_target")
    function = CUSTOM_CALLS.get(target)
    if function is None:
        raise refuse(
            instruction,
            f"module {run.module} calls {target!r}, and nobody said what that does; "
            "see xl.hlo.register_custom_call",
        )
    given = [_plain(operand) for operand in operands]
    try:
        found = function(instruction, *given)
    except Exception as error:
        note = f"in the custom call {target!r}: {instruction.name} of {run.module}"
        if note not in getattr(error, "__notes__", ()):
            error.add_note(note)
        raise
    return _taken(instruction, instruction.shape, found)


def _plain(value: Value) -> Any:
    """Return an operand for a function that others wrote."""
    if isinstance(value, tuple):
        return tuple([_plain(element) for element in value])
    return _locked(array(value))


def _locked(values: NumpyArray) -> NumpyArray:
    """Return a view that cannot be written to: of what others hold, too."""
    view = values.view()
    view.flags.writeable = False
    return view


def _taken(instruction: HloInstruction, spec: ArraySpec, found: Any) -> Value:
    """Check what a custom call returned against its shape."""

    def wrong(what: str, why: str = "") -> HloError:
        target = instruction.get("custom_call_target")
        return refuse(instruction, f"{target!r} gave {what} for {spec}{why}")

    if spec.is_tuple:
        parts = found if isinstance(found, tuple | list) else (found,)
        if len(parts) != len(spec.tuple_shapes):
            raise wrong(f"{len(parts)} results")
        pairs = zip(spec.tuple_shapes, parts, strict=True)
        return tuple([_taken(instruction, inner, part) for inner, part in pairs])
    if not spec.is_array:
        return TOKEN
    dtype = dtype_of(spec.element_type, instruction)
    try:
        if hasattr(found, "dtype"):
            made = array(found)
        else:
            made = array(XArray(found, dtype))
            _same_values(found, made)
    except (OverflowError, TypeError, ValueError) as error:
        raise wrong(type(found).__name__, f": {error}") from error
    if not made.dtype.isnative:
        made = made.astype(made.dtype.newbyteorder("="))
    if made.dtype != dtype or not fits(made.shape, spec):
        raise wrong(f"{made.dtype}{list(made.shape)}")
    return container(_locked(made))


def _same_values(found: Any, made: NumpyArray) -> None:
    """Check that integers and truth values are what was given, not what became of it."""
    if made.dtype.kind not in "biu":
        return
    given = np.asarray(found, object)
    if any([a != b for a, b in zip(given.flat, made.astype(object).flat, strict=True)]):
        raise ValueError(f"not of {made.dtype}")


#: The evaluator of calls of what no operation says.
CUSTOM: Final[dict[str, Evaluator]] = {"custom-call": _custom_call}
