"""Custom calls of BLAS and LAPACK, as JAX writes them for CPUs; SciPy has the routines.

A target is ``lapack_``, the letter of the element type, the routine and ``_ffi``; characters among
its settings are numbers (``uplo = 76`` is ``L``).  Matrices are the last two dimensions of stacks
and are handed over one after the other.  What a routine leaves in memory that it has used up is
zeros here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import numpy as np

from ...dtypes.names import NumpyArray
from ..instruction import HloInstruction
from .values import refuse

_Settings: TypeAlias = dict[str, int]
# Takes SciPy's routines by name, the call's settings, and one matrix of each operand.
_Routine: TypeAlias = Callable[..., tuple[Any, ...]]
_Find: TypeAlias = Callable[[str], Callable[..., Any]]

_SETTING = re.compile(r"(\w+) = (-?[0-9]+|true|false)")


def _is(settings: _Settings, name: str, letter: str) -> bool:
    return settings.get(name) == ord(letter)


def _trsm(find: _Find, given: _Settings, a: NumpyArray, b: NumpyArray) -> tuple[Any, ...]:
    x = find("trsm")(
        1,
        a,
        b,
        side=int(_is(given, "side", "R")),
        lower=int(_is(given, "uplo", "L")),
        trans_a="NTC".index(chr(given["trans_x"])),
        diag=int(_is(given, "diag", "U")),
    )
    return (x,)


def _potrf(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(find("potrf")(a, lower=_is(given, "uplo", "L"), clean=0))


def _getrf(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    factors, pivots, info = find("getrf")(a)
    return factors, pivots + 1, info


def _geqrf(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(find("geqrf")(a)[:2])


def _geqp3(find: _Find, given: _Settings, a: NumpyArray, fixed: NumpyArray) -> tuple[Any, ...]:
    if fixed.any():
        raise ValueError("columns that are fixed in front")
    return tuple(find("geqp3")(a)[:3])


def _orgqr(find: _Find, given: _Settings, a: NumpyArray, tau: NumpyArray) -> tuple[Any, ...]:
    name = "ungqr" if np.iscomplexobj(a) else "orgqr"
    return (find(name)(a, tau)[0],)


def _ormqr(
    find: _Find, given: _Settings, a: NumpyArray, tau: NumpyArray, c: NumpyArray
) -> tuple[Any, ...]:
    name, turned = ("unmqr", "C") if np.iscomplexobj(a) else ("ormqr", "T")
    side, trans = "L" if given["left"] else "R", turned if given["transpose"] else "N"
    return (find(name)(side, trans, a, tau, c, 64 * max(c.shape))[0],)


def _singular_values(name: str) -> _Routine:
    def routine(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
        full, vectors = _is(given, "mode", "A"), not _is(given, "mode", "N")
        u, s, vt, info = find(name)(a, compute_uv=int(vectors), full_matrices=int(full))
        return (0, s, u, vt, info) if vectors else (0, s, 0, 0, info)

    return routine


def _syevd(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    name = "heevd" if np.iscomplexobj(a) else "syevd"
    vectors = int(_is(given, "mode", "V"))
    w, v, info = find(name)(a, compute_v=vectors, lower=int(_is(given, "uplo", "L")))
    return v if vectors else 0, w, info


def _geev(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    sides = [_is(given, name, "V") for name in ("compute_left", "compute_right")]
    *values, left, right, info = find("geev")(a, compute_vl=int(sides[0]), compute_vr=int(sides[1]))
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


def _gees(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    vectors = int(_is(given, "mode", "V"))
    t, selected, *values, v, _, info = find("gees")(lambda *_: None, a, compute_v=vectors)
    return t, v if vectors else 0, *values, selected, info


def _gehrd(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    return tuple(find("gehrd")(a, given["low"] - 1, given["high"] - 1))


def _sytrd(find: _Find, given: _Settings, a: NumpyArray) -> tuple[Any, ...]:
    name = "hetrd" if np.iscomplexobj(a) else "sytrd"
    return tuple(find(name)(a, lower=int(_is(given, "uplo", "L"))))


def _gtsv(
    find: _Find, given: _Settings, low: NumpyArray, d: NumpyArray, up: NumpyArray, b: NumpyArray
) -> tuple[Any, ...]:
    x, info = find("gtsv")(low[1:], d, up[:-1], b)[-2:]
    return 0, 0, 0, x, info


_ROUTINES: Final[dict[str, tuple[_Routine, int]]] = {
    "geev": (_geev, 2), "gees": (_gees, 2), "gehrd": (_gehrd, 2), "geqp3": (_geqp3, 2),
    "geqrf": (_geqrf, 2), "gesdd": (_singular_values("gesdd"), 2),
    "gesvd": (_singular_values("gesvd"), 2), "getrf": (_getrf, 2), "gtsv": (_gtsv, 1),
    "heevd": (_syevd, 2), "hetrd": (_sytrd, 2), "orgqr": (_orgqr, 2), "ormqr": (_ormqr, 2),
    "potrf": (_potrf, 2), "syevd": (_syevd, 2), "sytrd": (_sytrd, 2), "trsm": (_trsm, 2),
    "ungqr": (_orgqr, 2), "unmqr": (_ormqr, 2),
}  # fmt: skip
"""Routines, and how many dimensions one of their first operand has."""


def _custom_call(letter: str, routine: _Routine, rank: int) -> Callable[..., Any]:
    def call(instruction: HloInstruction, *operands: NumpyArray) -> Any:
        find = _finder(instruction, letter)
        given = {
            name: int(value) if value[-1].isdigit() else int(value == "true")
            for name, value in _SETTING.findall(str(instruction.get("backend_config") or ""))
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
                found = routine(find, given, *[operand[place] for operand in operands])
                for result, part in zip(results, found, strict=False):
                    result[place] = part
            except (IndexError, KeyError, TypeError, ValueError) as error:
                raise refuse(instruction, f"operands or settings do not fit: {error!r}") from error
        return tuple(results) if shape.is_tuple else results[0]

    return call


def _finder(instruction: HloInstruction, letter: str) -> _Find:
    """Return what finds SciPy's routines for an element type."""
    try:
        import scipy.linalg  # noqa: PLC0415
    except ImportError as error:
        raise refuse(instruction, "calls LAPACK, for which SciPy is needed") from error
    places = scipy.linalg.blas, scipy.linalg.lapack

    def find(name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(places[name != "trsm"], letter + name)
        return found

    return find


def _targets() -> dict[str, Callable[..., Any]]:
    return {
        f"lapack_{letter}{name}_ffi": _custom_call(letter, routine, rank)
        for name, (routine, rank) in _ROUTINES.items()
        for letter in "sdcz"
    }


LAPACK: Final[dict[str, Callable[..., Any]]] = _targets()
"""What targets of custom calls do."""
