"""Many small cases in one test.

What pytest does for a test (it is collected by every worker, sent, begun, ended and reported)
takes some milliseconds, more than most cases of a table do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
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
        if not self.errors or kind is KeyboardInterrupt:
            return
        if len(self.errors) == 1:
            raise self.errors[0]
        raise ExceptionGroup(f"{len(self.errors)} of {self.count} cases", self.errors)


def together(
    names: str | Sequence[str], cases: Iterable[Any], ids: Callable[[Any], Any] | Any = None
) -> Callable[..., Any]:
    """Have a test run for every case, as by `pytest.mark.parametrize`, but in one test.

    Fixtures are there once for all of them.
    """
    named = (names,) if isinstance(names, str) else tuple(names)
    rows = [(case,) if isinstance(names, str) else case for case in cases]
    known = [dict(zip(named, row, strict=True)) for row in rows]
    told_as = known if ids is None or callable(ids) else [{"id": name} for name in ids]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            with Cases() as told:
                for case, name in zip(known, told_as, strict=True):
                    with told.of(**name):
                        test(*args, **others, **case)

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in named]
        assert len(left) == len(signature.parameters) - len(named), f"{test.__name__}: {names}"
        assert known, f"{test.__name__}: no cases"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.cases = known  # type: ignore[attr-defined]
        return run

    return decorate
