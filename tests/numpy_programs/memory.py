"""Programs about memory: lazy results that are written, casts by rule, flags, files.

A program is a function of the module it is written for; see `values`.
"""

from __future__ import annotations

import importlib
import io
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

Xp = ModuleType


def parts_of_a_lazy_result_are_written(xp: Xp) -> Any:
    z = xp.exp(1j * xp.arange(3.0)).copy()
    z.imag = 0
    z.real += 1
    z.imag[1] = 5
    return z


def functions_that_write_take_lazy_results(xp: Xp) -> Any:
    d = xp.arange(9.0).reshape(3, 3) * 2
    xp.fill_diagonal(d, -1.0)
    e = d + 1
    xp.put(e, [0, 4], [7.0, 8.0])
    f = d * 1
    xp.copyto(f, e, where=e > 5)
    xp.place(f, f < 0, [100.0])
    xp.putmask(d, d > 10, 0.0)
    return d, e, f


def casting_rules(xp: Xp) -> Any:
    a = xp.asarray([1.5, 2.5])
    refused = []
    for cast in (
        lambda: a.astype(int, casting="same_kind"),
        lambda: xp.copyto(xp.zeros(2, dtype=int), 1.5),
        lambda: xp.copyto(xp.zeros(2, dtype=bool), 1),
        lambda: xp.copyto(xp.zeros(2, dtype=bool), 1, where=xp.asarray([True, False])),
        lambda: a[0].astype("f4", casting="safe"),
    ):
        try:
            cast()
        except TypeError as error:
            refused.append("according to the rule" in str(error) or "rule:" in str(error))
    whole = xp.zeros(2, dtype=int)
    xp.copyto(whole, a, casting="unsafe")
    fortran = xp.ones((2, 3)).astype("f4", order="F")
    return refused, whole, fortran, fortran.flags.f_contiguous, a.astype(float, copy=False) is a


def resizing(xp: Xp) -> Any:
    a = xp.arange(6)
    a.resize((2, 4))
    b = xp.ones((2, 3))
    b.resize(4, refcheck=False)
    c = xp.floor(xp.arange(12).reshape(3, 4) / 2)
    c.resize((2, 6))
    d = c + 1
    d.resize(3, 5, refcheck=False)
    e = (c * 2)[1:]
    e.resize((3, 2), refcheck=False)
    e[0, 1] = 7
    kept = c * 1
    f = kept + 1
    kept.resize(2)
    return a, b, c, d + 0.5, refused(lambda: e.resize(9)), e, kept, f, f.shape


def flags(xp: Xp) -> Any:
    a = xp.zeros((2, 3))
    asked = [a, a.T, a[:, 1], a[0], a.copy(order="F"), a + 1, a.T * 2, xp.sqrt(a[0])]
    names = ("c_contiguous", "f_contiguous", "fortran", "owndata", "writeable", "fnc", "forc")
    keys = ("C", "F_CONTIGUOUS", "W", "OWNDATA", "ALIGNED")
    return (
        [[getattr(x.flags, name) for name in names] for x in asked],
        [[x.flags[key] for key in keys] for x in asked],
        [x.base is None for x in asked],
        (a + 1).base is None,
    )


def windows(xp: Xp) -> Any:
    x = xp.arange(6.0)
    view = xp.lib.stride_tricks.sliding_window_view(x, 3)
    strided = xp.lib.stride_tricks.as_strided
    (step,) = x.strides
    written = xp.lib.stride_tricks.sliding_window_view(x, 2, writeable=True)
    written[0, 1] = 7
    x[5] = -1
    return (
        [view, view.mean(axis=-1), view.flags.writeable, refused(view.__setitem__, 0, 1)],
        [strided(x, (3, 2), (16, 8)), strided(x, shape=(2, 2), strides=(2 * step, step))],
        strided(x[::2], shape=(2,), strides=(x[::2].strides[0] * 2,), writeable=False),
        x,
    )


def windows_of_results(xp: Xp) -> Any:
    strided = xp.lib.stride_tricks.as_strided
    padded = xp.pad(xp.arange(16.0).reshape(4, 4), 1)
    patches = strided(padded, (4, 4, 3, 3), padded.strides * 2)
    across = xp.asarray(xp.arange(6.0).reshape(2, 3).T) + 1
    step = across.strides[0]
    return patches.sum((2, 3)), strided(across, (2, 2), (step, step)), strided(across * 2)


def refused(function: Any, *args: Any, by: type[Exception] = ValueError) -> bool:
    """Tell whether a call raises an error."""
    try:
        function(*args)
    except by:
        return True
    return False


def views_by_letters(xp: Xp) -> Any:
    m = xp.arange(9.0).reshape(3, 3)
    xp.einsum("ii->i", m)[:] = -1
    turned = xp.einsum("ij->ji", m)
    turned[0, 1] = 5
    stack = xp.arange(8).reshape(2, 2, 2)
    xp.einsum("...ii->...i", stack)[...] += 10
    return m, turned, stack, refused(xp.einsum, "ij,jk", m, m[0])


