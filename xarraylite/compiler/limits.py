"""From which size on work is done in another way; each was measured where it is used."""

from __future__ import annotations

#: Steps below this cost, an eighth of a millisecond, are launched and written at once, with the
#: interpreter's lock held: nobody waits long for them.
PARALLEL_FROM = 1 << 20

#: Steps from this cost on, some 0.3 to 0.5 milliseconds, are shared among threads.  It takes 30 to
#: 90 us until another thread has woken up and taken the interpreter's lock, and again when the
#: lock goes back, and it reads what lies in the first one's cache.
SHARED_FROM = 1 << 22

#: Destinations that have this many bytes together with what is read are stored past the caches
#: (`Mode.NONTEMPORAL`).  Below, all of it stays in the last cache, whoever reads it next.
STREAM_BYTES = 18 << 20

#: Destinations from this many bytes on are planned where an operand lies in another order of
#: dimensions, so that neighbours in memory are read and written together; below, caches do that.
ACROSS_BYTES = 1 << 18

#: Elements from which on kernels try what takes a little less time for most arguments: vectors of
#: the code for all arguments are made beside it, which takes LLVM 30 ms longer.
NEAR_FROM = 1 << 16

#: Elements of one fixed part of a reduction with few results.
CHUNK = 1 << 17

#: Elements of one fixed part of a reduction with many results: 1 ms, of many operations 100.
LONG_RESULT = 1 << 19

#: Cost of what runs without a look at signals: about 10 ms.
LONG_CHUNK = 1 << 24
