"""Cases that are run in one test are all run, and all that fail are told."""

from __future__ import annotations

import inspect

import pytest

from tests.cases import together

pytestmark = pytest.mark.once


def test_every_case_is_run_and_every_failure_told() -> None:
    seen = []

    @together("first", [1, 2, 3])
    @together(("second", "third"), [(0, "a"), (1, "b")])
    def check(given: int, first: int, second: int, third: str) -> None:
        seen.append((first, second, third))
        assert first * second < given

    assert list(inspect.signature(check).parameters) == ["given"]
    check(given=4)
    assert seen == [(n, *rest) for n in (1, 2, 3) for rest in ((0, "a"), (1, "b"))]
    with pytest.raises(AssertionError) as one:
        check(given=3)
    assert one.value.__notes__ == ["case: {'second': 1, 'third': 'b'}", "case: {'first': 3}"]
    with pytest.raises(ExceptionGroup, match="2 of 3 cases") as several:
        check(given=2)
    assert [error.__notes__[1] for error in several.value.exceptions] == [
        "case: {'first': 2}",
        "case: {'first': 3}",
    ]


def test_names_and_cases_must_be_there() -> None:
    for names, cases in (("other", [1]), ("first", [])):
        with pytest.raises(AssertionError, match="check"):

            @together(names, cases)
            def check(first: int) -> None:
                pass
