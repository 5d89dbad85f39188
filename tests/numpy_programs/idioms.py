"""Everyday idioms, one a line: read, and written; ``a``, ``v`` and ``i`` are small arrays."""

READING = r"""
a[0,0].item()
a[:,0].tolist()
list(a[0])
[float(x) for x in v]
[[y for y in row] for row in a]
sum(v)
max(v), min(v)
sorted(v, reverse=True)
v[::-1]
v[-1]
v[v>1]
v[(v>0)&(v<3)]
np.where(v>1)[0]
a[a.argmax(0), [0,1,2]]
a[np.arange(2), [0,2]]
a[..., -1]
a[:, None].shape
a[np.newaxis].shape
a[[True,False]]
a[1:, [0,2]]
v[[0,-1]]
v.argsort()[::-1]
a.T @ a
a.dot(v)
v @ v
a.sum(axis=(0,1))
a.mean(), a.std(), a.var()
(a > 2).sum()
(a > 2).any(), (a>0).all()
a.max(axis=1, keepdims=True)
len(a), a.shape, a.ndim, a.size, a.dtype
a.astype(int)
a.astype("float32").dtype
a.astype(bool)
a.copy().fill(0)
f"{a.mean():.2f} {v[0]:g} {v}"
"%.3f" % a.sum()
int(v[0]), float(v[1]), complex(v[2]), bool(v[0])
math.sqrt(v[1]), math.floor(v[2]), math.isnan(v[0])
v[0] if v[0] > 0 else -v[0]
hash(v[0]) == hash(1.0)
{v[0]: 1}[1.0]
v[0] in (1.0, 2.0)
1.0 in v
round(v[0]*1.2345, 2)
divmod(v[2], 2)
v[0] ** 2, 2 ** v[0], v[0] ** 0.5
abs(-v), -v, +v
~(v>1)
v // 2, v % 2
i << 1, i >> 1, i & 1, i | 4, i ^ 1
i[0] << 2, i[1] & 1
range(i[1])
[10,20,30,40][i[1]]
"ab" * i[1]
[0] * (i.max() + 1), i[1] * [1, 2], (7,) * i[1], xp.asarray(2) * [1, 2]
xp.add.identity, xp.multiply.identity, xp.maximum.identity, xp.sin.nin, xp.gcd.nargs
xp.vectorize(lambda n: n / 2)(i), xp.vectorize(lambda x: 1 if x > 1 else 0)(v)
[f(xp.asarray(4), axis=k) for f in (xp.sum, xp.max, xp.all, xp.argmin) for k in (0, -1)]
xp.zeros(i[1])
v * [1,2,3], [1,2,3] * v
v == [1,2,3]
v + (1,2,3)
v.tolist() + [1]
a.reshape(3,2), a.reshape((3,-1)), a.ravel(), a.flatten()
a.transpose(), a.swapaxes(0,1)
a.squeeze(), a[None].squeeze().shape
a.repeat(2), a.clip(1,3), a.round(1)
a.cumsum(), a.cumsum(axis=1)
a.nonzero()
a.diagonal(), a.trace()
a.take([0,1]), v.searchsorted(2.5)
a.min(0), a.argmin(), a.prod()
np.sum(a), np.mean(a, axis=0), np.max(a)
np.sqrt(a), np.exp(v), np.maximum(v, 2)
np.concatenate([v, v]), np.vstack([v, v]), np.stack([v,v])
np.dot(a, v), np.outer(v, v)
np.allclose(a, a)
np.array_equal(v, v)
np.sort(v)[::-1]
np.unique(v)
np.argsort(v)
np.cumsum(v), np.diff(v)
np.add.reduce(v), np.multiply.accumulate(v), np.subtract.outer(v, v)
xp.asarray([v[0], v[1]])
np.asarray(a).shape
statistics.mean([float(x) for x in v])
functools.reduce(operator.add, v)
list(zip(v, i))
list(enumerate(v))
list(map(float, v))
list(itertools.accumulate(v))
copy.copy(v), copy.deepcopy(a)
v.nbytes, v.itemsize, v.dtype.name, v.dtype.kind
a.real, a.imag, (a+1j).real
a.flat[2], list(a.flat)[:2]
isinstance(a.mean(), xp.floating), isinstance(v.max(), xp.float64), isinstance(a[0], xp.floating)
isinstance(i.sum(), xp.integer), isinstance(i.mean(), xp.integer)
v[0][v[0] > 0], v[0][v[0] > 1], v[0][()], v.sum()[v.sum() > 0], v[v[0] > 5]
xp.isscalar(v.sum()), xp.isscalar(v[0]), xp.isscalar(a[0]), xp.isscalar(2), xp.isscalar(xp.array(2))
xp.linspace(0, 1, 3, retstep=True)[1]
a.item(0), a.item(0,1)
any(v > 2), all(v > 0)
a.view()
v.sum().item(), v.sum().dtype
float(v.sum()), int(v.max())
v.mean() > 1
[x for x in v if x > 1]
v[i]
v[i[0]:i[2]]
v[np.array([0,1])]
a[0] + a[1]
(a[0] * 2)[1]
(a*2)[0,1]
a[:,0] @ a[:,0]
sum(x*x for x in v)
tuple(v), set(i.tolist())
a.tobytes() == np.asarray(a).tobytes()
np.where(a > 2, a, -a)
np.clip(v, 1, 2)
v.conj(), (v*1j).conjugate()
v.dot(v).item()
a.std(axis=0, ddof=1)
np.broadcast_to(v, (2,3))
v.argmax() == 2
a[v.argmax() - 1]
str(a)
v[0] == 1.0, v[0] != v[1]
[float(x) for x in (lambda x, y, z: (z, y, x))(*v)]
(a + 1j * a[::-1]).max(1), (v * 1j).min(), xp.argmax(xp.asarray([1, 1 + 2j, 1 - 1j]))
xp.nanmax(xp.asarray([1j, xp.nan])), xp.ptp(v * 1j), xp.argmin(xp.asarray([1, xp.nan * 1j]))
isinstance(a.dtype, xp.dtype), xp.dtype("U3"), xp.dtype([("n", "U4"), ("x", float)]).names
xp.array("abc").item(), xp.full((2, 2), None).tolist(), xp.eye(2, dtype=object).tolist()
xp.tri(2, -1), xp.tri(-1), xp.tri(2, 3, 1), xp.tri(3, k=-1, dtype=int)
next(a.flat), [x for x in a.flat][:2], a.flat.coords, (a.flat == 2).sum(), a.flat.copy()
a.sum().flat[:], a.sum().flat[1:3], a.max().flat[[0, 0]]
(lambda f: (next(f), f.index, list(f), list(f)))(a.flat)
float(xp.ma.masked_less(v, 2).mean()), float(xp.ma.array(a, mask=a > 4).sum())
v.byteswap().byteswap(), i.byteswap(), bytes(v.data), v.ctypes.shape[0]
xp.long(3), xp.ulong(3)
xp.add(a, 1, dtype=xp.float32, casting="same_kind"), xp.subtract(i, 1, order="F", subok=False)
xp.add(v, 1.5, out=xp.zeros(3, int), casting="unsafe"), xp.matmul(i, i, dtype=float)
np.add(v, 1.5, out=xp.zeros(3, int), casting="unsafe")
xp.vecdot(a, a, axis=0), xp.vecdot(a, v, keepdims=True), xp.linalg.vecdot(a, a, axis=1)
xp.matmul(a, a, axes=[(1, 0), (0, 1), (0, 1)]), xp.matmul(a, v, casting="no")
xp.matmul(i, i, signature="dd->d")
xp.square(xp.poly1d([1, 2, 3]))
xp.may_share_memory(type("Other", (), {"__array__": lambda *_, **__: v[::2]})(), v)
xp.modf(v / 2, out=(xp.zeros(3), xp.zeros(3))), xp.modf(v / 2, xp.zeros(3), xp.zeros(3))
(lambda q, r: (xp.divmod(v, 2, out=(q, r), where=v > 1), q, r))(xp.ones(3), xp.ones(3))
xp.divmod(v, 2, v, xp.zeros(3)), v
xp.negative.at(v, [0, 2]) or v, xp.divmod.nout, xp.modf.nin, xp.matmul.signature, xp.sqrt.types
xp.concatenate([[1], [2.5]], dtype=int, casting="unsafe"), xp.hstack([v, i], dtype="f4")
xp.empty_like(prototype=a).shape, xp.array([1, None], dtype=float), xp.fromiter("ab", "U1")
xp.frompyfunc(lambda x, y: x * y, 2, 1).outer([1, 2], [3, 4]).tolist()
xp.frompyfunc(max, 2, 1).reduce([1, 5, 2]), xp.frompyfunc(max, 2, 1).nin
xp.frompyfunc(math.factorial, 1, 1)(i + 18) * 21, xp.frompyfunc(divmod, 2, 2)(i, 2)
xp.take(xp.asarray(5), [0, 0], axis=-1), xp.asarray(5).take(0, axis=0), v[0].take([0], axis=0)
[f(v.astype("f2"), i.astype("i2")) for f in (xp.polyadd, xp.polyval, xp.convolve, xp.trapezoid)]
xp.polysub(v.astype("f2"), i.astype("i1")), xp.percentile(i.astype("i2"), xp.float16(50))
xp.insert(v.astype("f2"), 1, v.astype("f4")), xp.delete(v.astype("f2"), [0, 1])
xp.einsum("ij,jk->i", a, a.T), xp.einsum("ij,k,il->", a, v, a), xp.einsum("ij,j->", i[:, None], v)
xp.max([v[0], v[2]]), xp.sum([v[0], 1]), xp.sort([v[2], i[1]]), xp.mean([v[0] > 1, v[1] > 1])
xp.minimum.accumulate(a, 1), xp.add.accumulate(i, dtype="f4"), xp.multiply.outer(v, 2), v.dtype
xp.add.reduceat(a, [0, 2], axis=1), xp.add.reduce(a), xp.maximum.reduce(a, axis=None, initial=7)
xp.diagonal(a).flags.writeable, xp.diag(a).flags.writeable, (a * 1).diagonal()
xp.greater(v, 2, dtype=bool), xp.logical_and(v, i, dtype=bool), xp.isnan(v, dtype=bool)
xp.add(v, 1, signature="dd->d"), xp.add(i, i, signature=(None, None, "f8"))
xp.add(1, 2, dtype="f4"), xp.true_divide(i, 2, dtype="f4")
xp.absolute(v - 2j, dtype=float), xp.negative(i, dtype="i2")
xp.equal(v, i, dtype=object).tolist()
xp.add.resolve_dtypes((xp.dtype("i4"), xp.dtype("f4"), None))[2]
statistics.mean(i), statistics.variance(i), statistics.mean(v.astype("f4")), statistics.fmean(i)
fractions.Fraction(1, 2) * i[1], i[1] + decimal.Decimal(1), v[1] * fractions.Fraction(1, 2)
fractions.Fraction(2) == i[1], i[1] < fractions.Fraction(5, 2), xp.int64(fractions.Fraction(7, 2))
xp.piecewise(v, v > 2, [lambda x: x.mean(), lambda x: xp.arange(len(x))])
xp.piecewise(i, [i < 2], [1.7]), xp.piecewise(a, [a > 2], [len, xp.nan])
xp.piecewise(v, [v > 5], [lambda x: 1 / 0]), xp.piecewise(2.5, [2.5 > 1], [lambda x: x * 2, 0])
xp.piecewise(v * 2, [v > 1, v > 2, v > 9], [1, 2, 3, 4])
xp.piecewise([1, 2], [[True, False]], [9, -1])
xp.require(a, requirements=["F"]).flags.f_contiguous, xp.require(a, float, "FORTRAN"[:1]).flags.fnc
float(xp.finfo("f4").tiny), xp.finfo(float).precision, float(xp.finfo(float).resolution)
xp.vectorize(lambda d: d * 2, otypes="O")(["a", "b"])
xp.testing.assert_equal([v, {"i": i}], [v, {"i": i}]), xp.testing.assert_equal(v[0], 1.0)
xp.arange(0, 5, 0.5, dtype=int)
xp.arange(-3, 3, 0.5, dtype="i2")
xp.arange(0, 1, 0.1, dtype="f4")
xp.isclose(a, a + 0.1, rtol=0, atol=v / 20)
xp.isclose(v, v * 1.5, [0.0, 1.0, 0.4])
xp.nan_to_num(v - xp.array([xp.inf, 0, 0]), neginf=v)
xp.nan_to_num(xp.array([xp.nan, 1.0, xp.inf]), nan=v, posinf=[7, 8, 9])
xp.argmax(a, axis=0, out=xp.zeros(3, "i4")), xp.argmin(a, 0, xp.zeros(3, "u1"))
a.astype(dtype=xp.float32), xp.float64(3.7).astype(dtype=int)
xp.concatenate([v.astype("f4"), v], out=xp.zeros(6, "i4"), casting="unsafe")
xp.logspace(0, 2, 3, base=v), xp.logspace(v, 3, 2, base=xp.array([[2.0], [3.0]]))
xp.einsum(a, xp.array([0, 1]), v, [1]), xp.einsum_path(a, [0, 1], v, [1])[0]
xp.add(a, 1, order="F").flags.f_contiguous, xp.sqrt(a.T, order="C").flags.c_contiguous
xp.clip(a, 1, 2, order="f").flags.fnc, xp.add(a, 1, order="F", dtype="f4").flags.fnc
xp.add(a, 1, a.copy(), order="F").flags.fnc, xp.add(1, 2, order="F"), xp.add(a.T, 1).flags.fnc
xp.bincount([]), xp.bincount([], minlength=2), xp.squeeze(xp.asarray(3.0), -1)
xp.add([1, 2], 2, sig="dd->d"), xp.sqrt(i, **({} if xp is np else {"out": ...}))
xp.add.reduce([20000, 16056], out=xp.zeros((), "i2")), xp.maximum.reduce(v, out=xp.zeros((), "i2"))
isinstance(xp.array(["a", "b"]), xp.ndarray), isinstance(i, xp.ndarray), isinstance([1], xp.ndarray)
xp.random.default_rng(1).multivariate_normal([0], [[0]], size=xp.int_(1))
xp.dot(v, 2), xp.dot(0.5, i), xp.dot(v.astype("f4"), 2.0), xp.inner(i[1], v)
xp.dot(i, i[0]), xp.dot(3, 2)
xp.linalg.multi_dot([a, a.T, a], out=xp.zeros((2, 3))), xp.linalg.multi_dot([v, v])
xp.genfromtxt(["1,2", "3,"], delimiter=",", usemask=True, dtype=int).mask.tolist()
xp.genfromtxt(["1,2", "3,4"], delimiter=",", dtype=(int, float), names="a,b")["b"].tolist()
xp.genfromtxt(["1,2", "3,4"], delimiter=",", converters={0: lambda s: "x"}).tolist()
xp.ndarray(3, buffer=v, dtype=float, strides=8), xp.ndarray(2, float, v, strides=(16,))
xp.take(v, [2, 0], out=xp.zeros(2, int)), xp.choose(i, [v, -v, v + 0.5], out=xp.zeros(3, int))
xp.linspace(type("Metres", (float,), {})(0), type("Metres", (float,), {})(1), 3)
xp.linspace(0, 1, 1, retstep=True), xp.linspace(0, 1, 0, retstep=True)
xp.zeros((0, 3)).take([0, -4], axis=1, mode="wrap"), v.take([5, -7], mode="wrap")
xp.int8(3).is_integer(), xp.float32(1.5).is_integer(), xp.iinfo(12).max
a.view(xp.ndarray), v[::2].view(type(v))
a.flatten("f"), a.reshape(3, 2, order="f"), a.copy("f").flags.f_contiguous, xp.ravel(a, "k")
xp.copy(a, "k"), xp.asarray(a, order="a"), xp.zeros_like(a, order="k"), xp.take(a, [], mode="wrap")
issubclass(xp.int32, xp.integer), issubclass(xp.int8, xp.unsignedinteger)
xp.piecewise(xp.array(3), xp.array(3) > 2, [4, 0]), xp.piecewise(v[1], v[1] > 3, [4, 0])
xp.arange(stop=3), xp.arange(stop=5.0, step=2)
next(xp.ndindex(2, 2)), list(xp.ndindex(2))
xp.nanmin(v, where=v > 1, initial=5), xp.nanmax(a, 0, where=a < 4, initial=-5)
xp.fromiter(((k, k) for k in range(3)), dtype="i,i")
xp.resize(v, xp.int32(4)), xp.histogram(v, xp.int64(2)), xp.bincount(i, minlength=xp.int8(5))
xp.trim_zeros([0, 1, 2, 0]), xp.trim_zeros((0, 1)), xp.trim_zeros(i)
xp.polyval([3, 0, 1], xp.poly1d([1, 2])).order
xp.polyval(xp.poly1d([3, 0, 1]), v), xp.polyval([1, 2], x=xp.poly1d([5])).order
a.flags == (a + 1).flags, a.flags == a.T.flags, a.flags.writebackifcopy
str(v.flags)
xp.array(xp.ma.array([1, 2, 3], mask=[0, 0, 1])[:2]) + i[:2]
xp.array(["a", "bc"], dtype=xp.dtypes.StringDType()).size
xp.strings.slice(xp.array(["hello", "world"]), i[1:], i[1:] + 3)
xp.lib.NumpyVersion("1.7.0") < "1.8.0"
__import__(xp.__name__ + ".lib.array_utils").lib.array_utils.normalize_axis_index(-1, 3)
xp.polynomial.polyutils.trimcoef([0, 3, 0.0])
[float(x) for x in xp.nditer(v, [], [["readonly", "copy"]], op_dtypes=["f4"], casting="same_kind")]
xp.isrealobj("text"), xp.iscomplexobj(None), xp.iscomplexobj(a)
xp.clip(v, 2, 6, casting="unsafe", out=xp.zeros(3, int)), v.clip(0, 2, dtype="f4")
v.clip(2, 6, where=[True, False, True], out=xp.zeros(3))
xp.isclose(xp.float32(1), xp.float32(0), atol=xp.float64(1 - 2.0**-52))
xp.isclose(v.astype("f4"), xp.float32(2), atol=xp.array([0, 0, 1.0]))
xp.broadcast(xp.broadcast(xp.ones((2, 1)), [1, 2]), v[:1]).shape
xp.rollaxis(a, 0, -1).shape, xp.rollaxis(a, 1, -2).shape, xp.rollaxis(a, 0, 2).shape
xp.mgrid[0.1:0.3:xp.complex64(3j)], xp.mgrid[0:xp.int64(2), 0:xp.array(3)]
xp.r_[0:36:xp.complex64(4j)], xp.r_[1, xp.float64(2), i], xp.c_[v, i]
xp.ix_(range(0))[0], a[xp.ix_(range(2), [0, 2])]
type(v.view(type=np.ma.MaskedArray)).__name__, type(a.view("i8", np.recarray)).__name__
xp.concatenate([xp.float32(1), 1.0], axis=None), xp.concatenate([i.astype("i2"), 3], axis=None)
xp.concatenate([v, 1j], None), xp.concatenate([1, 2], None), xp.append(v.astype("f4"), 2.5)
i[0] == np.str_("a"), i[0] != np.datetime64("2020"), xp.float64(1) == np.str_("1")
xp.min_scalar_type(xp.int64(3)), xp.min_scalar_type(i), xp.can_cast(np.arange(3), "i4")
xp.repeat(v, [True, False, True]), xp.repeat(v, xp.asarray([True, True, False])), xp.repeat([], [])
xp.frombuffer(i, dtype="u1"), xp.frombuffer(a).sum(), xp.frombuffer(v + 1, "i8")
xp.common_type(v.astype("f2")).__name__, xp.common_type(i, v * 1j).__name__
i[1] * xp.timedelta64(1, "h"), xp.timedelta64(6, "h") / i[1], v[1] * xp.timedelta64(4, "s")
xp.datetime64("2020-01-01") + i[1], xp.datetime64("2020-01-01") + i.max()
(xp.arange(2) == xp.array(["a", "1"])).tolist()
(xp.arange(1) != xp.array(["2020"], "M8[D]")).tolist()
(xp.array(["a", "1"]) != 1 + xp.arange(2)).tolist()
xp.abs(xp.timedelta64(-3, "D")), xp.negative(xp.timedelta64(-3, "D"))
xp.clip(v.astype("f4"), 0.3, 2.7, dtype="f8"), xp.clip(v, 1.5, xp.asarray([9, 2, 2]), dtype="f4")
xp.clip(xp.asarray([300.7, -5.0, 1.5]), 0, 2, dtype="i4", casting="unsafe")
xp.clip(xp.asarray([300, -1]), 0, 100, dtype="u1", casting="unsafe")
xp.trim_zeros([0, 1, 2.5]), xp.trim_zeros((0, "a", 0)), xp.trim_zeros([0, 2**70, 0], "b")
xp.concatenate([i.astype("u1"), 3], axis=None, casting="no")
[hasattr(xp.poly1d, x) for x in ("c", "coeffs", "r", "roots", "o", "order", "variable")]
v.transpose(-1), v.transpose(i[0]), xp.transpose(v, 0), v.transpose(np.int64(0))
xp.tensordot(a, a, (xp.asarray([0, 1]), xp.asarray([0, 1])))
xp.tensordot(a, a.T, xp.asarray([[0], [1]])), xp.tensordot(a, a.T, xp.asarray(1))
i.astype(None), i[1].astype(None), xp.dtype(None), xp.frombuffer(bytes(16), None), xp.zeros(1, None)
[f(3) * i.astype("u1") for f in (xp.sum, xp.max, xp.min, xp.prod, xp.amax, xp.ravel, xp.squeeze)]
[(f(0.5) + v.astype("f4")).dtype for f in (xp.sum, xp.max, xp.nanmax, xp.mean, xp.copy, xp.real)]
xp.reshape(3, ()) * i.astype("u1"), xp.real(True), xp.sum(3, axis=0) * xp.uint8(2)
bytes(i[1]), bytes(i.sum()), bytes(v[0]), bytes(xp.asarray(3))
[isinstance(x, xp.ufunc) for x in (xp.sin, xp.matmul, np.add, xp.frompyfunc(abs, 1, 1), xp.sum, 3)]
xp.arange(datetime.date(2024, 1, 1), datetime.date(2024, 1, 4))
xp.arange(datetime.date(2024, 1, 1), datetime.date(2024, 1, 4), datetime.timedelta(2))
xp.ndarray((2,), ">i2", bytearray(b"\0\1\3\2")), xp.ndarray((1,), "S2", b"abcd", 1)
[xp.matmul(a, a.T, order=o).flags.f_contiguous for o in "CF"]
xp.multiply.outer(v, v, order="F").flags.f_contiguous, xp.matmul(a, a.T, order="F")
[xp.einsum("ij,kj->ik", a, a, order=o).flags.f_contiguous for o in "CF"]
xp.einsum("ij,j", a, v, out=xp.zeros(2, int), dtype=float, casting="unsafe")
xp.einsum("ij,j", a, v, out=xp.zeros(2, int), casting="unsafe")
[xp.isscalar(x) for x in (v @ v, v.dot(v), xp.vdot(v, v), xp.einsum("i,i", v, v), a @ v, a[0])]
isinstance(v @ v, xp.floating), isinstance(xp.inner(i, i), xp.integer), isinstance(a, xp.generic)
[issubclass(x.dtype.type, c) for x in (a, i, v > 1) for c in (xp.float64, xp.bool_, xp.integer)]
xp.vectorize(lambda x: x, otypes=["M8[D]"])(np.array(["2024-01-01"], "M8[D]"))
"""