def other_byte_order(xp: Xp) -> Any:
    big = xp.array([1, 256], dtype=">i2")
    read = xp.frombuffer(b"\x00\x01\x00\x02", dtype=">u2")
    v = xp.asarray([1.0, 2.0])
    return (
        [big, big.tobytes(), read, xp.zeros(2, ">f8"), xp.arange(3, dtype=">i4")],
        [xp.sin(xp.array([1.0], ">f4")), v * big, big * v, xp.sum(big), xp.sort(big[::-1])],
        [v.astype(">f4"), xp.asarray(read + 1), v.byteswap().view(">f8")],
        [xp.concatenate([big, v]), xp.dtype(">i4").newbyteorder() == xp.dtype("int32")],
    )


def membership(xp: Xp) -> Any:
    a = xp.arange(6).reshape(2, 3)
    return 5 in a, 6 in a, 2.0 in a[0], a[0, 0] in a


def numbers_alone(xp: Xp) -> Any:
    roots = [xp.sqrt(k) for k in range(3)]
    found = {xp.floor(2.5): "two"}
    whole, rest = divmod(xp.float64(7.5), 2)
    return (
        roots,
        found[2.0],
        sorted(roots)[-1],
        xp.maximum(1, 2.5),
        (whole, rest),
        xp.float64(2.5).is_integer(),
        xp.float64(0.75).as_integer_ratio(),
        xp.int64(10).bit_count(),
        xp.unravel_index(5, (2, 3)),
        xp.median([1, 2, 4]).is_integer(),
    )


def methods_of_ufuncs(xp: Xp) -> Any:
    return (
        xp.lcm.reduce([2, 3, 4]),
        xp.gcd.outer([12, 9], [6, 4]),
        xp.logaddexp2.accumulate([1.0, 2.0]),
        xp.float_power.outer([2, 3], [1, 2]),
        xp.ldexp(xp.asarray([1.0, 2.0]), [2, 3]),
        xp.matvec(xp.eye(2), [1.0, 2.0]),
        xp.vecmat([1.0, 2.0], xp.ones((2, 2))),
        xp.matmul(xp.eye(2), xp.ones((2, 2)), out=xp.zeros((2, 2))),
    )


def text_and_files(xp: Xp) -> Any:
    old = xp.seterr(all="ignore")
    xp.seterr(**old)
    file = io.BytesIO()
    xp.savez(file, xp.arange(3), name=xp.ones(2))
    file.seek(0)
    with xp.load(file) as archive:
        kept = sorted(archive.files), archive["arr_0"], archive["name"]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plain"
        xp.asarray([[1, 2], [3, 4]], dtype="i2").tofile(path)
        plain = xp.fromfile(path, dtype="i2", count=3), xp.fromfile(path, "(2,)i2")
        xp.savez_compressed(str(path), a=[1])
        names = sorted(entry.name for entry in Path(folder).iterdir())
    return (
        kept,
        plain,
        names,
        xp.fromstring("1 2 3", sep=" "),
        xp.binary_repr(5, 8),
        xp.base_repr(255, 16),
        xp.format_float_positional(1e-5),
        xp.fromfunction(lambda i, j: i + j, (2, 2)),
        xp.einsum_path("ij,jk", xp.ones((2, 2)), xp.ones((2, 2)))[0],
    )


def parts_of_results(xp: Xp) -> Any:
    z = xp.asarray([1 + 2j, 3 - 1j])
    e, f, g, h = z * 2, z + 1, xp.exp(z), (z * 1j).reshape(2, 1)
    e.real[0] = 9
    f.imag[:] = 0
    part = g.real
    part += 5
    h.imag[0, 0] = 1
    kept = f.real
    f[1] = 7
    xp.real(f)[xp.real(f) < 5] = -1
    return e, f, g, h, part, kept, z


