"""Names that NumPy keeps under ``numpy.lib``.

`stride_tricks` is what programs use of it.  Everything here is a function of another room.  It is
imported when somebody asks for it; no module of the package does.
"""

from __future__ import annotations

from . import stride_tricks

__all__ = ["stride_tricks"]
