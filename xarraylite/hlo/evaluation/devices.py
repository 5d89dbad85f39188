"""Devices that run one program together, as threads.

A device is a replica and a partition; its number is ``replica * partitions + partition``.  At a
collective every device brings its value, waits for the others, and computes its own result from all
of them: a rendezvous, so programs in which devices part ways are found and refused.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._errors import HloError
from ..instruction import HloInstruction
from ..values import ReplicaGroups


class Meeting:
    """Where a number of devices exchange values.

    Parameters
    ----------
    replicas, partitions : int
        How many there are of each.
    """

    def __init__(self, replicas: int, partitions: int) -> None:
        self.replicas, self.partitions = replicas, partitions
        self.count = replicas * partitions
        self.barrier = threading.Barrier(self.count)
        self.brought: list[tuple[HloInstruction | None, Any]] = [(None, None)] * self.count

    def exchange(self, device: int, instruction: HloInstruction | None, value: Any) -> list[Any]:
        """Bring a value, and return those of all devices.

        Raises
        ------
        HloError
            If another device brought the value of another instruction.
        threading.BrokenBarrierError
            If another device failed.
        """
        if self.count == 1:
            return [value]
        self.brought[device] = (instruction, value)
        self.barrier.wait()
        brought = list(self.brought)
        self.barrier.wait()
        if any([other is not instruction for other, _ in brought]):
            names = [other.name if other is not None else "the end" for other, _ in brought]
            raise HloError(f"the devices are at different places: {', '.join(names)}")
        return [value for _, value in brought]


class Seat:
    """One device of a meeting."""

    __slots__ = ("device", "meeting", "partition", "replica")

    def __init__(self, meeting: Meeting, device: int) -> None:
        self.meeting, self.device = meeting, device
        self.replica, self.partition = divmod(device, meeting.partitions)

    def exchange(self, instruction: HloInstruction, value: Any) -> list[Any]:
        """Return what every device brought to this instruction."""
        return self.meeting.exchange(self.device, instruction, value)

    def group(self, instruction: HloInstruction) -> list[int]:
        """Return the devices that work together with this one, in order."""
        groups: ReplicaGroups = instruction.get("replica_groups") or ReplicaGroups()
        listed = groups.expanded()
        grid = np.arange(self.meeting.count).reshape(self.meeting.replicas, -1)
        channel = instruction.get("channel_id") is not None
        # Groups are of numbers, each of which is the number of a row of devices.
        own, rows = self.replica, grid if channel else grid[:, [self.partition]]
        if channel and instruction.get("use_global_device_ids"):
            own, rows = self.device, grid.reshape(-1, 1)
        elif channel and instruction.opcode in ("all-to-all", "collective-broadcast"):
            own, rows = self.partition, grid[self.replica].reshape(-1, 1)
        others = [own] if listed else range(len(rows))
        members: Iterable[int] = next((group for group in listed if own in group), others)
        return [device for n in members if 0 <= n < len(rows) for device in rows[n].tolist()]