WRITING = r"""
a[0] = 5
a[:, 1] = v[:2]
a[a > 2] = 0
a[a > 2] -= 1
a += 1
a *= v
a -= a.mean(axis=0)
a[0] += v
a[0, 1] += 1
a[:, [0,2]] = 9
a[[0,1],[1,2]] = [7, 8]
a.sort()
v[1:] = v[:-1]
v[:] = v[::-1]
v[v.argmax()] = 0
v[0], v[2] = v[2], v[0]
a[0], a[1] = a[1].copy(), a[0].copy()
np.add(v, 1, out=v)
np.multiply(a, 2, out=a)
v **= 2
v //= 2
i <<= 1
b = a * 2; b[0] = 0; a = b
b = a + 0; b += 1; b[b > 3] = 3; a = b
e = v * 2; e.sort(); v = e
b = a[:, 1]; b += 10
b = a.T; b[0] = 1
b = a.reshape(-1); b[0] = 42
b = (a*1).reshape(-1); b[2] = 42; a = b
a.fill(3)
v[i] = 0
v[i > 1] = v[i > 1] * 2
for k in range(3): v[k] = v[k-1] + 1
for row in a: row += 1
for row in a: row[0] = 0
v = xp.append(v, 4.0)
a.T[0, 1] = 5
a.flat[0] = 9
a[...] = 1
a[1] = [1,2,3]
a[0,:] = 0; a[:,0] = 1
a = a[::-1]; a[0,0] = 77
v = v.astype(int); v[0] += 1.9
t = a[0].copy(); a[0] = a[1]; a[1] = t
a[:, 0] *= -1
a[-1, -1] = np.pi
a[1, :2] = a[0, 1:]
np.fill_diagonal(a, 0)
np.copyto(v, [3,2,1])
np.put(v, [0,1], [9,8])
v.put([0], 5)
a.partition(1)
a[np.ix_([0,1],[0,2])] = 0
a[[1,0]] = [[[7, 8, 9]]]
a[:, [0,2]] = [[[5]]]
a.flat = [1, 2]; v.flat = 7
a.flat[1:5] = (7, 8)
t = xp.asarray(3.0); t.flat[1:3] = [1, 2]; a.flat = t; t.flat[:] = [7, 8]; a.T[0] = t
a.flat = a + 1; a.T.flat = a; a.flat[[[0, 1], [2, 3]]] = [[1, 2], [3, 9]]
e = a * 2; xp.add(e, a, out=e); a[...] = e
t = xp.block(a); t[0, 0] = 9
e = a[:, :2] * 1; t = e; e @= [[1, 2], [3, 4.0]]; a[:, :2] = t
t = a.astype("f2"); xp.putmask(t, t > 2, -t); xp.place(t, t < 0, t[0]); a[...] = t
t = a.view(xp.ndarray); t[0] = 5
v = v.astype(int); xp.copyto(v, 3.7, casting="unsafe", where=[True, False, False])
b = xp.asarray(v, order="F"); b[0] = 9; c = xp.array(a[:1], order="F", copy=None); c[0, 0] = 8
b = xp.asarray(a, order="F"); b[0, 0] = 9; c = xp.asarray(a.T, order="C"); c[0, 0] = 8
xp.putmask(v, xp.asarray([[True], [False], [True]]), i); xp.putmask(a, [0, 1, 0, 2, 0, 0.5], v)
xp.putmask(i, i > 0, np.float64(2.7)); xp.einsum("ii->i", a[:, :2])[...] = 7
i.real = 2.7; v.real = [5, 6, 7]; t = i.astype("u1"); t.real = 200; a[...] = t
b = v > 5; b[1] = [1, 2]; b[0] = [0]; b[2] = (); v[...] = b; b = a > 9; b[0, 1] = [[0]]; a[...] = b
xp.put(v, [0, 1], ["3", "4.5"]); xp.putmask(i, i > 0, ["7"]); xp.place(a, a > 4, ["8"])
t = v + 1j; t.imag = 2; t.real = v * 3; v[...] = xp.abs(t)
"""

