"""Optional libraries: imported when they are needed, with a message that names the extra."""

from __future__ import annotations

import importlib
from typing import Any


def imported(module: str, extra: str) -> Any:
    """Return a module of an optional library.

    Raises
    ------
    ImportError
        If it is not installed; the message says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module} is needed for this and not installed: pip install xarraylite[{extra}]"
        ) from error


def lacking(told: str, path: str, error: ImportError) -> ImportError:
    """Return the error of an operation on a path for which a library is not installed."""
    scheme = path.partition("://")[0].replace("https", "http")  # as fsspec calls its extras
    more = f"; pip install xarraylite[zarr] fsspec[{scheme}]" if "://" in path else ""
    return ImportError(f"{told}: {error}{more}")
