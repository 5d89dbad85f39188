"""Devices that run one program together, as threads.

A device is a replica and a partition; its number is ``replica * partitions + partition``.  At a
collective every device brings its value, waits for the others, and computes its own result from all
of them: a rendezvous, so programs in which devices part ways are found and refused.
"""

from __future__ import annotations

import threading
from typing import Any

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

    __slots__ = ("device", "meeting")

    def __init__(self, meeting: Meeting, device: int) -> None:
        self.meeting, self.device = meeting, device

    @property
    def replica(self) -> int:
        """Number of the replica."""
        return self.device // self.meeting.partitions

    @property
    def partition(self) -> int:
        """Number of the partition."""
        return self.device % self.meeting.partitions

    def exchange(self, instruction: HloInstruction, value: Any) -> list[Any]:
        """Return what every device brought to this instruction."""
        return self.meeting.exchange(self.device, instruction, value)

    def group(self, instruction: HloInstruction) -> list[int]:
        """Return the devices that work together with this one, in order."""
        groups: ReplicaGroups = instruction.get("replica_groups") or ReplicaGroups()
        listed = groups.expanded()
        replicas, partitions = self.meeting.replicas, self.meeting.partitions
        channel = instruction.get("channel_id") is not None
        if channel and instruction.get("use_global_device_ids"):
            own, whole = self.device, self.meeting.count
            spread = {number: [number] for number in range(whole)}
        elif channel and instruction.opcode in ("all-to-all", "collective-broadcast"):
            own, whole = self.partition, partitions
            base = self.replica * partitions
            spread = {number: [base + number] for number in range(whole)}
        elif channel:
            own, whole = self.replica, replicas
            spread = {n: [n * partitions + p for p in range(partitions)] for n in range(whole)}
        else:
            own, whole = self.replica, replicas
            spread = {n: [n * partitions + self.partition] for n in range(whole)}
        mine = next((list(group) for group in listed if own in group), None)
        members = mine if mine is not None else ([own] if listed else list(range(whole)))
        return [device for number in members for device in spread.get(number, [])]
