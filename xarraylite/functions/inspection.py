"""What this namespace supports, in the standard's form."""

from __future__ import annotations

from ..dtypes.info import NamespaceInfo


def __array_namespace_info__() -> NamespaceInfo:
    """Return the array API's inspection object for this namespace."""
    return NamespaceInfo()
