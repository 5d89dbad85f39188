"""Locks that outlive a fork: a child makes them anew.

Another thread of the parent may have held a lock when it forked; in the child nobody would ever
give it back.
"""

from __future__ import annotations

import os
import threading


class ForkLock:
    """A re-entrant lock, for signal handlers and finalisers that interrupt the thread holding it.

    Attributes
    ----------
    held : threading.RLock
        The lock of this process, which ``with`` statements take.
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self.held = threading.RLock()
