"""Calls of BLAS through `numpy.matmul`: in pieces that can be interrupted, on threads as set.

Python handles Ctrl-C between two calls only, so a product that would take long is cut into
products of some of its rows, columns or stacked matrices.  How it is cut depends on the shapes
alone.

BLAS has threads of its own, and takes one for a small product: a stack of those is shared among
this package's threads.  Where the ``threads`` setting asks for fewer than the process may use,
they are capped for the length of a call, one call at a time: the cap belongs to the process.
Where BLAS was told to take no more in the first place (``OMP_NUM_THREADS``), calls do not wait;
that is asked once, before anything is capped.

On how many threads BLAS multiplies decides bits: each gets some rows or columns, and at their edges
it adds in another order.  Where no thread may change a bit (`pieces_on_one_thread`), a product is
cut into pieces by its shape, each is made by one thread, and this package's threads share them.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from time import perf_counter
from typing import Any

import numpy as np

from .._config import available_cores, settings
from .._locks import ForkLock, in_children
from ..dtypes.names import NumpyArray
from ..runtime.floating_errors import silently
from ..runtime.threads import pool

#: Multiplications after which a product is cut: a tenth of a second on a few cores.
UNINTERRUPTED = 1 << 31

#: Multiplications below which BLAS takes one thread for a product of matrices.
THREADED_FROM = 1 << 18

#: Multiplications of one piece where our own threads share a stack of such products.
GRAIN = 1 << 20

#: Multiplications of floats in a stack from which it is shared: 0.2 to 0.4 milliseconds, less than
#: which is done by the time another thread has woken up.  Other numbers take several times as long.
SHARED_FROM = 1 << 23

#: Elements of a dot product that one call of BLAS adds up; of double precision, which its threads
#: share from `_SPREAD` elements on, a part each.  They are a fraction of a millisecond's work.
DOT, _DOUBLE = 1 << 13, 1 << 20
_SPREAD = 10_001

#: BLAS's threads wait for each other, milliseconds where other programs have the cores.  A call is
#: late after so many seconds and one for so many bytes (a thread reads five times as many); then
#: as many dot products are made by one thread before the others are asked again.
_LATE, _SLOW, _PAUSE = 1e-4, 1 << 34, 128

#: Multiplications of a piece that one thread makes where no thread may change a bit.
PIECE = 1 << 28

#: Makes dot products of two operands, and writes them to a third if there is one.
_Dot = Callable[..., Any]

_ALL = slice(None)

_lock = ForkLock()

_cores = cache(available_cores)


class _Alone(threading.local):
    """Whether this thread's products are made in pieces on one thread each."""

    on = False


class _Cap:
    """Which threads need BLAS to take one thread, and what undoes that.

    Attributes
    ----------
    told : int
        How many threads BLAS takes by itself, as it was before anything was capped here; 0 where
        nobody has asked.
    parts : str
        Dtypes of the dot products that its threads make as `_in_parts` does.
    late : int
        How many dot products are to be made by one thread, as BLAS's were late.
    """

    told = 0
    parts = ""
    late = 0
    users: tuple[int, ...] = ()
    undo = contextlib.ExitStack()


_alone = _Alone()


