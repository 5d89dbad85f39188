"""Larger than memory, side by side: this package, dask.array over NumPy, loops by hand and blosc2.

Every side has the same arrays, in chunks of 1024 x 1024 (``--chunk``) on the disk (blosc2's are its
own files with the same chunks and codec), and runs in a process of its own, which works on a small
part first, so that imports and compilation are not counted. Sides follow each other case by case,
so what else the machine does befalls all of them, and find the operands' files just read. Reported
are CPU seconds, elapsed seconds and the most memory over that after imports, of the run with the
least CPU time.

    python asv_bench/side_by_side.py --size 4GB --codec none lz4 --folder /data --rounds 1

``loop`` is written as one would by hand, chunk by chunk with zarr and NumPy.  ``copy`` reads what a
case reads and writes as much, each time the first chunk of the result, which is all it computes:
what storage and codec cost.  Results have other digits than operands, which codecs take longer for.
``alone`` decodes the same chunks into memory that is used again, and encodes the first one of the
result as often, on as many threads as there are cores: what the codec takes by itself.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

CODECS = ("none", "lz4", "blosc", "zstd")
CELL = 30.0
SUN = (math.sin(math.radians(45.0)), math.cos(math.radians(45.0)), math.radians(135.0))

At = tuple[slice, slice]


def hillshade(np: Any, z: Any) -> Any:
    """Shade heights, with the functions of any namespace."""
    east = (z[1:-1, 2:] - z[1:-1, :-2]) / (2.0 * CELL)
    north = (z[:-2, 1:-1] - z[2:, 1:-1]) / (2.0 * CELL)
    steep, downhill = np.arctan(np.sqrt(east * east + north * north)), np.arctan2(-north, -east)
    return SUN[0] * np.cos(steep) + SUN[1] * np.sin(steep) * np.cos(SUN[2] - downhill)


def blocks(shape: tuple[int, ...], step: tuple[int, int]) -> Iterator[At]:
    """Yield the chunks of a matrix."""
    for i in range(0, shape[0], step[0]):
        for j in range(0, shape[1], step[1]):
            yield slice(i, min(i + step[0], shape[0])), slice(j, min(j + step[1], shape[1]))


class Case:
    """One expression over ``a`` and ``b``, as every side writes it.

    Parameters
    ----------
    folder : Path
        Where the operands are.
    codec : str
        One of `CODECS`.
    chunk : int
        Rows and columns of a chunk.
    """

    title = ""
    reads = "ab"
    trim = 0  # rows and columns that the result has less

    def __init__(self, folder: Path, codec: str, chunk: int) -> None:
        self.folder, self.codec, self.chunk = folder, codec, chunk

    def blocks(self, shape: tuple[int, ...], rows: int | None = None) -> Iterator[At]:
        """Yield the chunks of a matrix, or blocks of more rows."""
        return blocks(shape, (rows or self.chunk, self.chunk))

    def shape(self, a: Any, b: Any) -> tuple[int, ...]:
        """Return the shape of the result; () if it is a number."""
        return tuple([n - self.trim for n in a.shape])

    # --- what each side opens and makes -----------------------------------------------------------

    def zarrs(self) -> tuple[Any, Any]:
        import zarr

        a, b = (zarr.open_array(self.folder / name, mode="r") for name in "ab")
        return a, b

    def target(self, a: Any, b: Any) -> Any:
        shape = self.shape(a, b)
        return new_zarr(self.folder / "out", shape, self.codec, self.chunk) if shape else None

    def here(self) -> object:
        import xarraylite as xl

        a, b = (xl.open(self.folder / name) for name in "ab")
        e = self.lazy(xl, a, b)
        out = self.target(a, b)
        return float(e) if out is None else xl.store(e, out)

    def dask(self) -> object:
        import dask.array as da

        a, b = (da.from_zarr(str(self.folder / name)) for name in "ab")
        e = self.lazy(np, a, b)
        out = self.target(a, b)
        if out is None:
            return float(e.compute())
        return da.store(e.rechunk(self.chunk) if self.trim else e, out, lock=False)

    def copy(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        corner = (slice(self.chunk + self.trim),) * 2
        made = None if out is None else self.lazy(np, a[corner], b[corner])
        for at in self.blocks(a.shape):
            a[at]
            if "b" in self.reads and at[1].start < b.shape[1]:
                b[at]
            if out is not None and at[1].start < out.shape[1]:
                to = tuple(
                    slice(s.start, min(s.stop, n)) for s, n in zip(at, out.shape, strict=True)
                )
                out[to] = made[tuple(slice(0, s.stop - s.start) for s in to)]
        return None

    def alone(self) -> object:
        import numcodecs

        if self.codec == "none":
            raise NotImplementedError
        codec = numcodecs.get_codec(
            {
                "zstd": {"id": "zstd", "level": 0, "checksum": False},
                "lz4": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
                "blosc": {"id": "blosc", "cname": "zstd", "clevel": 5, "shuffle": 1},
            }[self.codec]
        )
        a, b = self.zarrs()
        wide = self.shape(a, b)[1:] or (b.shape[1],)
        columns = range(-(-wide[0] // self.chunk))
        numbers = [range(-(-n // self.chunk)) for n in a.shape]
        reads = [("a", i, j) for i in numbers[0] for j in numbers[1]]
        if "b" in self.reads:
            reads += [("b", i, j) for i in numbers[0] for j in columns]
        writes = [(i, j) for i in numbers[0] for j in columns] if self.shape(a, b) else []
        corner = (slice(self.chunk + self.trim),) * 2
        made = np.ascontiguousarray(self.lazy(np, a[corner], b[corner])) if writes else None
        own = threading.local()

        def decode(at: tuple[str, int, int]) -> None:
            if not hasattr(own, "to"):
                own.to = np.empty((self.chunk, self.chunk))
            name, i, j = at
            data = (self.folder / name / "c" / str(i) / str(j)).read_bytes()
            codec.decode(data, out=own.to)

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
            list(threads.map(decode, reads))
            list(threads.map(lambda at: codec.encode(made), writes))
        return None

    def blosc2(self) -> object:
        import blosc2

        a, b = (blosc2.open(str(self.folder / f"{name}.b2nd")) for name in "ab")
        path = self.folder / "out.b2nd"
        path.unlink(missing_ok=True)
        options = {"urlpath": str(path), "mode": "w", "cparams": compression(self.codec)}
        return self.native(blosc2, a, b, options)

    # --- what a case says -------------------------------------------------------------------------

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        """Write the expression."""
        raise NotImplementedError

    def loop(self) -> object:
        """Compute it by hand."""
        raise NotImplementedError

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        """Compute it by blosc2."""
        raise NotImplementedError


class Elementwise(Case):
    title = "(a - b)**2 * 0.5 + sqrt(a)"

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return (a - b) ** 2 * 0.5 + np.sqrt(a)

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        for at in self.blocks(a.shape):
            out[at] = self.lazy(np, a[at], b[at])
        return None

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        return self.lazy(blosc2, a, b).compute(**options)


class Hillshade(Case):
    title = "hillshade(a)"

    reads, trim = "a", 2

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return hillshade(np, a)

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        for at in self.blocks(out.shape):
            halo = tuple(slice(s.start, s.stop + 2) for s in at)
            out[at] = hillshade(np, a[halo])
        return None


class Sum(Case):
    title = "sum((a - b)**2)"

    def shape(self, a: Any, b: Any) -> tuple[int, ...]:
        return ()

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return np.sum((a - b) ** 2)

    def loop(self) -> object:
        a, b = self.zarrs()
        return sum(float(np.sum((a[at] - b[at]) ** 2)) for at in self.blocks(a.shape))

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        return float(((a - b) ** 2).sum())


class Standardise(Case):
    title = "(a - mean(a, 0)) / std(a, 0)"

    reads = "a"
    axis: int | None = 0

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return (a - np.mean(a, axis=self.axis)) / np.std(a, axis=self.axis)

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        for at in self.blocks(a.shape, a.shape[0]):
            out[at] = self.lazy(np, a[at], None)
        return None

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        mean, std = a.mean(axis=self.axis), a.std(axis=self.axis)
        return ((a - mean) / std).compute(**options)


class StandardiseAll(Standardise):
    title = "(a - mean(a)) / std(a)"

    axis = None

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        n = math.prod(a.shape)
        mean = sum(float(np.sum(a[at])) for at in self.blocks(a.shape)) / n
        std = math.sqrt(sum(float(np.sum((a[at] - mean) ** 2)) for at in self.blocks(a.shape)) / n)
        for at in self.blocks(a.shape):
            out[at] = (a[at] - mean) / std
        return None


class Transpose(Case):
    title = "a.T"

    reads = "a"

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return a.T

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        for at in self.blocks(a.shape):
            out[at[::-1]] = a[at].T
        return None

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        return blosc2.permute_dims(a, (1, 0), **options)


class Product(Case):
    title = "a @ b[:, :512]"

    WIDE = 512

    def shape(self, a: Any, b: Any) -> tuple[int, ...]:
        return (a.shape[0], min(self.WIDE, b.shape[1]))

    def lazy(self, np: Any, a: Any, b: Any) -> Any:
        return a @ b[:, : self.WIDE]

    def loop(self) -> object:
        a, b = self.zarrs()
        out = self.target(a, b)
        right, step = b[:, : self.WIDE], self.chunk
        for i in range(0, a.shape[0], step):
            total = np.zeros((min(step, a.shape[0] - i), right.shape[1]))
            for k in range(0, a.shape[1], step):
                total += a[i : i + step, k : k + step] @ right[k : k + step]
            out[i : i + step] = total
        return None

    def native(self, blosc2: Any, a: Any, b: Any, options: dict[str, Any]) -> object:
        return blosc2.matmul(a, blosc2.asarray(b[:, : self.WIDE]), **options)


CASES = {
    case.__name__.lower(): case
    for case in (Elementwise, Hillshade, Sum, Standardise, StandardiseAll, Transpose, Product)
}
MODULES = {"here": "xarraylite", "dask": "dask.array", "blosc2": "blosc2"}
SIDES = ("here", "dask", "loop", "copy", "alone", "blosc2")


def compression(codec: str) -> dict[str, Any]:
    """Return blosc2's parameters of a codec."""
    import blosc2

    if codec == "none":
        return {"clevel": 0}
    return {"codec": blosc2.Codec.LZ4 if codec == "lz4" else blosc2.Codec.ZSTD, "clevel": 5}


