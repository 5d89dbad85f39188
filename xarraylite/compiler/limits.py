"""From which size on work is done in another way; each was measured where it is used."""

from __future__ import annotations

#: Steps below this cost, an eighth of a millisecond, run on the calling thread at once: waking
#: another takes about 90 us.
PARALLEL_FROM = 1 << 20

#: Destinations that have this many bytes together with what is read are stored past the caches
#: (`Mode.NONTEMPORAL`).  Below, all of it stays in the last cache, whoever reads it next.
STREAM_BYTES = 18 << 20

#: Destinations from this many bytes on are planned where an operand lies in another order of
#: dimensions, so that neighbours in memory are read and written together; below, caches do that.
ACROSS_BYTES = 1 << 18

#: Elements of one fixed part of a reduction with few results.
CHUNK = 1 << 17

#: Cost of what one result is folded from without a look at signals: about 10 ms.
LONG_CHUNK = 1 << 24
