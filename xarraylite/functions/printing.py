"""How many digits and elements are printed: NumPy's options, which are ours too.

Values are printed by NumPy, so its settings hold for both.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    suppress: bool | None = None,
    **options: Any,
) -> None:
    """Set how arrays are printed, here and in NumPy, until it is set again.

    Parameters
    ----------
    precision : int, optional
        Digits after the point.
    threshold : int, optional
        Elements from which an array is summarised.
    edgeitems : int, optional
        Elements that a summary shows at both ends of each dimension.
    linewidth : int, optional
        Characters in a line.
    suppress : bool, optional
        Whether small numbers are printed without an exponent.
    **options
        NumPy's others: ``nanstr``, ``infstr``, ``formatter``, ``sign``, ``floatmode``, ``legacy``.

    Examples
    --------
    >>> import xarraylite as xl
    >>> digits = xl.get_printoptions()["precision"]
    >>> xl.set_printoptions(precision=3)
    >>> xl.asarray([1 / 3])
    XArray([0.333])
    >>> xl.set_printoptions(precision=digits)
    """
    np.set_printoptions(precision, threshold, edgeitems, linewidth, suppress, **options)


def get_printoptions() -> dict[str, Any]:
    """Return how arrays are printed: NumPy's options by their names.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.get_printoptions()["edgeitems"]
    3
    """
    return dict(np.get_printoptions())


def printoptions(**options: Any) -> AbstractContextManager[dict[str, Any]]:
    """Set how arrays are printed inside a ``with``; parameters as for `set_printoptions`.

    Examples
    --------
    >>> import xarraylite as xl
    >>> with xl.printoptions(precision=2):
    ...     print(xl.asarray([1 / 3, 2 / 3]))
    [0.33 0.67]
    """
    return np.printoptions(**options)  # type: ignore[return-value]
