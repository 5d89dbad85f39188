"""Custom calls: what users say of them, and what is made sure of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import xarraylite as xl
from xarraylite.hlo import evaluate, parse, register_custom_call
from xarraylite.hlo.evaluation.custom_calls import CUSTOM_CALLS


@pytest.fixture(autouse=True)
def _own_targets() -> Iterator[None]:
    known = dict(CUSTOM_CALLS)
    yield
    CUSTOM_CALLS.clear()
    CUSTOM_CALLS.update(known)


def called(result: str, *attributes: str, parameter: str = "f32[4]") -> Any:
    more = "".join([", " + attribute for attribute in attributes])
    return parse(
        f"HloModule step\nENTRY e {{ p = {parameter} parameter(0)  "
        f'ROOT r = {result} custom-call(p), custom_call_target="of_user"{more} }}'
    )


def test_what_nobody_registered_is_refused_by_name() -> None:
    with pytest.raises(xl.HloError, match=r"r: custom-call\(f32\[4\].*step calls 'of_user'"):
        called("f32[4]")([1, 2, 3, 4])


def test_functions_are_registered_by_name_or_as_decorated() -> None:
    def reversed_(instruction: Any, x: np.ndarray) -> np.ndarray:
        return x[::-1]

    assert register_custom_call("of_user", reversed_) is reversed_
    assert called("f32[4]")([1, 2, 3, 4]).tolist() == [4, 3, 2, 1]
    assert register_custom_call("of_user")(np.negative) is np.negative
    with pytest.raises(TypeError, match="'no function' for 'of_user' cannot be called"):
        register_custom_call("of_user", "no function")  # type: ignore[call-overload]


def test_tuples_of_results_and_of_operands() -> None:
    @register_custom_call("of_user")
    def ends(instruction: Any, pair: tuple[np.ndarray, np.ndarray]) -> Any:
        low, high = pair
        return low[:1], (high.sum(), [high.argmax(), 0])

    module = called("(f32[1], (f32[], s32[2]))", parameter="(f32[4], f32[3])")
    first, (total, places) = module(([1, 2, 3, 4], [5, 7, 6]))
    assert (first.tolist(), total.item(), places.tolist()) == ([1], 18, [1, 0])
    register_custom_call("of_user", lambda instruction, pair: pair[0])
    with pytest.raises(xl.HloError, match=r"r: custom-call.*gave 1 results for"):
        module(([1, 2, 3, 4], [5, 7, 6]))


def test_layouts_are_of_the_program_and_arrays_of_their_dimensions() -> None:
    seen = []

    @register_custom_call("of_user")
    def rows(instruction: Any, x: np.ndarray) -> np.ndarray:
        seen.append(x.tolist())
        return x + 1

    tiled = "f32[2,3]{0,1:T(2,128)}"
    module = called(tiled, parameter="f32[2,3]{0,1}")
    found = module([[1, 2, 3], [4, 5, 6]])
    assert seen == [[[1, 2, 3], [4, 5, 6]]]
    assert found.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert str(found.spec) == tiled


def test_dynamic_results_have_any_size_up_to_the_bound() -> None:
    register_custom_call("of_user", lambda instruction, x: x[x > 2])
    assert called("f32[<=4]")([1, 2, 3, 4]).tolist() == [3, 4]


def test_backend_config_and_called_computations_are_the_functions_to_read() -> None:
    @register_custom_call("of_user")
    def repeated(instruction: Any, x: np.ndarray) -> Any:
        for _ in range(int(instruction.get("backend_config"))):
            x = evaluate(instruction.to_apply, x)
        return x

    module = parse("""
        twice { a = f32[4] parameter(0)  ROOT b = f32[4] add(a, a) }
        ENTRY e { p = f32[4] parameter(0)
        ROOT r = f32[4] custom-call(p), custom_call_target="of_user",
          called_computations={twice}, backend_config="3" }""")
    assert module.verify()([1, 2, 3, 4]).tolist() == [8, 16, 24, 32]


@pytest.mark.parametrize(
    ("found", "message"),
    [
        (np.zeros(4), r"gave float64\[4\] for f32\[4\]"),
        (np.zeros(3, "f4"), r"gave float32\[3\] for f32\[4\]"),
        (None, r"gave NoneType for f32\[4\]"),
        (1.0, r"gave float32\[\] for f32\[4\]"),
    ],
)
def test_results_that_are_not_as_the_program_says(found: Any, message: str) -> None:
    register_custom_call("of_user", lambda instruction, x: found)
    with pytest.raises(xl.HloError, match="r: custom-call.*" + message):
        called("f32[4]")([1, 2, 3, 4])


def test_errors_of_the_function_say_where_they_come_from() -> None:
    @register_custom_call("of_user")
    def broken(instruction: Any, x: np.ndarray) -> Any:
        raise RuntimeError("of the user's")

    with pytest.raises(RuntimeError, match="of the user's") as caught:
        called("f32[4]")([1, 2, 3, 4])
    assert caught.value.__notes__ == ["in the custom call 'of_user': r of step"]


def test_memory_is_nobody_elses() -> None:
    kept = np.arange(4, dtype=np.float32)
    register_custom_call("of_user", lambda instruction, x: kept)
    found = called("f32[4]")([1, 2, 3, 4])
    found[0] = 9
    assert kept.tolist() == [0, 1, 2, 3]

    @register_custom_call("of_user")
    def in_place(instruction: Any, x: np.ndarray) -> np.ndarray:
        x += 1
        return x

    with pytest.raises(ValueError, match="read-only"):
        called("f32[4]")([1, 2, 3, 4])


@pytest.mark.parametrize(
    ("result", "found"),
    [
        ("s8[]", 300),
        ("s8[]", 2**70),
        ("s8[]", 1.9),
        ("s8[]", float("nan")),
        ("s8[2]", [1, 2.5]),
        ("pred[]", 2),
    ],
)
def test_numbers_that_do_not_fit_are_refused(result: str, found: Any) -> None:
    register_custom_call("of_user", lambda instruction, x: found)
    with pytest.raises(xl.HloError, match=r"r: custom-call.*'?of_user'? gave"):
        called(result)([1, 2, 3, 4])


def test_numbers_that_fit_and_arrays_in_the_other_order_of_bytes_are_taken() -> None:
    register_custom_call("of_user", lambda instruction, x: [1, 2])
    assert called("s8[2]")([1, 2, 3, 4]).tolist() == [1, 2]
    register_custom_call("of_user", lambda instruction, x: True)
    assert called("pred[]")([1, 2, 3, 4]).item() is True
    register_custom_call("of_user", lambda instruction, x: x.astype(">f4"))
    assert called("f32[4]")([1, 2, 3, 4]).tolist() == [1, 2, 3, 4]


def test_registering_without_a_name_is_refused() -> None:
    with pytest.raises(TypeError, match="the target is a string"):
        register_custom_call(lambda i: 1)  # type: ignore[call-overload]


def test_an_error_raised_again_has_one_note() -> None:
    error = RuntimeError("kept")

    def broken(instruction: Any, x: np.ndarray) -> Any:
        raise error

    register_custom_call("of_user", broken)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="kept"):
            called("f32[4]")([1, 2, 3, 4])
    assert len(error.__notes__) == 1