def strides_and_sizes_of_elements(xp: Xp) -> Any:
    a = xp.arange(20.0).reshape(4, 5)
    view = xp.lib.stride_tricks.as_strided
    step = a.strides[0] + a.itemsize
    return (
        view(a, (4,), (step,)),
        view(a, (3, 2), (a.itemsize + a.strides[0], 2 * a.itemsize)),
        view(a[:, ::-1], (4,), (a.strides[0] - a.itemsize,)),
        view(a, (2, 5), (a.strides[0] // a.itemsize * a.itemsize, a.itemsize)),
        int(a.itemsize),
        a.strides[0] // a.itemsize,
        a.itemsize * a.size == a.nbytes,
    )


def views_under_another_shape(xp: Xp) -> Any:
    a = xp.arange(6.0).reshape(2, 3)
    a.resize((3, 2), refcheck=False)
    b = xp.arange(6.0).reshape(2, 3)
    return a, refused(lambda: b.resize((3, 3))), b


def how_transposed_results_lie(xp: Xp) -> Any:
    m = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    names = "c_contiguous f_contiguous contiguous forc fnc writeable behaved carray"
    found = []
    for e in ((m + 1).T, m + 1, m.T, m[:, 1:], m[0], (m + 1).T.T, (m.T + 1).T, xp.asarray(2.0)):
        found.append([bool(getattr(e.flags, name)) for name in names.split()])
        size = e.itemsize if xp.__name__ == "numpy" else 1
        found.append([str(s // size) for s in e.strides])
    e = (m + 1).T
    e[0, 1] = 9
    return found, e, m


def numbers_that_are_no_integers(xp: Xp) -> Any:
    found = []
    for values, dtype in (
        ([float("nan")], int),
        ([1.0, float("inf")], "i4"),
        ([[0.5], [float("nan")]], "u1"),
        (float("nan"), int),
        ([300.0], "i1"),
        ([-1.0], "u8"),
        ([1e300], int),
        ([-0.5, 2.9, True], "u1"),
        ([1e19], "u8"),
    ):
        try:
            found.append(xp.asarray(values, dtype=dtype))
        except (ValueError, OverflowError) as error:
            found.append(type(error).__name__)
    a = xp.zeros(2, dtype=int)
    try:
        a[:] = [1.0, float("nan")]
    except ValueError as error:
        found.append(str(error))
    return found


def tolerances_that_are_arrays(xp: Xp) -> Any:
    m = xp.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    near = xp.asarray([0.1, 0.1, 0.01])
    return [
        xp.allclose(m, m + 0.05, rtol=0.0, atol=near),
        xp.allclose(m, m + 0.01, rtol=near),
        xp.allclose(m, m + 0.05, atol=[0.1, 0.1, 0.1]),
    ]


def axes_are_integers(xp: Xp) -> Any:
    m = xp.ones((2, 3))
    return [
        refused(lambda: m.sum(True), by=TypeError),
        refused(lambda: xp.argmax(m, axis=True), by=TypeError),
        refused(lambda: xp.any(m, axis=False), by=TypeError),
        refused(lambda: xp.std(m, axis=True), by=TypeError),
        m.sum(1),
    ]


def powers_in_a_dtype(xp: Xp) -> Any:
    return [
        xp.float_power([1, 2], 2, dtype=complex),
        xp.float_power(xp.ones(2, dtype="f4"), 2, dtype="f8"),
        refused(lambda: xp.float_power([1, 2], 2, dtype="f4"), by=TypeError),
        refused(lambda: xp.float_power([1j, 2], 2, dtype="f8"), by=TypeError),
    ]


def old_generators(xp: Xp) -> Any:
    old = xp.random.RandomState(3)
    a = xp.arange(5)
    old.shuffle(a)
    again = xp.random.RandomState(4)
    again.set_state(old.get_state())
    return (
        old.rand(3),
        old.randint(9, size=(2, 2)),
        old.permutation(4),
        old.choice(a, 2),
        a,
        again.standard_normal(2),
        old.uniform(),
        xp.random.default_rng(xp.random.RandomState(7)).random(2),
    )


def modules_by_their_names(xp: Xp) -> Any:
    series = importlib.import_module(f"{xp.__name__}.polynomial.polynomial")
    names = [importlib.import_module(f"{xp.__name__}.{name}").__name__ for name in ("rec", "char")]
    with tempfile.TemporaryDirectory() as folder:
        xp.save(Path(folder) / "x", xp.ones(2))
        saved = [entry.name for entry in Path(folder).iterdir()]
        loaded = xp.load(Path(folder) / "x.npy")
    return series.polyval(2.0, [1.0, 2.0]), series.polyfromroots([1, 2]), names, saved, loaded


def views_of_a_copy(xp: Xp) -> Any:
    a = xp.arange(6.0).reshape(2, 3)
    turned = a.T * 1  # which lies as `a` does, so that what follows are copies
    flat, rows = turned.reshape(-1), turned.reshape(2, 3)
    part, pairs, row, upside = flat[1:], flat.reshape(3, 2), rows[0], rows[::-1]
    part[0] = 9
    row[...] = 7
    turned[0] = -1
    pairs[2] += 1
    first, second = turned.ravel()[1:], turned.ravel()[1:]
    first[0] = 5
    return a, turned, flat, rows, part, pairs, row, upside, first, second


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__module__", None) == __name__ and callable(value) and name != "refused"
]


def parts_without_zeros(xp: Xp) -> Any:
    v = xp.asarray([0.0, 3.0, 0.0, 4.0, 0.0])
    m = xp.asarray([[0, 0, 2, 3, 0], [0, 1, 0, 3, 0], [0, 0, 0, 0, 0]])
    made = [xp.trim_zeros(m), xp.trim_zeros(m, "f", axis=1), xp.trim_zeros(m, axis=())]
    made += [xp.trim_zeros(v * 0), xp.trim_zeros(v * 2, "b"), xp.trim_zeros(v[::-1])]
    copies = [part.copy() for part in made]
    inner = xp.trim_zeros(v)
    inner[0] = 7
    made[0][-1] = -5
    return inner, v, m, copies, refused(xp.trim_zeros, v, "x"), refused(xp.trim_zeros, v, "f", 1)


PROGRAMS += [strides_and_sizes_of_elements, views_under_another_shape, parts_without_zeros]
