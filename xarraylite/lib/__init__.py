"""Names that NumPy keeps under ``numpy.lib``.

`stride_tricks` and `recfunctions` are what programs use of it.  Everything here is a function of
another room, or NumPy's of records.  It is imported when somebody asks for it; no module of the
package does.
"""

from __future__ import annotations

from . import recfunctions, stride_tricks

__all__ = ["recfunctions", "stride_tricks"]
