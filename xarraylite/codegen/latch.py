"""An event that is set once, and that no interrupt, finaliser or fork can leave half-made.

`threading.Event` and `threading.Condition` are Python code around a lock.  A Ctrl-C can arrive
after the lock was taken and before anybody is responsible for giving it back; from then on the
event blocks whoever touches it.  A garbage collection inside that code may run a finaliser that
waits for the same event, with the same end.  So a `Latch` has no lock that two threads share:

* every wait makes a lock of its own, lists it, and only then looks whether the latch is set;
* setting writes the flag first and releases the listed locks afterwards.

Whichever comes first, one of the two sees the other.  A wait that is cut short leaves a lock
nobody looks at.
"""

from __future__ import annotations

import contextlib
import threading

#: Seconds after which a wait looks up: where no signal ends a wait for a lock (Windows), Ctrl-C is
#: seen then, and so is that a fork or the end of the process has taken away the other thread.
TICK = 0.05


class Latch:
    """Something that happens once, and that any number of threads wait for.

    Attributes
    ----------
    is_set : bool
        Whether it has happened.
    """

    __slots__ = ("_waiting", "is_set")

    def __init__(self) -> None:
        self.is_set = False
        self._waiting: list[threading.Lock] = []

    def set(self) -> None:
        """Let it happen; more than once does no harm."""
        self.is_set = True
        while self._waiting:
            try:
                self._waiting.pop().release()
            except IndexError:  # another thread sets it too
                return

    def wait(self, timeout: float = TICK) -> bool:
        """Wait until it has happened, at most ``timeout`` seconds; return whether it has."""
        if self.is_set:
            return True
        own = threading.Lock()
        own.acquire()
        self._waiting.append(own)
        if not self.is_set:
            own.acquire(timeout=timeout)
        if not self.is_set:
            with contextlib.suppress(ValueError):  # it is set in this very moment
                self._waiting.remove(own)
        return self.is_set
