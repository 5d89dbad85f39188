"""Bytes that may be read here and are written through another buffer."""

from __future__ import annotations

from .buffer import Buffer
from .snapshots import Snapshot


class Shield(Buffer):
    """The bytes of another buffer, which is its owner, not to be written here.

    Expressions over it wait for the owner's snapshot, so writing through the owner asks for nothing
    more than it does without.
    """

    __slots__ = ()

    owner: Buffer

    def __init__(self, owner: Buffer) -> None:
        memory = owner._memory.view()
        memory.flags.writeable = False
        super().__init__(memory, owner._start, owner.address, owner.nbytes, True, owner)

    def snapshot(self) -> Snapshot:
        """Return the owner's current snapshot."""
        return self.owner.snapshot()

    def _known(self) -> Snapshot | None:
        return self.owner._known()

    def share(self) -> None:
        """Note that the memory is given to others."""
        self.owner.share()
