"""What the kernel caches hold, for users and tests."""

from __future__ import annotations

from dataclasses import dataclass

from ..codegen import store
from ..codegen.kernel import kernels
from ..ir.kind import forget_programs
from .counting import reuses
from .evaluate import clear_programs


@dataclass(frozen=True, slots=True)
class CacheState:
    """Counts of this process and of the cache directory.

    Attributes
    ----------
    kernels : int
        Kernels in memory.
    compiled, loaded : int
        How many of this process's kernels were compiled, and how many came from disk.
    disk : CacheInfo
        State of the directory.
    """

    kernels: int
    compiled: int
    loaded: int
    disk: store.CacheInfo


def cache_info() -> CacheState:
    """Return how many kernels are in memory and on disk, and where they came from.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.cache_info().kernels >= 0
    True
    """
    return CacheState(len(kernels), kernels.compiled, kernels.loaded, store.cache_info())


def cache_clear(*, disk: bool = False) -> None:
    """Forget plans and kernels in memory and, if ``disk``, those in the cache directory.

    Parameters
    ----------
    disk : bool, default False
        Also delete the files.

    Examples
    --------
    >>> import xarraylite as xl
    >>> xl.cache_clear()
    >>> xl.cache_info().kernels
    0
    """
    clear_programs()
    forget_programs()
    kernels.clear()
    reuses.value = 0
    if disk:
        store.clear()
