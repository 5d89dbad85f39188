"""The element types of XLA's shapes, and the dtypes that hold their values.

XLA numbers its primitive types and names them by kind and *bits*: ``s4`` and ``u4`` are 4-bit
integers here, while NumPy's codes of the same spelling count bytes.  Elements narrower than a
byte take a whole byte each unless a layout says otherwise (``element_size_in_bits``).

Five types describe no array: tuples, tokens, opaque values and buffers, which are kinds of
shapes, and the number 0, which stands for a field that is not set.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from .._errors import DTypeError
from .._records import record
from .names import SUPPORTED, DType, as_dtype, dtype_name, xla_name


@record(frozen=True, slots=True, eq=False)
class ElementType:
    """One of XLA's primitive types; there is one object per type.

    Attributes
    ----------
    name : str
        Lower-case name as in text: ``"bf16"``.
    number : int
        Value of XLA's ``PrimitiveType`` enumeration, as protocol buffers store it.
    bits : int
        Bits of information in an element: 1 for ``pred``, 4 for ``s4``; 0 for no array type.
    dtype : numpy.dtype or None
        The dtype whose arrays hold such elements, where there is one.

    Examples
    --------
    >>> from xarraylite.dtypes.element_types import element_type
    >>> bf16 = element_type("bf16")
    >>> bf16.number, bf16.bits, bf16.storage_bytes, bf16.dtype
    (16, 16, 2, dtype(bfloat16))
    """

    name: str
    number: int
    bits: int
    dtype: DType | None

    @property
    def storage_bytes(self) -> int:
        """Bytes of an element in a layout that does not say otherwise; 0 for no array type."""
        return (self.bits + 7) // 8

    @property
    def enum(self) -> int:
        """The same as `number`."""
        return self.number

    @property
    def is_array(self) -> bool:
        """Whether arrays have such elements."""
        return self.bits != 0

    @property
    def is_integral(self) -> bool:
        """Whether the elements are integers of any width; ``pred`` is not."""
        return self.is_array and self.name[0] in "su"

    @property
    def is_unsigned(self) -> bool:
        """Whether the elements are integers without a sign."""
        return self.is_array and self.name[0] == "u"

    @property
    def is_floating(self) -> bool:
        """Whether the elements are real floating-point numbers."""
        return self.is_array and self.name[0] in "fb"

    @property
    def is_complex(self) -> bool:
        """Whether the elements are complex numbers."""
        return self.is_array and self.name[0] == "c"

    @property
    def is_sub_byte_non_pred(self) -> bool:
        """Whether the elements are narrower than a byte and can be packed; ``pred`` cannot."""
        return 0 < self.bits < 8 and self.name != "pred"

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"element_type({self.name!r})"

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return _by_name, (self.name,)


# By XLA's numbers, which count from 0; digits behind the first letters are bits.
_NAMES = (
    *("invalid", "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64"),
    *("f16", "f32", "f64", "tuple", "opaque", "c64", "bf16", "token", "c128"),
    *("f8e5m2", "f8e4m3fn", "s4", "u4", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz", "s2", "u2"),
    *("f8e4m3", "f8e3m4", "s1", "u1", "f4e2m1fn", "f8e8m0fnu", "buffer", "f6e3m2fn", "f6e2m3fn"),
)
_DTYPES = {xla_name(dt): dt for dt in SUPPORTED}


def _bits(name: str) -> int:
    found = re.match("[a-z]+([0-9]+)", name)
    return int(found[1]) if found else int(name == "pred")


ELEMENT_TYPES: Final = MappingProxyType(
    {
        name: ElementType(name, number, _bits(name), _DTYPES.get(name))
        for number, name in enumerate(_NAMES)
    }
)
"""Every element type by its name, the five that describe no array included."""

ELEMENT_TYPES_BY_NUMBER: Final = MappingProxyType(
    {kind.number: kind for kind in ELEMENT_TYPES.values()}
)
"""Every element type by its number in XLA's enumeration."""

ARRAY_TYPES: Final = MappingProxyType(
    {name: kind for name, kind in ELEMENT_TYPES.items() if kind.is_array}
)
"""The element types that arrays can have, by name."""


def element_type(x: object) -> ElementType:
    """Return XLA's element type that `x` names.

    Parameters
    ----------
    x : ElementType, str, dtype or scalar type
        A name, where XLA's reading holds (``"u4"`` is four bits), else any name or object of
        a dtype (``"float32"``, ``np.int8``, ``ml_dtypes.bfloat16``).

    Raises
    ------
    DTypeError
        If XLA has no such element type.

    Examples
    --------
    >>> import numpy as np
    >>> from xarraylite.dtypes.element_types import element_type
    >>> element_type("u4").bits, element_type(np.float64).name
    (4, 'f64')
    """
    if isinstance(x, ElementType):
        return x
    if isinstance(x, str) and x in ELEMENT_TYPES:
        return ELEMENT_TYPES[x]
    try:
        if x is None:
            raise DTypeError("None names no type here, where NumPy takes it for float64")
        dt = as_dtype(x)
    except DTypeError:
        known = " ".join(ELEMENT_TYPES)
        raise DTypeError(
            f"element_type: {x!r:.80} is neither a dtype nor one of XLA's types: {known}"
        ) from None
    found = ELEMENT_TYPES.get(xla_name(dt))
    if found is None:  # a dtype that is newer than the table
        raise DTypeError(f"element_type: XLA has no element type for {dtype_name(dt)}")
    return found


def _by_name(name: str) -> ElementType:
    return ELEMENT_TYPES[name]
