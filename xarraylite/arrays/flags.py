"""`Flags`: what NumPy programs ask of an array's memory under ``a.flags``."""

from __future__ import annotations

from typing import Any

#: NumPy's short names.
_SHORT = {"C": "C_CONTIGUOUS", "F": "F_CONTIGUOUS", "W": "WRITEABLE", "O": "OWNDATA"}
_SHORT |= {"A": "ALIGNED", "X": "WRITEBACKIFCOPY"}
_SHORT |= {"CONTIGUOUS": "C_CONTIGUOUS", "FORTRAN": "F_CONTIGUOUS"}


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

    @property
    def c_contiguous(self) -> bool:
        """Row-major without gaps."""
        return self._lies("is_row_major")

    @property
    def f_contiguous(self) -> bool:
        """Column-major without gaps."""
        return self._lies("is_column_major")

    contiguous, fortran = c_contiguous, f_contiguous

    @property
    def forc(self) -> bool:
        """Row-major or column-major without gaps."""
        return self.c_contiguous or self.f_contiguous

    @property
    def fnc(self) -> bool:
        """Column-major and not row-major."""
        return self.f_contiguous and not self.c_contiguous

    @property
    def owndata(self) -> bool:
        """Whether it is no view."""
        return self._array.base is None

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

    @property
    def aligned(self) -> bool:
        """Always: elements lie at multiples of their size."""
        return True

    @property
    def writebackifcopy(self) -> bool:
        """Never: no array is a copy that is written back to another."""
        return False

    @property
    def behaved(self) -> bool:
        """Aligned and writeable."""
        return self.writeable

    @property
    def carray(self) -> bool:
        """Row-major without gaps, and writeable."""
        return self.c_contiguous and self.writeable

    @property
    def farray(self) -> bool:
        """Column-major without gaps, not row-major, and writeable."""
        return self.fnc and self.writeable

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
