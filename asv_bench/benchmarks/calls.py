"""The calls of `functions`: every function of NumPy's names, by what is timed."""

from __future__ import annotations

#: Calls in ``xp``, separated by bars, with a vector ``x`` and a positive one ``y``, truth values
#: ``k``, whole numbers ``i`` below their length, bytes ``u``, complex numbers ``z``, ten sorted
#: numbers ``e``, a matrix ``m`` of (4, 4), the length ``n``.
CALLS = """
zeros(n) | full(n, 1.0) | arange(n) | linspace(0, 1, n) | add(x, x) | sin(x) | clip(x, 0, 1)
round(x, 2) | where(x > 1, x, 0) | isclose(x, x) | nan_to_num(x) | array_equal(x, x)
allclose(x, x) | sum(x) | mean(x) | var(x) | max(x) | argmax(x) | ptp(x) | average(x) | nansum(x)
nanmean(x) | nanmax(x) | count_nonzero(x) | cumsum(x) | diff(x) | gradient(x) | trapezoid(x)
concatenate([x, x]) | stack([x, x]) | split(x, 2) | roll(x, 2) | flip(x) | tile(x, 2)
stack([x, y], -1) | vdot(z, z) | einsum("ij->j", m) | einsum("ii", m)
repeat(x, 2) | pad(x, 1) | take(x, i) | outer(e, x) | dot(x, x) | sort(x) | argsort(x)
searchsorted(e, x) | nonzero(x) | unique(x) | isin(x, e) | bincount(i) | digitize(x, e)
histogram(x) | median(x) | percentile(x, 50) | interp(x, e, e) | convolve(x, e) | cov(x)
fft.fft(x) | fft.rfft(x) | zeros_like(x) | ones_like(x) | full_like(x, 2.0) | eye(4) | tri(4)
array(x) | copy(x) | ascontiguousarray(x) | asfortranarray(x) | abs(x) | negative(x) | sign(x)
square(x) | sqrt(y) | exp(x) | expm1(x) | log(y) | log1p(y) | cos(x) | tan(x) | arctan(x)
sinh(x) | tanh(x) | arcsinh(x) | floor(x) | ceil(x) | trunc(x) | rint(x) | isnan(x) | isfinite(x)
signbit(x) | deg2rad(x) | sinc(x) | modf(x) | isreal(x) | logical_not(k) | bitwise_count(i)
subtract(x, y) | multiply(x, y) | divide(x, y) | power(x, 2) | power(y, x) | float_power(y, x)
floor_divide(x, y) | remainder(x, y) | maximum(x, y) | arctan2(x, y) | hypot(x, y)
copysign(x, y) | logaddexp(x, y) | equal(x, y) | less(x, y) | logical_and(k, k)
bitwise_xor(i, i) | gcd(i, i) | prod(x) | min(x) | std(x) | any(k) | all(k) | argmin(x)
quantile(x, 0.5) | nanmin(x) | nanvar(x) | nanargmax(x) | nanmedian(x) | cumprod(x) | ediff1d(x)
unwrap(x) | reshape(x, (2, -1)) | ravel(m) | transpose(m) | swapaxes(m, 0, 1) | squeeze(x)
expand_dims(x, 0) | atleast_2d(x) | broadcast_to(x, (3, n)) | hstack([x, x]) | vstack([x, x])
column_stack([x, x]) | append(x, 1.0) | insert(x, 2, 1.0) | delete(x, 2) | array_split(x, 3)
unstack(m) | rot90(m) | compress(k, x) | extract(k, x) | take_along_axis(x, i, 0) | diag(m)
tril(m) | trace(m) | inner(x, x) | vdot(x, x) | vecdot(x, x) | matmul(m, m) | matvec(m, m[0])
tensordot(m, m, 1) | kron(m, m) | einsum("i,i", x, y) | einsum("ij,jk", m, m) | lexsort((x, y))
flatnonzero(x) | argwhere(x) | where(k) | union1d(x, e) | setdiff1d(x, e) | polyval(e[:3], x)
shape(x) | ndim(x) | size(x) | result_type(x, x) | fft.ifft(x) | fft.fftshift(x) | linalg.det(m)
linalg.cholesky(m) | linalg.matrix_power(m, 2) | linalg.norm(x) | linalg.inv(m)
linalg.solve(m, m) | linalg.eigh(m) | linalg.svd(m) | random.default_rng(1).normal(size=n)
angle(z) | acos(x / 100) | acosh(y + 1) | asin(x / 100) | atanh(x / 100) | cosh(x) | cbrt(x)
exp2(x) | log10(y) | log2(y) | logaddexp2(x, x) | degrees(x) | fabs(x) | fmax(x, y) | fmin(x, y)
fmod(x, y) | minimum(x, y) | greater(x, y) | greater_equal(x, y) | less_equal(x, y)
not_equal(x, y) | heaviside(x, 0.5) | nextafter(x, y) | positive(x) | reciprocal(y) | spacing(x)
isinf(x) | isneginf(x) | isposinf(x) | iscomplex(z) | logical_or(k, k) | logical_xor(k, k)
bitwise_and(i, 3) | bitwise_or(i, 3) | bitwise_invert(i) | bitwise_left_shift(i, 2)
bitwise_right_shift(i, 2) | conj(z) | real(z) | imag(z) | real_if_close(z) | divmod(y, 0.3)
frexp(x) | ldexp(x, 2) | lcm(i, 4) | i0(x) | nanstd(x) | nanprod(y / y) | nanargmin(x)
nancumsum(x) | nancumprod(x / x) | nanpercentile(x, 50) | nanquantile(x, 0.5) | cumulative_sum(x)
cumulative_prod(x / x) | histogram2d(x, x) | histogramdd(x) | histogram_bin_edges(x)
corrcoef(x, y) | correlate(x, e) | astype(x, "f4") | ones(n) | empty_like(x) is None | identity(4)
geomspace(1, 10, n) | logspace(0, 1, n) | meshgrid(e, x) | indices((4, 4))
fromfunction(lambda j: j * 2.0, (n,)) | fromiter(range(10), float) | frombuffer(b"12345678")
tril_indices(4) | triu_indices(4) | tril_indices_from(m) | triu_indices_from(m) | diag_indices(4)
diag_indices_from(m) | diagflat(e) | diagonal(m) | triu(m) | vander(e, 4) | hanning(n)
hamming(n) | blackman(n) | bartlett(n) | kaiser(n, 2.0) | from_dlpack(x) | require(x)
asarray_chkfinite(x) | asarray(x) | atleast_1d(x) | atleast_3d(x) | block([x, x])
broadcast_arrays(x, 1.0) | dstack([x, x]) | dsplit(x[None, None], 2) | hsplit(x, 2) | vsplit(m, 2)
fliplr(m) | flipud(x) | matrix_transpose(m) | moveaxis(m, 0, 1) | permute_dims(m, (1, 0))
rollaxis(m, 1) | resize(x, (2, n)) | ix_(i, i) | ravel_multi_index((i % 4, i % 4), (4, 4))
unravel_index(i, (n, 2)) | choose(i % 2, [x, y]) | select([x > 1, x > 0], [x, y])
piecewise(x, [x > 0, x <= 0], [1.0, 2.0]) | apply_along_axis(lambda r: r * 2, 0, m)
apply_over_axes(lambda a, b: a, m, [0]) | cross(m[:, :3], m[:, 1:]) | trim_zeros(x)
sort_complex(x) | partition(x, 3)[3] | argpartition(x, 3).shape | intersect1d(i, e)
setxor1d(i, e) | unique_all(i) | unique_counts(i) | unique_inverse(i) | packbits(k)
unpackbits(u) | array_equiv(x, x) | vectorize(lambda a: a * 2.0)(x) | poly(e) | polyadd(e, e)
polysub(e, e) | polymul(e, e) | polydiv(e, e) | polyder(e) | polyint(e) | polyfit(e, e, 2)
roots([1.0, 3.0, 2.0]) | vecmat(m[0], m) | linalg.cond(m) | linalg.cross(m[:, :3], m[:, 1:])
linalg.diagonal(m) | linalg.eigvalsh(m) | linalg.lstsq(m, m) | linalg.matmul(m, m)
linalg.matrix_norm(m) | linalg.matrix_rank(m) | linalg.matrix_transpose(m)
linalg.multi_dot([m, m, m]) | linalg.outer(e, x) | linalg.pinv(m) | linalg.qr(m)
linalg.slogdet(m) | linalg.svdvals(m) | linalg.tensordot(m, m) | linalg.tensorinv(m, 1)
linalg.tensorsolve(m, m[0]) | linalg.trace(m) | linalg.vecdot(x, x) | linalg.vector_norm(x)
fft.fft2(m) | fft.fftfreq(n) | fft.fftn(m) | fft.hfft(x) | fft.ifft2(m) | fft.ifftn(m)
fft.ifftshift(x) | fft.ihfft(x) | fft.irfft(x) | fft.irfft2(m) | fft.irfftn(m) | fft.rfft2(m)
fft.rfftfreq(n) | fft.rfftn(m) | can_cast("i4", "f8") | finfo("f8").bits | iinfo("i4").bits
isdtype(x.dtype, "numeric") | iscomplexobj(x) | isrealobj(x) | isscalar(x)
issubdtype(x.dtype, float) | iterable(x) | isfortran(m) | may_share_memory(x, y)
shares_memory(x, y) | min_scalar_type(3) | promote_types("i4", "f4")
broadcast_shapes((3, 1), (1, 4)) | broadcast(x, 1.0).shape | mask_indices(4, lambda a, b: a > 4)
"""

#: Functions that are not timed, by the reason.
LEFT_OUT = {
    "they read or write files": (
        "fromfile fromstring genfromtxt load loadtxt save savetxt savez savez_compressed"
    ),
    "they write into an operand, which a second call would find written": (
        "copyto fill_diagonal place put put_along_axis putmask"
    ),
    "they write numbers as text": (
        "array2string array_repr array_str base_repr binary_repr format_float_positional "
        "format_float_scientific typename"
    ),
    "they are about settings": (
        "get_printoptions geterr info printoptions set_printoptions seterr"
    ),
    "they return types, iterators or plans": (
        "__array_namespace_info__ common_type einsum_path frompyfunc ndenumerate ndindex"
    ),
    "NumPy's result is in no order": "unique_values",
    "memory that is not initialised has no values to compare": "empty",
    "linalg: eigenvalues are always complex here": "eig eigvals",
}
