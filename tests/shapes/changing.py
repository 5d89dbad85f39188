"""Arrays that change while they are looked at, as those of another thread may."""

from __future__ import annotations

from typing import Any

import numpy as np


class Changing(np.ndarray[Any, Any]):
    """An array whose memory holds another value as soon as its extremes have been asked for."""

    later: int = 10**9

    def min(self, *args: Any, **kwargs: Any) -> Any:
        least = np.asarray(self).min(*args, **kwargs)
        self[...] = self.later
        return least

    def max(self, *args: Any, **kwargs: Any) -> Any:
        largest = np.asarray(self).max(*args, **kwargs)
        self[...] = self.later
        return largest


def changing(values: Any, dtype: Any = np.int64) -> Any:
    """Return an array that is good when it is checked and bad afterwards."""
    return np.array(values, dtype).view(Changing)
