"""Many small cases in one test.

What pytest does for a test (it is collected by every worker, sent, begun, ended and reported)
takes some milliseconds, more than most cases of a table do.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def together(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[..., Any]:
    """Have a test run for every case, as by `pytest.mark.parametrize`, but in one test.

    All cases are run, whichever fail; the errors of those that do have notes that name them.
    """
    named = (names,) if isinstance(names, str) else names
    known = list(cases)

    def of(case: Any) -> dict[str, Any]:
        return dict(zip(named, (case,) if isinstance(names, str) else case, strict=True))

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **others: Any) -> None:
            errors = []
            for case in known:
                try:
                    test(*args, **others, **of(case))
                except Exception as error:
                    error.add_note(f"case: {of(case)}")
                    errors.append(error)
            if len(errors) == 1:
                raise errors[0]
            if errors:
                raise ExceptionGroup(f"{len(errors)} of {len(known)} cases", errors)

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in named]
        assert len(left) == len(signature.parameters) - len(named), f"{test.__name__}: {names}"
        assert known, f"{test.__name__}: no cases"
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        run.cases = known  # type: ignore[attr-defined]
        return run

    return decorate