def new_zarr(path: Path, shape: tuple[int, ...], codec: str, chunk: int) -> Any:
    """Make an array on the disk."""
    import zarr
    from zarr.codecs import BloscCodec

    shutil.rmtree(path, ignore_errors=True)
    blosc = {"lz4": BloscCodec(cname="lz4"), "blosc": BloscCodec()}
    compressors: Any = {"none": None, "zstd": "auto", **blosc}[codec]
    chunks = tuple(min(chunk, n) for n in shape)
    return zarr.create_array(path, shape=shape, chunks=chunks, dtype="f8", compressors=compressors)


def make(folder: Path, n: int, codec: str, chunk: int, other: bool) -> None:
    """Write the operands as zarr arrays, and as blosc2's if they are asked for."""
    for seed, name in enumerate("ab"):
        arrays = [new_zarr(folder / name, (n, n), codec, chunk)]
        if other:
            arrays.append(new_blosc2(folder / f"{name}.b2nd", n, codec, chunk))
        for k, at in enumerate(blocks((n, n), (chunk, chunk))):
            rng = np.random.default_rng((seed, k))
            values = np.round((rng.random([s.stop - s.start for s in at]) + 0.5) * 64)
            for array in arrays:
                array[at] = values


def new_blosc2(path: Path, n: int, codec: str, chunk: int) -> Any:
    """Make an array of blosc2's on the disk."""
    import blosc2

    return blosc2.empty(
        (n, n), np.dtype("f8"), chunks=(chunk, chunk), mode="w", urlpath=str(path),
        cparams=compression(codec),
    )  # fmt: skip


