"""Many small cases in one test.

What pytest does for a test (it is collected by every worker, sent, begun, ended and reported)
takes some milliseconds, more than most cases of a table do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self


class Cases:
    """Cases that are all run, whichever fail; the errors are raised at the end, with their names.

    >>> with Cases() as cases:
    ...     for number in (1, 2):
    ...         with cases.of(number=number):
    ...             assert number > 0
    """

    def __init__(self) -> None:
        self.count, self.errors = 0, list[Exception]()

    @contextmanager
    def of(self, **named: Any) -> Iterator[None]:
        """Run one case."""
        self.count += 1
        try:
            yield
        except Exception as error:
            error.add_note(f"case: {named}")
            self.errors.append(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *of_it: object) -> None:
        if kind is not None or not self.errors:
            return
        if len(self.errors) == 1:
            raise self.errors[0]
        raise ExceptionGroup(f"{len(self.errors)} of {self.count} cases", self.errors)


def together(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Have a test run for every case, as by `pytest.mark.parametrize`, but in one test."""
    named = (names,) if isinstance(names, str) else names
    rows = [(case,) if isinstance(names, str) else case for case in cases]
    known = [dict(zip(named, row, strict=True)) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            with Cases() as told:
                for case in known:
                    with told.of(**case):
                        test(*args, **others, **case)

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in named]
        assert len(left) == len(signature.parameters) - len(named), f"{test.__name__}: {names}"
        assert known, f"{test.__name__}: no cases"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.cases = known  # type: ignore[attr-defined]
        return run

    return decorate
