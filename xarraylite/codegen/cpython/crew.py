"""Threads that take pieces of one job without the interpreter's lock; `runtime.loops` has the rest.

A crew and a job are words.  Those that several threads change are changed at once, in one order
that all of them see.
"""

from __future__ import annotations

from . import outside as c
from .api import add_to, call_at, exchange, load, look, scratch, store

#: Where a crew has its words, behind the number of the next piece: how many there are, how many
#: helpers are at work, whether there is a caller, whether that sleeps, and on which lock; the job,
#: and for each helper whether it sleeps, and on which lock.
COUNT, ACTIVE, CALLER, WAITS, LOCK, JOB, HELPERS = 8, 16, 24, 32, 40, 48, 160

#: Where a job has its words, behind the loop: data, places, counts and steps of `runtime.loops`.
DATA, PLACES, EACH, WHOLE, WIDE, END, STEPS, JOB_BYTES = 8, 16, 40, 48, 56, 64, 72, 112

#: Where a request has whom it is of (nobody, or a helper's words), how many helpers to wake, how
#: many pieces there are, and the job.
HELPER, WANTED, PIECES, JOB_OF = 8, 16, 24, 32

#: What a helper's word says while it is at work, sleeps (or is about to), or was called meanwhile.
AWAKE, ASLEEP, CALLED = 0, 1, 2

#: The next piece's number while there is no job.
CLOSED = 1 << 40

#: How often a caller looks whether it is alone before it sleeps: some ten microseconds.
LOOKS = 1 << 14


def opened(crew: int, request: int) -> int:
    """Begin a job: its words first, the number of its first piece last."""
    c.memcpy(crew + JOB, request + JOB_OF, JOB_BYTES)
    exchange(crew + COUNT, load(request + PIECES))
    return exchange(crew, 0)


def worked(crew: int) -> int:
    """Do pieces as long as there are any."""
    job, block = crew + JOB, scratch()
    k = add_to(crew, 1)
    while k < look(crew + COUNT):
        each, whole = load(job + EACH), load(job + WHOLE)
        begin, inner = k * each, load(job + WIDE)
        outer = min(each, whole - begin)
        if k == look(crew + COUNT) - 1:
            begin, outer, inner = whole, 1, load(job + END)
        arguments, extents = block + 64, block + 88
        for n in range(3):
            behind = begin * load(job + STEPS + 8 * n)
            store(arguments + 8 * n, load(job + PLACES + 8 * n) + behind)
        store(extents, outer)
        store(extents + 8, inner)
        store(block, arguments)
        store(block + 8, extents)
        store(block + 16, job + STEPS)
        store(block + 24, load(job + DATA))
        call_at(load(job), block)
        k = add_to(crew, 1)
    return 0


def served(crew: int, helper: int) -> int:
    """Be a helper, who sleeps until it is woken for a job, as long as the process lives."""
    while load(helper + 8) != 0:
        # Whoever was called before it slept takes the mark back; who cannot is owed a release.
        if exchange(helper, ASLEEP) != CALLED or exchange(helper, AWAKE) != ASLEEP:
            c.PyThread_acquire_lock(load(helper + 8), 1)
            exchange(helper, AWAKE)
        add_to(crew + ACTIVE, 1)
        worked(crew)
        if add_to(crew + ACTIVE, -1) == 1 and exchange(crew + WAITS, 0) == 1:
            c.PyThread_release_lock(load(crew + LOCK))
    return 0


def awaited(crew: int) -> int:
    """Return when no helper is at work."""
    looks = 0
    while look(crew + ACTIVE) != 0:
        looks += 1
        if looks == LOOKS:
            looks = 0
            exchange(crew + WAITS, 1)
            # Who takes the mark back owes nobody a lock; a helper that has taken it releases one.
            if look(crew + ACTIVE) != 0 or exchange(crew + WAITS, 0) == 0:
                c.PyThread_acquire_lock(load(crew + LOCK), 1)
    return 0


def requested(request: int) -> int:
    """Do a job, with helpers where the crew has no other caller; or be one of them."""
    crew, helper, wanted = load(request), load(request + HELPER), load(request + WANTED)
    if helper != 0:
        return served(crew, helper)
    if wanted == 0 or exchange(crew + CALLER, 1) != 0:
        alone = scratch()
        opened(alone, request)
        return worked(alone)
    opened(crew, request)
    for k in range(wanted):
        helper = crew + HELPERS + 16 * k
        if exchange(helper, CALLED) == ASLEEP:
            c.PyThread_release_lock(load(helper + 8))
    worked(crew)
    exchange(crew, CLOSED)
    awaited(crew)
    return exchange(crew + CALLER, 0) - 1
