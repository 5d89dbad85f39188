"""Settings: changes, blocks, and blocks that end in another order than they began."""

from __future__ import annotations

import gc
import itertools
import random
import threading
from collections.abc import Iterator

import pytest

import xarraylite as xl
from tests.threads import run_all
from xarraylite import _config
from xarraylite._config import config, settings

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    config(threads=8, max_result_bytes=1000)
    yield
    gc.collect()
    config(threads=8)
    assert len(_config._layers) == 1, "layers that nobody owns are kept"


def block(threads: int) -> Iterator[int]:
    with config(threads=threads):
        yield settings.threads


def test_a_change_lasts() -> None:
    config(threads=3)
    assert settings.threads == 3
    with config(max_result_bytes=5):
        assert (settings.threads, settings.max_result_bytes) == (3, 5)
    assert (settings.threads, settings.max_result_bytes) == (3, 1000)


def test_blocks_nest() -> None:
    with config(threads=1):
        with config(threads=2, max_result_bytes=7) as inner:
            assert inner is settings
            assert (settings.threads, settings.max_result_bytes) == (2, 7)
        assert (settings.threads, settings.max_result_bytes) == (1, 1000)
    assert settings.threads == 8


def test_a_block_ends_by_an_error() -> None:
    with pytest.raises(KeyError), config(threads=1):
        raise KeyError
    assert settings.threads == 8


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_blocks_end_in_any_order(order: tuple[int, ...]) -> None:
    """The block entered last of those still open decides."""
    blocks = [block(threads) for threads in (1, 2, 3)]
    assert [next(b) for b in blocks] == [1, 2, 3]
    still = [1, 2, 3]
    for k in order:
        blocks[k].close()  # type: ignore[attr-defined]
        still.remove(k + 1)
        assert settings.threads == (still[-1] if still else 8)


def test_blocks_of_threads() -> None:
    turns = random.Random(0)
    delays = [[turns.random() / 500 for _ in range(20)] for _ in range(4)]

    def work(k: int) -> None:
        pause = threading.Event()
        for delay in delays[k]:
            with config(threads=k + 1):
                pause.wait(delay)

    run_all([threading.Thread(target=work, args=(k,)) for k in range(4)])
    assert settings.threads == 8


def test_two_that_are_made_before_either_is_entered() -> None:
    """What two threads do: ``with`` makes its object first and enters it afterwards."""
    first, second = config(threads=1), config(threads=2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert settings.threads == 2
    second.__exit__(None, None, None)
    assert settings.threads == 8


def test_a_change_in_a_block_ends_with_it() -> None:
    with config(threads=1):
        config(threads=4)
        assert settings.threads == 4
        kept = config(threads=5)
        config(threads=6)
        assert settings.threads == 6
    assert settings.threads == 8
    with kept:
        assert settings.threads == 5
    assert settings.threads == 8


def test_a_change_outlives_a_block_entered_before_it_that_ends_later() -> None:
    outer = block(1)
    inner = block(2)
    next(outer)
    next(inner)
    config(threads=5)  # belongs to the inner one
    outer.close()  # type: ignore[attr-defined]
    assert settings.threads == 5
    inner.close()  # type: ignore[attr-defined]
    assert settings.threads == 8


def test_one_object_is_several_blocks() -> None:
    one = config(threads=1)
    for _ in range(2):
        with one:
            assert settings.threads == 1
            with one, config(threads=2):
                assert settings.threads == 2
            assert settings.threads == 1
        assert settings.threads == 8


def test_changes_do_not_pile_up() -> None:
    waiting = config(threads=7)
    for k in range(1, 50):
        config(threads=k)
    assert settings.threads == 49
    assert len(_config._layers) <= 3
    with waiting:
        assert settings.threads == 7
    assert settings.threads == 49


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"speed": 1}, "unknown setting 'speed'"),
        ({"threads": 0}, "at least 1"),
        ({"threads": True}, "takes int"),
        ({"engine": "fast"}, "must be one of"),
        ({"threads": 2, "cache": 1}, "takes bool"),
    ],
)
def test_refused_changes_change_nothing(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        xl.config(**changes)
    assert settings.threads == 8


def test_the_settings_in_force_are_shown() -> None:
    with xl.config(threads=3, default_layout="column_major") as inside:
        shown = repr(xl.config())
        assert shown == repr(inside)
        assert "threads=3" in shown
        assert "default_layout='column_major'" in shown
        namespace = dict(eval(shown.replace("config(", "dict("), {}))
    assert namespace.keys() == set(type(inside).__slots__)
    assert "threads=3, " not in repr(xl.config(threads=2))


def test_settings_are_attributes() -> None:
    before = xl.config.engine
    with xl.config():
        xl.config.engine = "reference"
        assert xl.config.engine == settings.engine == "reference"
        with pytest.raises(ValueError, match="engine must be one of"):
            xl.config.engine = "fast"
        with pytest.raises(ValueError, match="threads takes int"):
            xl.config.threads = "2"
        assert xl.config.engine == "reference"
    assert xl.config.engine == settings.engine == before
    for act in (lambda: setattr(xl.config, "engin", 1), lambda: xl.config.engin):
        with pytest.raises(AttributeError, match="unknown setting 'engin'; known"):
            act()
    assert not hasattr(xl.config, "engin")
