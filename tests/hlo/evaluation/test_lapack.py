"""Custom calls of LAPACK: factors multiply to what was factored, solutions solve."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xarraylite as xl

pytestmark = pytest.mark.once

pytest.importorskip("scipy")

NAMES = {"float32": ("s", "f32", "f32"), "complex128": ("z", "c128", "f64")}
N = 4


@pytest.fixture(params=list(NAMES))
def a(request: pytest.FixtureRequest) -> np.ndarray:
    """A stack of two matrices, not far from the identity."""
    rng = np.random.default_rng(0)
    made = rng.normal(size=(2, N, N)) + 1j * rng.normal(size=(2, N, N)) + 3 * np.eye(N)
    return (made if request.param == "complex128" else made.real).astype(request.param)


def call(routine: str, result: str, config: str, *operands: np.ndarray) -> Any:
    """Call a routine; T in the result's shape is the operands' type and R its real one."""
    letter, kind, real = NAMES[str(operands[0].dtype)]
    if letter == "z":
        routine = routine.replace("orm", "unm").replace("org", "ung").replace("sy", "he")
    lines = [f"p{k} = {xl.asarray(x).spec} parameter({k})" for k, x in enumerate(operands)]
    names = ", ".join([f"p{k}" for k in range(len(operands))])
    result = result.replace("T", kind).replace("R", real)
    lines.append(
        f"ROOT r = {result} custom-call({names}), backend_config={{{config}}}, "
        f'custom_call_target="lapack_{letter}{routine}_ffi"'
    )
    module = xl.hlo.parse("ENTRY e {\n" + "\n".join(lines) + "\n}")
    module.verify()
    found = module(*operands)
    return [np.asarray(x) for x in found] if isinstance(found, tuple) else np.asarray(found)


def char(**settings: str) -> str:
    return ", ".join([f"{name} = {ord(value)} : ui8" for name, value in settings.items()])


def close(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.allclose(x, y, rtol=1e-4, atol=1e-4))


def adjoint(x: np.ndarray) -> np.ndarray:
    return np.swapaxes(x.conj(), -1, -2)


def test_cholesky(a):
    positive = a @ adjoint(a)
    low, info = call("potrf", "(T[2,4,4], s32[2])", char(uplo="L"), positive)
    assert close(np.tril(low) @ adjoint(np.tril(low)), positive)
    assert info.tolist() == [0, 0]
    assert call("potrf", "(T[2,4,4], s32[2])", char(uplo="L"), -positive)[1].tolist() == [1, 1]


def test_lu(a):
    lu, pivots, info = call("getrf", "(T[2,4,4], s32[2,4], s32[2])", "", a)
    assert info.tolist() == [0, 0]
    for matrix, factors, swaps in zip(a, lu, pivots, strict=True):
        rows = np.arange(N)
        for k, other in enumerate(swaps - 1):
            rows[[k, other]] = rows[[other, k]]
        assert close((np.tril(factors, -1) + np.eye(N)) @ np.triu(factors), matrix[rows])


def test_qr_and_products_with_its_reflectors(a):
    packed, tau = call("geqrf", "(T[2,4,4], T[2,4])", "", a)
    q = call("orgqr", "T[2,4,4]", "", packed, tau)
    assert close(q @ np.triu(packed), a)
    settings = "left = true, transpose = true"
    assert close(call("ormqr", "T[2,4,4]", settings, packed, tau, a), np.triu(packed))


def test_qr_with_pivots(a):
    free = np.zeros((2, N), np.int32)
    packed, columns, tau = call("geqp3", "(T[2,4,4], s32[2,4], T[2,4])", "", a, free)
    q = call("orgqr", "T[2,4,4]", "", packed, tau)
    assert close(q @ np.triu(packed), np.take_along_axis(a, columns[:, None] - 1, 2))
    with pytest.raises(xl.HloError, match=r"geqp3|custom-call.*fixed in front"):
        call("geqp3", "(T[2,4,4], s32[2,4], T[2,4])", "", a, free + 1)


@pytest.mark.parametrize("routine", ["gesdd", "gesvd"])
def test_singular_values(a, routine):
    whole = "(T[2,4,3], R[2,3], T[2,4,{0}], T[2,3,3], s32[2])"
    part = np.ascontiguousarray(a[:, :, :3])
    _, s, u, vt, _ = call(routine, whole.format(3), char(mode="S"), part)
    assert close((u * s[:, None]) @ vt, part)
    _, _, u, _, _ = call(routine, whole.format(4), char(mode="A"), part)
    assert close(u @ adjoint(u), np.eye(N))
    _, values, u, _, _ = call(routine, whole.format(4), char(mode="N"), part)
    assert close(values, s)
    assert not u.any()


def test_eigenvalues_of_hermitian_matrices(a):
    hermitian = a + adjoint(a)
    result = "(T[2,4,4], R[2,4], s32[2])"
    v, w, _ = call("syevd", result, char(mode="V", uplo="L"), hermitian)
    assert close(hermitian @ v, v * w[:, None])
    assert close(call("syevd", result, char(mode="N", uplo="U"), hermitian)[1], w)


def test_tridiagonal_form(a):
    hermitian = a + adjoint(a)
    result = "(T[2,4,4], R[2,4], R[2,3], T[2,3], s32[2])"
    _, d, e, _, _ = call("sytrd", result, char(uplo="L"), hermitian)
    for matrix, middle, off in zip(hermitian, d, e, strict=True):
        same = np.diag(middle) + np.diag(off, 1) + np.diag(off, -1)
        assert close(np.linalg.eigvalsh(same), np.linalg.eigvalsh(matrix))


def test_eigenvectors(a):
    values = "R[2,4], R[2,4]" if a.dtype.kind == "f" else "T[2,4]"
    kind = "c64" if a.dtype.kind == "f" else "T"
    result = f"({values}, {kind}[2,4,4], {kind}[2,4,4], s32[2])"
    turned = a - 3 * np.eye(N, dtype=a.dtype)  # of the real ones, one has a pair of complex values
    config = char(compute_left="V", compute_right="V")
    *parts, left, right, _ = call("geev", result, config, turned)
    w = parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0]
    assert np.any(w.imag)
    assert close(turned @ right, right * w[:, None])
    assert close(adjoint(left) @ turned, w[..., None] * adjoint(left))


def test_schur_form(a):
    values = "R[2,4], R[2,4]" if a.dtype.kind == "f" else "T[2,4]"
    result = f"(T[2,4,4], T[2,4,4], {values}, s32[2], s32[2])"
    t, z, *_ = call("gees", result, char(mode="V", sort="N"), a)
    assert close(z @ t @ adjoint(z), a)


def test_hessenberg_form(a):
    packed, tau, _ = call("gehrd", "(T[2,4,4], T[2,3], s32[2])", "high = 4 : i32, low = 1 : i32", a)
    form = np.triu(packed, -1)
    assert close(np.trace(form, axis1=1, axis2=2), np.trace(a, axis1=1, axis2=2))
    assert close(np.linalg.det(form), np.linalg.det(a))
    assert tau.any()


def test_tridiagonal_systems(a):
    low, middle, up, right = a[:, 0], a[:, 1] + 9, a[:, 2], a
    parts = [np.ascontiguousarray(x) for x in (low, middle, up, right)]
    *_, x, info = call("gtsv", "(T[2,4], T[2,4], T[2,4], T[2,4,4], s32[2])", "", *parts)
    for k in range(2):
        matrix = np.diag(middle[k]) + np.diag(low[k, 1:], -1) + np.diag(up[k, :-1], 1)
        assert close(matrix @ x[k], right[k])
    assert info.tolist() == [0, 0]


@pytest.mark.parametrize("side", "LR")
@pytest.mark.parametrize("turned", "NTC")
def test_triangular_systems(a, side, turned):
    config = char(diag="N", side=side, trans_x=turned, uplo="L")
    x = call("trsm", "T[2,4,4]", config, a, a + 1)
    low = np.tril(a)
    low = {"N": low, "T": np.swapaxes(low, -1, -2), "C": adjoint(low)}[turned]
    assert close(low @ x if side == "L" else x @ low, a + 1)


def test_matrices_without_elements():
    packed, tau = call("geqrf", "(T[2,0,4], T[2,0])", "", np.zeros((2, 0, 4), np.float32))
    assert packed.shape == (2, 0, 4)
    assert tau.shape == (2, 0)


@pytest.mark.parametrize(
    ("config", "b"),
    [
        ({"diag": "N", "side": "L", "uplo": "L"}, np.ones((2, 4, 4))),
        ({"diag": "N", "side": "L", "uplo": "L", "trans_x": "N"}, np.ones((1, 4, 4))),
        ({"diag": "N", "side": "L", "uplo": "L", "trans_x": "N"}, np.ones((2, 4, 3))),
    ],
)
def test_settings_and_operands_that_do_not_fit_are_refused(a, config, b):
    with pytest.raises(xl.HloError, match="operands or settings do not fit"):
        call("trsm", "T[2,4,4]", char(**config), a, b.astype(a.dtype))
