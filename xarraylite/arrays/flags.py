"""`Flags`: what NumPy programs ask of an array's memory under ``a.flags``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

#: NumPy's short names.
_SHORT = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "W": "WRITEABLE", "O": "OWNDATA"}
_SHORT |= {"A": "ALIGNED", "X": "WRITEBACKIFCOPY"}
_SHORT |= {"CONTIGUOUS": "C_CONTIGUOUS", "FORTRAN": "F_CONTIGUOUS"}


def _flag(ask: Callable[[Any], bool], meaning: str) -> Any:
    """Return the property of one flag."""
    return property(ask, doc=meaning)


class Flags:
    """How an array's memory lies, by NumPy's names: attributes, or keys in capitals.

    Parameters
    ----------
    array : ArrayObject
        The array that is asked.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.zeros((2, 3))
    >>> a.flags.c_contiguous, a.T.flags["F_CONTIGUOUS"], a[:, 1].flags.owndata
    (True, True, False)
    """

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def _lies(self, question: str) -> bool:
        """Ask the map of a container; a lazy result gets memory of its own, as its operands lie."""
        place = getattr(self._array, "map", None)
        if place is None and self._array.ndim > 1 and hasattr(self._array, "strides"):
            place = self._array._target().map
        if place is None:
            return question == "is_row_major" or self._array.ndim < 2
        return bool(getattr(place, question, bool)())  # tiles are neither

    c_contiguous = _flag(lambda f: f._lies("is_row_major"), "Row-major without gaps.")
    f_contiguous = _flag(lambda f: f._lies("is_column_major"), "Column-major without gaps.")
    contiguous, fortran = c_contiguous, f_contiguous
    forc = _flag(lambda f: f.c_contiguous or f.f_contiguous, "Without gaps, in either order.")
    fnc = _flag(lambda f: f.f_contiguous and not f.c_contiguous, "Column-major, not row-major.")
    owndata = _flag(lambda f: f._array.base is None, "Whether it is no view.")
    aligned = _flag(lambda f: True, "Always: elements lie at multiples of their size.")
    writebackifcopy = _flag(lambda f: False, "Never: no array is written back to another.")
    behaved = _flag(lambda f: f.writeable, "Aligned and writeable.")
    carray = _flag(lambda f: f.c_contiguous and f.writeable, "Row-major and writeable.")
    farray = _flag(lambda f: f.fnc and f.writeable, "Column-major, not row-major, and writeable.")

    @property
    def writeable(self) -> bool:
        """Whether elements can be assigned through this array, and views of it made from now on.

        Raises
        ------
        ValueError
            If it is set for memory that is itself read-only.
        """
        return not getattr(self._array, "readonly", False)

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self._array._target()._protect(not value)

    def __setitem__(self, key: str, value: bool) -> None:
        """Set ``WRITEABLE``, or ``W``."""
        if _SHORT.get(key, key) != "WRITEABLE":
            raise KeyError(f"flags: {key!r} cannot be set")
        self.writeable = value

    def __getitem__(self, key: str) -> bool:
        """Return a flag by NumPy's name in capitals, or its letter."""
        name = _SHORT.get(key, key)
        if not name.isupper() or not hasattr(self, name.lower()):
            raise KeyError(f"flags: there is no flag {key!r}")
        return bool(getattr(self, name.lower()))

    def __eq__(self, other: object) -> bool:
        """Tell whether all that NumPy's flags print is the same."""
        return repr(self) == repr(other) if isinstance(other, Flags) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ["C_CONTIGUOUS", "F_CONTIGUOUS", "OWNDATA", "WRITEABLE", "ALIGNED"]
        names.append("WRITEBACKIFCOPY")
        return "".join([f"  {name} : {self[name]}\n" for name in names])