def child(name: str, side: str, folder: Path, codec: str, chunk: int) -> dict[str, float] | None:
    """Run one side of a case, after a small part of it, and return what it took, if it has it."""
    importlib.import_module(MODULES.get(side, "zarr"))
    before = memory("VmRSS")
    try:
        getattr(CASES[name](folder / "small", codec, chunk), side)()
    except NotImplementedError:  # this side has no such thing
        return None
    start, used = time.perf_counter(), time.process_time()
    getattr(CASES[name](folder, codec, chunk), side)()
    seconds, used = time.perf_counter() - start, time.process_time() - used
    return {"cpu": used, "elapsed": seconds, "memory": (memory("VmHWM") - before) / 1024}


def memory(what: str) -> int:
    """Return how many kB this process has (``VmRSS``), or had at most (``VmHWM``).

    What `resource` says includes the memory of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what))


def read_before(folder: Path, names: str, side: str) -> None:
    """Read the operands' files, so that the system has as much of them for each side."""
    for name in names:
        zarr = [path for path in (folder / name).rglob("*") if path.is_file()]
        files = [folder / f"{name}.b2nd"] if side == "blosc2" else zarr
        for path in files:
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 24):
                    pass


def run(name: str, side: str, folder: Path, codec: str, chunk: int) -> dict[str, float] | None:
    """Run one side of a case in a process of its own; None if it has no such thing."""
    read_before(folder, CASES[name].reads, side)
    told = [sys.executable, __file__, "--child", name, side, "--folder", str(folder)]
    done = subprocess.run(
        [*told, "--codec", codec, "--chunk", str(chunk)],
        stdout=subprocess.PIPE, text=True, env=os.environ, check=False,
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def table(
    name: str, found: dict[str, dict[str, float] | None], write: Callable[[str], object]
) -> None:
    """Write a row for a case."""
    cells = []
    for side in SIDES:
        one = found.get(side)
        told = "-" if one is None else "{cpu:.2f} / {elapsed:.2f} / {memory:.0f}".format(**one)
        cells.append(told)
    write(f"| `{CASES[name].title}` | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--size", default="0.5GB", help="bytes of an operand")
    parser.add_argument("--codec", nargs="+", default=["none"], choices=CODECS)
    parser.add_argument("--case", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--side", nargs="+", default=list(SIDES), choices=SIDES)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--chunk", type=int, default=1024, help="rows and columns of a chunk")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.child:
        print(json.dumps(child(*told.child, told.folder, told.codec[0], told.chunk)))
        return
    if "blosc2" in told.side and importlib.util.find_spec("blosc2") is None:
        print("blosc2 is not installed: its column stays empty", file=sys.stderr)
        told.side.remove("blosc2")
    nbytes = float(told.size.upper().removesuffix("B").removesuffix("G")) * 1e9
    chunk = told.chunk
    n = max(chunk, round(math.sqrt(nbytes / 8) / chunk) * chunk)
    folder = Path(tempfile.mkdtemp(dir=told.folder))
    try:
        for codec in told.codec:
            make(folder, n, codec, chunk, "blosc2" in told.side)
            (folder / "small").mkdir(exist_ok=True)
            make(folder / "small", 2 * chunk, codec, chunk, "blosc2" in told.side)
            print(f"\n{n} x {n} float64, codec {codec}; CPU s / elapsed s / MB over imports\n")
            print(f"| | {' | '.join(SIDES)} |\n|{'---|' * (1 + len(SIDES))}", flush=True)
            for name in told.case:
                found: dict[str, dict[str, float] | None] = {}
                for _ in range(told.rounds):
                    for side in told.side:
                        one, best = run(name, side, folder, codec, chunk), found.get(side)
                        if best is None or (one is not None and one["cpu"] < best["cpu"]):
                            found[side] = one
                table(name, found, lambda line: print(line, flush=True))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