@contextlib.contextmanager
def pieces_on_one_thread() -> Iterator[None]:
    """Multiply large matrices in pieces on one thread each: threads change no bit of a product."""
    _takes()
    with _one_thread():
        before, _alone.on = _alone.on, True
        try:
            yield
        finally:
            _alone.on = before


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Have BLAS take one thread, for any number of callers at a time."""
    with _lock.held:
        if _most() > 1:  # nobody has capped it, or others have lifted that
            _Cap.undo.enter_context(_controller().limit(limits=1))
        _Cap.users += (threading.get_ident(),)
    try:
        yield
    finally:
        with _lock.held:
            users = [*_Cap.users]
            users.remove(threading.get_ident())
            _uncap(users)


def _uncap(users: Iterable[int]) -> None:
    _Cap.users = tuple(users)
    if not _Cap.users:
        _Cap.undo.close()


@in_children
def _forget() -> None:
    """Let BLAS take all of its threads again, if those that needed one are not in this process."""
    _uncap([one for one in _Cap.users if one == threading.get_ident()])


def multiply(left: NumpyArray, right: NumpyArray, out: NumpyArray) -> None:
    """Write the products of stacked matrices to ``out``, which shares no memory with them.

    Parameters
    ----------
    left, right, out : ndarray
        Of one dtype, shapes ``(..., m, k)``, ``(..., k, n)`` and ``(..., m, n)``.  One row times
        one column are dot products.
    """
    one = out.shape[-2] * out.shape[-1] * left.shape[-1]
    if out.shape[-2:] == (1, 1) and left.shape[-1] > DOT and out.dtype.kind in "fc":
        long_dot(left[..., 0, :], right[..., 0], out[..., 0, 0])
    elif one < THREADED_FROM:
        parts = runs(out.shape[:-2], one)
        if len(parts) > 1:
            little = out.dtype.kind == "f" and out.size * left.shape[-1] < SHARED_FROM
            threads = 1 if little else settings.threads
            whole = [(*part, ..., _ALL, _ALL) for part in parts]
            pool.run(whole, lambda: lambda part: _multiply(left, right, out, part), threads)
        else:
            _multiply(left, right, out)
    elif _alone.on:
        cut = pieces(out.shape, left.shape[-1], PIECE)
        pool.run(cut, lambda: lambda part: _multiply(left, right, out, part), settings.threads)
    elif settings.threads < _cores() and _takes() > settings.threads:
        with _lock.held:
            _multiply_capped(left, right, out, settings.threads)
    else:
        _multiply_large(left, right, out)


def call_for(left: tuple[int, ...], out: tuple[int, ...]) -> Callable[..., object]:
    """Return what multiplies operands of such shapes as `multiply` does, with less to ask."""
    if out[-2:] == (1, 1) or math.prod(out) * left[-1] > UNINTERRUPTED:
        return multiply
    if in_one_call(left, out):
        return strided
    return _on_all_threads if out[-2] * out[-1] * left[-1] >= THREADED_FROM else multiply


def _on_all_threads(left: NumpyArray, right: NumpyArray, out: NumpyArray) -> None:
    if settings.threads < _cores():
        multiply(left, right, out)
    else:
        silently(np.matmul, left, right, out)


def _multiply(
    left: NumpyArray, right: NumpyArray, out: NumpyArray, part: tuple[Any, ...] = ()
) -> None:
    if part:
        *stack, rows, columns = part
        left, right = left[(*stack, rows, _ALL)], right[(*stack, _ALL, columns)]
        out = out[part]
    if out.shape[-2:] == (1, 1) and out.dtype.kind == "f":  # it conjugates complex numbers
        silently(np.vecdot, left[..., 0, :], right[..., 0], out[..., 0, 0])
    else:
        silently(np.matmul, left, right, out)


def long_dot(left: NumpyArray, right: NumpyArray, out: NumpyArray, conjugate: bool = False) -> None:
    """Write dot products to ``out``: sums over a fixed number of elements each, added in pairs.

    Of double precision BLAS's threads add up a part of such a sum each.  Where they may not,
    somebody has capped them, or they were late, one thread adds up the same parts: none of this
    changes a bit.
    """
    one = np.vecdot if conjugate or out.dtype.kind == "f" else _plain_dot
    made = functools.partial(_in_pairs, left, right, out)
    # What goes backwards, stands still or steps by parts of elements, NumPy adds up one by one.
    strides = left.strides[-1], right.strides[-1]
    plain = min(strides) > 0 and not any([step % left.itemsize for step in strides])
    shared = plain and left.dtype.char in "dD" and left.shape[-1] >= _SPREAD
    told = _takes() if shared and not _alone.on else 1
    if told == 1 or left.dtype.char not in _Cap.parts:
        made(DOT, one, settings.threads)
        return
    with _lock.held:
        if not _Cap.late and settings.threads >= min(told, _cores()) and _most() == told:
            start = perf_counter()
            made(_DOUBLE, one, 1)
            late = perf_counter() - start > _LATE + (left.nbytes + right.nbytes) / _SLOW
            _Cap.late = _PAUSE if late else 0
            if _most() == told:  # nobody has capped them meanwhile
                return
        _Cap.late = max(_Cap.late - 1, 0)
        # OpenBLAS may not notice a cap that another thread lifts than the one that has set it.
        with _controller().limit(limits=1) if _most() > 1 else contextlib.nullcontext():
            made(_DOUBLE, functools.partial(_in_parts, one, told), 1)


def _plain_dot(left: NumpyArray, right: NumpyArray, out: NumpyArray | None = None) -> NumpyArray:
    """Return dot products of complex numbers, none of them conjugated."""
    to = None if out is None else out[..., None, None]
    return np.matmul(left[..., None, :], right[..., None], to)[..., 0, 0]


def _in_parts(one: _Dot, parts: int, left: NumpyArray, right: NumpyArray, out: NumpyArray) -> None:
    """Write dot products, each the sum of parts as so many threads of BLAS make them."""
    parts = parts if left.shape[-1] >= _SPREAD else 1
    out[...] = sum(map(one, *[np.array_split(x, parts, -1) for x in (left, right)]))


def _in_pairs(
    left: NumpyArray, right: NumpyArray, out: NumpyArray, most: int, one: _Dot, threads: int
) -> None:
    """Do as `long_dot`; ``one`` sums up to ``most`` products, and so many threads share sums."""
    whole = left.shape[-1] // most
    if whole == 0:
        silently(one, left, right, out)
        return
    sums = np.empty((*out.shape, whole + 1), out.dtype)
    a, b = [x[..., : whole * most].reshape(*x.shape[:-1], whole, most) for x in (left, right)]

    def piece(part: slice) -> None:
        silently(one, a[..., part, :], b[..., part, :], sums[..., part])

    step = max(1, GRAIN // (most * max(out.size, 1)))
    cuts = [slice(k, min(k + step, whole)) for k in range(0, whole, step)]
    if len(cuts) > 1:
        pool.run(cuts, lambda: piece, threads)
    else:
        piece(cuts[0])
    rest = slice(whole * most, None)
    silently(one, left[..., rest], right[..., rest], sums[..., whole])
    silently(np.add.reduce, sums, -1, None, out)


def conjugate_dot(left: NumpyArray, right: NumpyArray) -> NumpyArray:
    """Return the sum of ``conj(left) * right`` of complex vectors, in an array of rank 0."""
    if left.size <= DOT:
        return np.asarray(np.vdot(left, right))
    out = np.empty((), left.dtype)
    long_dot(left, right, out, True)
    return out


def dot(left: NumpyArray, right: NumpyArray, out: NumpyArray) -> NumpyArray:
    """Write a product to ``out``; the bits are those of `multiply`."""
    if left.ndim <= 2 and right.ndim <= 2:
        if len(left) > DOT and not out.shape:
            long_dot(left, right, out)
            return out
        if left.size * out.size < THREADED_FROM * len(left):
            return silently(left.dot, right, out)
    return strided(left, right, out)


def strided(left: NumpyArray, right: NumpyArray, out: NumpyArray) -> NumpyArray:
    """Write a product of operands that BLAS reads as they lie, as `multiply` does.

    ``dot`` copies rows that are further apart than they are long, and rounds in another order.
    """
    large = left.size * out.size >= THREADED_FROM * len(left)
    silently(multiply if large else np.matmul, left, right, out)
    return out


def in_one_call(left: tuple[int, ...], out: tuple[int, ...]) -> bool:
    """Tell whether `multiply` makes one call of NumPy for operands of such shapes."""
    one = out[-2] * out[-1] * left[-1]
    cut = out[-2:] == (1, 1) and left[-1] > DOT  # dot products
    return one < THREADED_FROM and len(runs(out[:-2], one)) == 1 and not cut


def _multiply_large(left: NumpyArray, right: NumpyArray, out: NumpyArray) -> None:
    large = out.size * left.shape[-1] > UNINTERRUPTED
    for piece in pieces(out.shape, left.shape[-1]) if large else [()]:
        _multiply(left, right, out, piece)


def runs(stack: tuple[int, ...], one: int) -> list[tuple[slice, ...]]:
    """Return indices of parts of a stack of small products, for threads to share.

    Parameters
    ----------
    stack : tuple of int
        Extents of the stack.
    one : int
        Multiplications of one product.

    Returns
    -------
    list of tuple of slice
        Parts of the longest dimension, of about `GRAIN` multiplications.

    Examples
    --------
    >>> len(runs((1000,), 1000)), len(runs((1000, 2), 32**3))
    (1, 63)
    """
    if not stack:
        return [()]
    axis = stack.index(max(stack))
    each = max(one * math.prod(stack) // max(stack[axis], 1), 1)
    step = max(1, GRAIN // each)
    around = (_ALL,) * axis
    if step * 2 > stack[axis]:
        return [()]
    return [(*around, slice(k, k + step)) for k in range(0, stack[axis], step)]


def pieces(
    shape: tuple[int, ...], inner: int, most: int = UNINTERRUPTED
) -> Iterator[tuple[slice, ...]]:
    """Yield indices of parts of a product, each of at most so many multiplications.

    Parameters
    ----------
    shape : tuple of int
        Shape of the result: the stack, rows, columns.
    inner : int
        Extent that is summed; it is never cut, so every element is added up as in one call.
    most : int
        Multiplications of a part.

    Examples
    --------
    >>> len(list(pieces((1024, 1024), 1024))), len(list(pieces((4096, 4096), 1024)))
    (1, 8)
    """
    todo = [tuple([(0, extent) for extent in shape])]
    while todo:
        box = todo.pop()
        extents = [end - start for start, end in box]
        axis = 0 if len(box) > 2 and extents[0] > 1 else extents.index(max(extents))
        if math.prod(extents) * inner <= most or extents[axis] == 1:
            yield tuple([slice(start, end) for start, end in box])
            continue
        start, end = box[axis]
        half = extents[axis] // 2
        middle = start + (half - half % 64 or half)  # whole blocks of BLAS's kernels
        todo += [(*box[:axis], part, *box[axis + 1 :]) for part in ((middle, end), (start, middle))]


@cache
def _controller() -> Any:
    """Return the handle on BLAS's threads; looking for libraries takes milliseconds, once."""
    from threadpoolctl import ThreadpoolController  # noqa: PLC0415 (slow, and rarely needed)

    return ThreadpoolController().select(user_api="blas")


def _takes() -> int:
    """Return how many threads BLAS takes by itself."""
    while not _Cap.told:
        with _lock.held:
            if not _Cap.users:  # who caps it has asked before
                told = _most()
                _Cap.parts = "".join([dtype for dtype in "dD" if _makes_parts(dtype, told)])
                _Cap.told = told
    return _Cap.told


def _makes_parts(dtype: str, told: int) -> bool:
    """Tell whether so many threads make parts as `_in_parts` does, as OpenBLAS's do on x86."""
    x = np.cbrt(np.arange(4.0 * _SPREAD)).astype(dtype).reshape(4, -1)
    found = np.empty(4, dtype)
    _in_parts(np.vecdot, told, x, x, found)
    return np.array_equal(found, np.vecdot(x, x))


def _most() -> int:
    """Return how many threads BLAS takes now; asking takes a hundredth of what setting does."""
    return max([x.get_num_threads() for x in _controller().lib_controllers], default=1)


def _multiply_capped(left: NumpyArray, right: NumpyArray, out: NumpyArray, threads: int) -> None:
    """Multiply on so many of BLAS's threads at most, which others may have capped by now."""
    with _controller().limit(limits=threads) if _most() > threads else contextlib.nullcontext():
        _multiply_large(left, right, out)
