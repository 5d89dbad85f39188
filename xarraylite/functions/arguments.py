"""Checks of arguments that are no arrays: numbers, flags, devices.

They are made when an expression is written, so that what is wrong is not found in the middle of
its evaluation, and so that the message names the function.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .._errors import DTypeError, TracedValueError


def flag(value: Any, operation: str, name: str) -> bool:
    """Return a bool, or an integer taken as one.

    Raises
    ------
    DTypeError
        For anything else.
    """
    try:
        return bool(value) if isinstance(value, np.bool_) else operator.index(value) != 0
    except TracedValueError:
        raise
    except TypeError:
        raise DTypeError(f"{operation}: {name} must be a bool, got {value!r}") from None


def whole(value: Any, operation: str, name: str, *, cut: bool = False) -> int:
    """Return an integer, as which a container of one counts.

    Parameters
    ----------
    value : int or array
        The argument.
    operation, name : str
        The function and its parameter, for the message.
    cut : bool
        Whether floats lose their fractions, as NumPy has it in some functions.

    Raises
    ------
    DTypeError
        For anything else.
    """
    try:
        if cut and isinstance(value, (float, np.floating)) and math.isfinite(value):
            return int(value)
        return operator.index(value)
    except TracedValueError:
        raise
    except TypeError:
        raise DTypeError(f"{operation}: {name} must be an integer, got {value!r}") from None


def check_mask(where: Any, operation: str) -> None:
    """Refuse an array that says which elements count, if it is not of bool; of lists it is made.

    Raises
    ------
    DTypeError
        If it is of another dtype.
    """
    dtype = getattr(where, "dtype", None)
    if dtype is not None and dtype != np.bool_:
        raise DTypeError(f"{operation}: where must be bool, got {dtype}")


def check_numbers(operation: str, kind: type[float | complex], **values: Any) -> None:
    """Refuse arguments that are no numbers; arrays of one element are.

    Parameters
    ----------
    operation : str
        The function, for the message.
    kind : type
        float for real numbers, complex for all.
    **values
        The arguments by their names.

    Raises
    ------
    DTypeError
        Naming the first that is no number.
    """
    for name, value in values.items():
        try:
            if isinstance(value, (str, bytes)):  # float() would read a number in them
                raise TypeError
            kind(value)
        except TracedValueError:
            raise
        except (TypeError, ValueError):
            wanted = "a real number" if kind is float else "a number"
            raise DTypeError(f"{operation}: {name} must be {wanted}, got {value!r}") from None


def check_device(device: str | None, operation: str) -> None:
    """Refuse any device but the CPU.

    Raises
    ------
    ValueError
        If ``device`` is another one.
    """
    if device not in (None, "cpu"):
        raise ValueError(f"{operation}: the only device is 'cpu', got {device!r}")
