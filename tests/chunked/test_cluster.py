"""On dask: lazy arrays of fused blocks, containers as blocks, and stores on a cluster."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import xarraylite as xl
from tests.cases import together
from tests.chunked.kept import Kept, Sink
from tests.chunked.test_same_bits import cases
from xarraylite.chunked import cluster, leaves, plan

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

VALUES = np.random.default_rng(0).normal(size=(90, 70))


@xl.vectorize
def soft(x: float, limit: float) -> float:
    return x - limit if x > limit else 0.0


def _standard(a: Any) -> Any:
    return (a - xl.mean(a, axis=0)) / xl.std(a)


def _centred(a: Any) -> Any:
    return a - xl.mean(a, axis=0)


_WRITTEN: dict[str, Callable[[Any], Any]] = {
    "stencil": lambda a: (a[1:] - a[:-1]) ** 2 * 0.5,
    "folds": _standard,
    "views": lambda a: xl.reshape(a.T[::-2, :80], (-1, 16))[[3, 1, 3]] + np.arange(16.0),
    "joined": lambda a: xl.concat([a, xl.stack([a, a])[1]], axis=1).astype("float32"),
    "user": lambda a: soft(a, 0.5),
    "positions": lambda a: xl.argmax(a, axis=1),
    "memory": lambda a: xl.asarray(np.arange(6.0)) * 2,
}


@together("name", _WRITTEN)
@together("scheduler", ["sync", "threads"])
def test_blocks_are_those_of_memory(name: str, scheduler: str, engine: str) -> None:
    expected = xl.eval(_WRITTEN[name](xl.asarray(VALUES))).numpy()
    e = _WRITTEN[name](xl.open(Kept(VALUES, (20, 30))))
    lazy = xl.to_dask(e, chunks=9)
    assert lazy.shape == e.shape
    assert lazy.dtype == e.dtype
    found = lazy.compute(scheduler=scheduler)
    if engine == "reference":
        np.testing.assert_allclose(found, expected)
    else:
        assert found.tobytes() == expected.tobytes()


def test_one_task_for_each_block() -> None:
    lazy = xl.to_dask(xl.sqrt(xl.open(Kept(VALUES, (20, 30)))) + 1)
    assert lazy.chunks == ((20, 20, 20, 20, 10), (30, 30, 10))
    assert len(lazy.__dask_graph__()) == lazy.npartitions == 15
    assert xl.to_dask(xl.open(VALUES) + 1).name == xl.to_dask(xl.open(VALUES) + 1).name


@together(
    "chunks",
    [
        9, -1, (20, -1), (None, 8), [33, 7], np.int64(40), "auto", ("auto", 30), "4 kiB", {0: 10},
        {-1: 20}, {0: "auto", 1: -1}, ((10, 50, 30), (70,)), ((90,), (1, 68, 0, 1)),
    ],
)  # fmt: skip
def test_chunks_are_what_they_are_for_dask(chunks: Any) -> None:
    a = xl.open(Kept(VALUES, (20, 30)))
    with dask.config.set({"array.chunk-size": "8 kiB"}):
        lazy = xl.to_dask(xl.sqrt(xl.abs(a)), chunks=chunks)
        whole = da.from_array(VALUES, chunks=(20, 30))
        auto = isinstance(chunks, str) or "auto" in repr(chunks)
        expected = whole.rechunk(chunks) if auto else da.from_array(VALUES, chunks=chunks)
    assert lazy.chunks == expected.chunks
    found = lazy.compute(scheduler="sync")
    assert found.tobytes() == xl.eval(xl.sqrt(xl.abs(xl.asarray(VALUES)))).numpy().tobytes()


@together(
    "chunks",
    [
        0, -2, 2.5, "x", (2,), (2, 2, 2), ((2, 2), (3, 3)), ((-1, 91), (70,)), {2: 9}, {"x": 2},
        ((np.nan,), (70,)), (), True,
    ],
)  # fmt: skip
def test_chunks_that_do_not_divide_a_shape_are_refused(chunks: Any) -> None:
    with pytest.raises(xl.ShapeError, match=r"^to_dask: chunks .* for float64\[90, 70\]: ."):
        xl.to_dask(xl.open(VALUES) + 1, chunks=chunks)


def test_containers_and_expressions_are_blocks() -> None:
    whole = da.from_array(xl.asarray(VALUES), chunks=(30, 70))
    np.testing.assert_array_equal((whole + 1).compute(scheduler="sync"), VALUES + 1)
    plain = da.from_array(VALUES, chunks=(30, 70))
    for f in (lambda b: xl.floor(b) + 1, lambda b: xl.eval(xl.floor(b) + 1)):
        found = plain.map_blocks(f, dtype="f8").compute(scheduler="sync")
        np.testing.assert_array_equal(found, np.floor(VALUES) + 1)


def test_functions_of_ours_under_xarray() -> None:
    xarray = pytest.importorskip("xarray")
    array = xarray.DataArray(da.from_array(VALUES, chunks=(30, 70)), dims=("y", "x"))
    made = xarray.apply_ufunc(
        lambda b: xl.floor(b) * 2, array, dask="parallelized", output_dtypes=["f8"]
    )
    np.testing.assert_array_equal(made.compute(scheduler="sync").values, np.floor(VALUES) * 2)


def test_a_million_blocks_are_planned_at_once() -> None:
    lazy = xl.to_dask(xl.open(Kept(np.zeros((1000, 1000)), (10, 10))) + 1, chunks=1)
    assert lazy.npartitions == 1_000_000
    assert not lazy.dask.layers[lazy.name].is_materialized()  # the graph is made when it runs


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    with (
        dask.config.set({"distributed.admin.log-format": "%(message)s"}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=":0",
            silence_logs=50,
            resources={"memory": 1e9},
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def slow(values: Any) -> Any:
    """Return an array whose chunks take a moment."""

    class Slow(Kept):
        def __getitem__(self, key: tuple[slice, ...]) -> Any:
            time.sleep(0.4)
            return super().__getitem__(key)

    return Slow(values, (5, 70))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_stores_the_same_bits_though_a_worker_dies(
    client: Any, tmp_path: Path, engine: str
) -> None:
    expected = xl.eval(_centred(xl.asarray(VALUES))).numpy()
    e = _centred(xl.open(slow(VALUES)))
    pids = list(client.run(os.getpid).values())
    timer = threading.Timer(0.2, os.kill, (pids[0], signal.SIGKILL))
    timer.start()
    made = xl.store(e, tmp_path / "a.npy", chunks=(5, 70), memory=160_000, client=client)
    assert not timer.is_alive(), "it was over before the worker was killed"
    if engine == "reference":
        np.testing.assert_allclose(np.asarray(made), expected)
    else:
        assert np.asarray(made).tobytes() == expected.tobytes()
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.asarray(made))


def test_blocks_that_need_more_than_workers_declare(client: Any) -> None:
    large = np.lib.stride_tricks.as_strided(VALUES, (20_000, 20_000), (0, 0))
    e = xl.open(Kept(large, large.shape)) + 1
    # One that was killed before comes again, and declares a moment after it is known.
    while not all(w["resources"] for w in client.scheduler_info()["workers"].values()):
        time.sleep(0.01)
    with pytest.raises(xl.SizeError, match="no worker of the cluster declares more than"):
        xl.store(e, Sink(large, large.shape), memory="40 GB", client=client)


def test_tasks_that_may_run_again_write_no_operand(client: Any, tmp_path: Path) -> None:
    """One whose worker is lost after it has written would read that."""
    zarr = pytest.importorskip("zarr")
    stored = zarr.create_array(tmp_path / "a", shape=VALUES.shape, chunks=(20, 20), dtype="f8")
    stored[...] = VALUES
    with pytest.raises(xl.OverlapError, match="tasks whose worker is lost are run again"):
        xl.store(xl.open(stored) + 1, stored, client=client)
    np.testing.assert_array_equal(stored[...], VALUES)
    here = VALUES.copy()
    xl.store(xl.open(here) + 1, here, client=client)  # this process writes it, once
    np.testing.assert_array_equal(here, VALUES + 1)


def test_the_client_hears_of_several_tasks_at_once(client: Any, tmp_path: Path) -> None:
    """Each block is a task; of those that write, the client is told when some have ended."""
    e = xl.open(Kept(VALUES, (2, 70))) + 1
    with (
        mock.patch.object(cluster, "_SHARED", 1),
        mock.patch.object(plan, "ENOUGH", 1),
        mock.patch.object(plan, "SMALLEST", 1),
        mock.patch.object(client, "get", wraps=client.get) as sent,
    ):
        xl.store(e, tmp_path / "a.npy", chunks=(2, 70), client=client)
    heard = [len(call.args[1]) for call in sent.call_args_list]
    assert sum(len(call.args[0]) for call in sent.call_args_list) - sum(heard) == 45
    assert sum(heard) <= 5
    assert len(heard) > 1
    assert all(call.kwargs["fifo_timeout"] == 0 for call in sent.call_args_list)  # or waves mix
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), VALUES + 1)


@pytest.mark.usefixtures("compiled")
def test_a_sum_needs_no_row_of_chunks(client: Any) -> None:
    """Tasks have some chunks of a row each, one at a time."""
    values = np.random.default_rng(3).normal(size=(24, 40_007))
    total, found = lambda a: xl.sum(a * 3 - 1), np.zeros(())
    e = total(xl.open(Kept(values, (6, 4000))))
    with (
        mock.patch.object(leaves, "_MANY", 3),
        mock.patch.object(client, "map", wraps=client.map) as sent,
    ):
        xl.store(e, found, client=client, memory=1_600_000)
    assert found.tobytes() == xl.eval(total(xl.asarray(values))).numpy().tobytes()
    tasks = [task for call in sent.call_args_list for task in call.args[1]]
    assert min(len(tasks), max(map(len, tasks))) > 4
    assert all(call.kwargs["resources"]["memory"] < 1_600_000 for call in sent.call_args_list)


@pytest.mark.parametrize("here", [False, True])
def test_what_a_worker_cannot_read_is_named(client: Any, here: bool, tmp_path: Path) -> None:
    """Where workers write, and where they send back; what is finished stays."""
    e = xl.open(broken(VALUES)) + 1
    memory, path = np.zeros_like(VALUES), tmp_path / "a.npy"
    target = Sink(memory, (10, 70)) if here else path
    with pytest.raises(xl.StorageError, match=r"read: .*elements \[6.*ValueError: not these"):
        xl.store(e, target, chunks=None if here else (10, 70), memory=100_000, client=client)
    made = memory if here else np.load(path)
    assert (made[60:] == 0).all()
    mine = (made == VALUES + 1).all(axis=1)
    assert (mine | (made == 0).all(axis=1)).all()
    if not here:  # those beside the one that has failed too
        head, *record = map(json.loads, (tmp_path / ".a.npy.xl-store").read_text().splitlines())
        assert {corner[0] for corner, _ in record} == {*range(0, 60, head["block"][0])}
        assert mine[:60].all()


def broken(values: Any, deadly: bool = False) -> Any:
    class Broken(Kept):
        def __getitem__(self, key: Any) -> Any:
            if key[0].stop > 60:
                if deadly:
                    os._exit(9)
                raise ValueError("not these")
            return self.values[key]

    return Broken(values, (10, 70))


def _allow(failures: int, dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = failures


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("what", ["worker", "scheduler", "answer", "result"])
def test_blocks_whose_worker_or_scheduler_vanishes_are_named(
    client: Any, tmp_path: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_LOOK", 0.1)
    monkeypatch.setattr(cluster, "_SILENT", 0.4)
    told = r"^store: .* tests \w+ float64\[90, 70\], elements \[\d+:.* was lost with the worker or"
    with type(client)(client.scheduler.address, set_as_default=False) as other:
        values = broken(VALUES, True) if what == "worker" else slow(VALUES)
        leaves_us = threading.Timer(0.5, other.close)
        if what == "worker":
            client.run_on_scheduler(_allow, 0)
        elif what == "answer":
            told += r".*TimeoutError: no answer within 0\.4 s"
            leaves_us = threading.Timer(0.5, client.run_on_scheduler, (time.sleep, 2))
        if what == "result":  # what waiting raises where the client is closed meanwhile

            def wait(*_: Any, **__: Any) -> Any:
                other.close()
                raise UnboundLocalError("result")

            monkeypatch.setattr(sys.modules["distributed"], "wait", wait)
        elif what != "worker":
            leaves_us.start()
        with pytest.raises(xl.StorageError, match=told):
            xl.store(
                xl.open(values) + 1, tmp_path / "a.npy", chunks=(5, 70), memory=60_000, client=other
            )
        client.run_on_scheduler(_allow, 3)
    made = np.load(tmp_path / "a.npy")
    assert ((made == VALUES + 1).all(axis=1) | (made == 0).all(axis=1)).all()


def test_what_is_no_client_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client, got int"):
        xl.store(xl.open(np.zeros(3)) + 1, tmp_path / "out", client=3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("told", ["closed", "asynchronous"])
def test_a_client_that_cannot_be_waited_for_is_refused(
    client: Any, tmp_path: Path, told: str
) -> None:
    async def stored() -> None:
        async with type(client)(client.scheduler.address, asynchronous=True) as other:
            if told == "asynchronous":
                xl.store(xl.open(np.zeros(3)) + 1, tmp_path / "out", client=other)
        xl.store(xl.open(np.zeros(3)) + 1, tmp_path / "out", client=other)

    with pytest.raises(ValueError, match=f"client must run, and .* it is {told}"):
        asyncio.run(stored())
    assert not list(tmp_path.iterdir())


def test_a_cluster_whose_workers_come_later() -> None:
    """As after all were lost: nobody has declared a resource that tasks could ask for."""
    distributed = pytest.importorskip("distributed")
    target = np.zeros(VALUES.shape)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        later = threading.Timer(0.3, cluster.scale, (1,))
        later.start()
        give_up = threading.Timer(20, client.close)
        give_up.start()
        xl.store(xl.open(Kept(VALUES, (20, 30))) * 2, target, client=client)
        give_up.cancel()
        later.join()
    np.testing.assert_array_equal(target, VALUES * 2)


def _compiled(place: str = "") -> tuple[int, int]:
    if place:
        Path(place).mkdir(mode=0o700)
        xl.config(cache_dir=place)
    kernels = xl.cache_info()
    return kernels.compiled, kernels.loaded


def test_workers_with_caches_of_their_own_compile_nothing(
    client: Any, tmp_path: Path, engine: str
) -> None:
    if engine == "reference":
        pytest.skip("no kernels")
    a = xl.open(Kept(VALUES, (20, 30)))
    for k, address in enumerate(client.scheduler_info()["workers"]):
        client.run(_compiled, str(tmp_path / f"cache{k}"), workers=[address])
    before = client.run(_compiled)
    e = (a * 3.25 - xl.mean(a * 1.75, axis=0)) ** 3
    made = xl.store(e, tmp_path / "a.npy", chunks=(9, 70), client=client)
    np.testing.assert_array_equal(np.asarray(made), xl.eval(e).numpy())
    after = client.run(_compiled)
    assert [n for n, _ in after.values()] == [n for n, _ in before.values()]
    assert sum(n for _, n in after.values()) > sum(n for _, n in before.values())


@pytest.mark.parametrize("kind", ["ndarray", "container", "memory store", "hdf5", "any", "zarr"])
def test_targets_that_workers_cannot_reach_are_written_here(
    client: Any, kind: str, tmp_path: Path
) -> None:
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    form = {"shape": VALUES.shape, "dtype": "f8", "chunks": (30, 70)}
    made = {
        "ndarray": lambda: np.zeros(VALUES.shape),
        "container": lambda: xl.zeros(VALUES.shape),
        "memory store": lambda: zarr.create_array(zarr.storage.MemoryStore(), **form),
        "hdf5": lambda: h5py.File(tmp_path / "a.h5", "w").create_dataset("x", **form),
        "any": lambda: Sink(np.zeros(VALUES.shape), (30, 70)),
        "zarr": lambda: zarr.create_array(tmp_path / "a", **form),
    }[kind]()
    xl.store(xl.open(Kept(VALUES, (20, 30))) * 2, made, client=client, memory=400_000)
    found = made.values if kind == "any" else made[...]
    np.testing.assert_array_equal(np.asarray(found), VALUES * 2)
    if kind == "hdf5":
        made.file.close()


def test_small_blocks_that_come_back_share_tasks(client: Any) -> None:
    """More and more of them, as long as the budget has room for two waves of their results."""
    client.wait_for_workers(2, timeout=60)  # one that was killed may not be back
    target, e = np.zeros(VALUES.shape), xl.open(Kept(VALUES, (3, 7))) * 2
    with (
        mock.patch.object(plan, "SMALLEST", 1),
        mock.patch.object(plan, "ENOUGH", 1),
        mock.patch.object(client, "map", wraps=client.map) as sent,
    ):
        xl.store(e, Sink(target, (3, 7)), client=client, memory=20_000)
    np.testing.assert_array_equal(target, VALUES * 2)
    waves = [[len(group) for group in call.args[1]] for call in sent.call_args_list]
    assert sum(map(sum, waves)) == 300
    assert [wave[0] for wave in waves if wave] == [1, 2, 4, 7, 7, 7, 7, 7]


def test_narrow_values_come_back(client: Any) -> None:
    e = xl.astype(xl.open(Kept(VALUES, (20, 30))) / 100, xl.float8_e5m2)
    made = np.zeros(e.shape, e.dtype)
    xl.store(e, made, client=client)
    assert made.tobytes() == (VALUES / 100).astype(e.dtype).tobytes()


@given(cases())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_random_expressions_on_a_cluster(client: Any, engine: str, case: Any) -> None:
    expected, found, blocks, _ = case
    target = np.zeros(found.shape, found.dtype)
    xl.store(found, Sink(target, blocks), client=client)
    if engine == "reference":  # NumPy adds in an order of its own
        np.testing.assert_allclose(target, expected, rtol=1e-3, atol=1e-3)
    else:
        assert target.tobytes() == expected.tobytes()


def test_products_are_blocks_too() -> None:
    a = xl.open(Kept(VALUES, (20, 30)))
    lazy = xl.to_dask(a @ a.T, chunks=(45, 45))
    np.testing.assert_allclose(lazy.compute(scheduler="threads"), VALUES @ VALUES.T)