REFUSED = r"""
xp.argmax(a, axis=0, out=xp.zeros(3))
xp.concatenate([v.astype("f4"), v], casting="no")
xp.zeros((0, 3)).take([0], axis=0, mode="wrap")
xp.nanmin(v, where=v > 1)
xp.hstack(1)
v.__delitem__(0)
a.__delitem__(slice(1))
operator.delitem(v[0], 0)
operator.setitem(v[0], 0, 3)
xp.arange()
xp.column_stack(5)
xp.rollaxis(a, 0, -3)
xp.linalg.outer(a, v)
xp.zeros(3, v)
xp.asarray(a, v)
xp.frombuffer(a[:, 0])
xp.hstack([v, v], casting="sometimes")
xp.cumsum(v, 0, i)
xp.divmod(v, 2, v, (2, 3))
xp.modf(v, (0, 7))
xp.add.reduce(a, 0, out=xp.zeros((2, 3)))
xp.frexp(v, v, (2, 3))
xp.linalg.multi_dot([])
xp.concatenate([v, v], out=xp.zeros(6), dtype=float)
xp.stack([v, v], out=xp.zeros((2, 3)), dtype=float)
xp.putmask(i, i > 0, np.asarray(2.7))
xp.putmask(i, [True, False], 1)
xp.putmask(v, v > 1, [2j])
xp.place(v, v > 1, [1j, 2.0])
xp.put(v, [0], [2j])
operator.setitem(a.diagonal(), 0, 3)
operator.setitem(xp.diag(a), 0, 3)
operator.setitem(xp.linalg.diagonal(a), 0, 3)
xp.linalg.pinv(a, rcond=0.5, rtol=0.5)
xp.genfromtxt([b"\xcf,1"], encoding="ascii")
xp.loadtxt([b"\xcf 1"], encoding="ascii")
"""
