"""Devices that run one program together, as threads, and the operations in which they meet.

A device is a replica and a partition; its number is ``replica * partitions + partition``.  At a
collective every device brings its value, waits for the others, and computes its own result from all
of them: a rendezvous, so programs in which devices part ways are found and refused.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np

from ..._errors import HloError
from ...functions.manipulation import concat
from ..instruction import HloInstruction
from ..values import ReplicaGroups
from .values import TOKEN, Evaluator, NumpyArray, Runner, Value, array, container, refuse, stored

__all__ = ["COLLECTIVES", "Meeting", "Seat"]


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
        self.brought: list[tuple[HloInstruction | None, Value]] = [(None, None)] * self.count

    def exchange(self, device: int, instruction: HloInstruction | None, value: Value) -> list[Value]:
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

    def exchange(self, instruction: HloInstruction, value: Value) -> list[Value]:
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


def _gathered(run: Runner, instruction: HloInstruction, operands: Sequence[Value]) -> list[Value]:
    """Return the operands of each device of the group."""
    brought = run.devices.exchange(instruction, tuple([stored(x) for x in operands]))
    return [brought[device] for device in run.devices.group(instruction)]


def _packed(found: Sequence[Value]) -> Value:
    return tuple(found) if len(found) > 1 else found[0]


def _reduced(run: Runner, instruction: HloInstruction, operands: Sequence[Value]) -> list[NumpyArray]:
    combine = run.batched(instruction.to_apply)
    results = []
    for parts in zip(*_gathered(run, instruction, operands), strict=True):
        result = array(parts[0])
        for part in parts[1:]:
            (result,) = combine(result, array(part))
        results.append(result)
    return results


def _all_reduce(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed([container(x) for x in _reduced(run, instruction, operands)])


def _reduce_scatter(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    members = run.devices.group(instruction)
    place = members.index(run.devices.device)
    found = []
    for whole in _reduced(run, instruction, operands):
        found.append(container(np.split(whole, len(members), axis)[place]))
    return _packed(found)


def _all_gather(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    (axis,) = instruction.get("dimensions")
    columns = zip(*_gathered(run, instruction, operands), strict=True)
    return _packed([stored(concat(parts, axis=axis)) for parts in columns])


def _all_gather_start(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed(operands), _all_gather(run, instruction, *operands)


def _all_to_all(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    parts = _gathered(run, instruction, operands)
    place = run.devices.group(instruction).index(run.devices.device)
    axes = instruction.get("dimensions")
    if axes:
        pieces = [np.split(array(part[0]), len(parts), axes[0])[place] for part in parts]
        return container(np.concatenate(pieces, axes[0]))
    return _packed([part[place] for part in parts]) if len(operands) > 1 else (parts[0][place],)


def _broadcast(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed(_gathered(run, instruction, operands)[0])


def _permute(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    brought = run.devices.exchange(instruction, tuple([stored(x) for x in operands]))
    devices = run.devices
    crosses = instruction.get("channel_id") is not None and devices.meeting.partitions > 1
    own = devices.partition if crosses else devices.replica
    sources = [pair[0] for pair in instruction.get("source_target_pairs") if pair[1] == own]
    if not sources:
        return _packed([container(np.zeros(x.shape, x.dtype)) for x in operands])
    shift = devices.device - own * (1 if crosses else devices.meeting.partitions)
    number = sources[0] * (1 if crosses else devices.meeting.partitions) + shift
    if number >= len(brought):
        return _packed([container(np.zeros(x.shape, x.dtype)) for x in operands])
    return _packed(brought[number])


def _permute_start(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    return _packed(operands), _permute(run, instruction, *operands), TOKEN, TOKEN


def _second(run: Runner, instruction: HloInstruction, started: Value) -> Value:
    return started[1]


def _same(run: Runner, instruction: HloInstruction, started: Value) -> Value:
    return started


def _ragged_all_to_all(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    """Send slices of rows to each device of the group, to the place that the sender names."""
    parts = _gathered(run, instruction, operands)
    place = run.devices.group(instruction).index(run.devices.device)
    made = np.array(array(operands[1]))
    for rows, _, offsets, sizes, targets, _ in parts:
        per = len(array(offsets)) // len(parts)
        for k in range(place * per, (place + 1) * per):
            start, size, target = [int(array(numbers)[k]) for numbers in (offsets, sizes, targets)]
            made[target : target + size] = array(rows)[start : start + size]
    return container(made)


def _number(name: str) -> Evaluator:
    def evaluator(run: Runner, instruction: HloInstruction) -> Value:
        return container(np.uint32(getattr(run.devices, name)))

    return evaluator


def _elsewhere(run: Runner, instruction: HloInstruction, *operands: Value) -> Value:
    raise refuse(instruction, "takes part in what goes on outside of the program")


COLLECTIVES: Final[dict[str, Evaluator]] = {
    "all-gather": _all_gather,
    "all-gather-done": _second,
    "all-gather-start": _all_gather_start,
    "all-reduce": _all_reduce,
    "all-reduce-done": _same,
    "all-reduce-start": _all_reduce,
    "all-to-all": _all_to_all,
    "collective-broadcast": _broadcast,
    "collective-permute": _permute,
    "collective-permute-done": _second,
    "collective-permute-start": _permute_start,
    "infeed": _elsewhere,
    "outfeed": _elsewhere,
    "partition-id": _number("partition"),
    "ragged-all-to-all": _ragged_all_to_all,
    "recv": _elsewhere,
    "recv-done": _elsewhere,
    "reduce-scatter": _reduce_scatter,
    "replica-id": _number("replica"),
    "send": _elsewhere,
    "send-done": _elsewhere,
}
"""Evaluators of operations in which devices meet, or the world outside."""
