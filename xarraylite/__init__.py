"""N-dimensional containers, lazy expressions and fused kernels.

Import it as ``import xarraylite as xl``.  It is an array API namespace; every name is imported
from its module when it is first used, so importing the package costs little more than NumPy.
"""

from __future__ import annotations

import importlib
from types import FunctionType
from typing import Any

from ._lazy_import import imported as _imported

__version__ = "0.1.0"

#: Version of the array API standard that this namespace follows.
__array_api_version__ = "2025.12"

_ELEMENTWISE = """
abs absolute acos acosh add around arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor cbrt ceil clip conj conjugate copysign cos cosh deg2rad degrees
divide equal exp exp2 expm1 fabs fdim fix floor floor_divide fmax fmin fmod greater greater_equal
heaviside hypot imag invert isfinite isinf isnan left_shift less less_equal log log10 log1p log2
logaddexp logical_and logical_not logical_or logical_xor maximum minimum mod multiply negative
nextafter not_equal positive pow power rad2deg radians real reciprocal remainder right_shift rint
round sign signbit sin sinh sqrt square subtract tan tanh true_divide trunc where
"""

_DTYPES = """
bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128
bfloat16 float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2
float8_e5m2fnuz float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn int2 int4 uint2 uint4
"""

_MODULES: dict[str, str] = {
    "_config": "config",
    "_errors": (
        "AxisError BoundsError BroadcastError CacheWarning CastError DTypeError FormatError "
        "HloError IndexRangeError LayoutError LayoutParseError NoAliasError NotWritableError "
        "OverlapError ReadOnlyError ShapeError SizeError StaleOperandError StorageError "
        "TracedValueError "
        "XarrayliteError"
    ),
    "arrays.adapt": "adapt rebind",
    "transforms.explain": "explain",
    "arrays.expression": "XExpression",
    "jagged.array": "XJagged",
    "jagged.lazy": "XJaggedExpression",
    "transforms.fold": "accumulate reduce",
    "transforms.jit": "jit",
    "labels.labelled": "XLabelled",
    "transforms.late": "late",
    "transforms.noalias": "noalias",
    "functions.vectorizing": "vectorize",
    "arrays.scalar": "XScalar",
    "arrays.xarray": "XArray XView",
    "arrays.xtensor": "XTensor XTensorFixed",
    "chunked.cluster": "to_dask",
    "chunked.storing": "store",
    "display.draw": "Drawing draw",
    "dtypes.info": "finfo iinfo isdtype",
    "functions.applied": "apply_along_axis apply_over_axes ndenumerate ndindex piecewise",
    "functions.bits": (
        "bitwise_count frexp gcd i0 lcm ldexp logaddexp2 matvec packbits real_if_close spacing "
        "unpackbits vecmat"
    ),
    "functions.comparison": "allclose array_equal array_equiv",
    "functions.composed": (
        "angle divmod float_power isclose iscomplex isneginf isposinf isreal modf nan_to_num "
        "select sinc"
    ),
    "functions.constants": "e euler_gamma inf nan newaxis pi",
    "functions.conversion": (
        "array asarray ascontiguousarray asfortranarray copy frombuffer from_dlpack fromfile "
        "fromstring"
    ),
    "functions.creation": "empty empty_like full full_like ones ones_like zeros zeros_like",
    "functions.curves": (
        "bartlett blackman convolve correlate ediff1d gradient hamming hanning interp kaiser "
        "trapezoid unwrap"
    ),
    "functions.data_types": "astype can_cast result_type",
    "functions.distributions": (
        "corrcoef cov cumprod cumsum histogram histogram2d histogram_bin_edges histogramdd median "
        "nancumprod nancumsum nanmedian nanpercentile nanquantile percentile quantile"
    ),
    "functions.elementwise": _ELEMENTWISE,
    "functions.inspection": "__array_namespace_info__",
    "functions.diagonals": "cross diag diagflat diagonal kron trace tri tril triu",
    "functions.joining": (
        "append array_split atleast_1d atleast_2d atleast_3d block column_stack dsplit dstack "
        "hsplit hstack ix_ meshgrid split unstack vsplit vstack"
    ),
    "functions.linear_algebra": "dot einsum inner matmul outer tensordot vdot vecdot",
    "functions.manipulation": (
        "broadcast_arrays broadcast_to concat expand_dims flip matrix_transpose moveaxis "
        "permute_dims reshape squeeze stack transpose"
    ),
    "functions.means": "mean std var",
    "functions.norms": (
        "count_nonnan minmax norm_induced_l1 norm_induced_linf norm_l0 norm_l1 norm_l2 norm_linf "
        "norm_lp norm_lp_to_p norm_sq"
    ),
    "functions.numpy_objects": (
        "asarray_chkfinite broadcast common_type frompyfunc mask_indices ndarray nditer require"
    ),
    "functions.numpy_names": (
        "False_ ScalarType True_ array2string array_repr array_str base_repr binary_repr c_ "
        "einsum_path errstate format_float_positional format_float_scientific geterr index_exp "
        "iscomplexobj isfortran isrealobj isscalar issubdtype iterable may_share_memory "
        "min_scalar_type ndim "
        "promote_types r_ s_ seterr shape shares_memory size typename"
    ),
    "functions.polynomials": (
        "poly poly1d polyadd polyder polydiv polyfit polyint polymul polysub polyval roots"
    ),
    "functions.printing": "get_printoptions printoptions set_printoptions",
    "functions.rearranging": "fliplr flipud pad ravel repeat roll rollaxis rot90 swapaxes tile",
    "functions.reducers": "all any argmax argmin count_nonzero max min prod sum",
    "functions.scalar_types": (
        f"{_DTYPES} complexfloating dtype floating generic inexact integer number signedinteger "
        "unsignedinteger"
    ),
    "functions.searching": "argsort nonzero searchsorted sort take take_along_axis",
    "functions.selecting": (
        "argpartition argwhere bincount choose compress delete diag_indices diag_indices_from "
        "digitize extract flatnonzero insert intersect1d lexsort nanargmax nanargmin "
        "partition ravel_multi_index resize setdiff1d setxor1d sort_complex tril_indices "
        "tril_indices_from trim_zeros triu_indices triu_indices_from union1d unique unravel_index"
    ),
    "functions.sequences": (
        "arange eye fromfunction fromiter geomspace identity indices linspace logspace mgrid "
        "ogrid vander"
    ),
    "functions.sets": "isin unique_all unique_counts unique_inverse unique_values",
    "functions.special": "erf erfc gamma lgamma",
    "functions.statistics": (
        "average cumulative_prod cumulative_sum diff nanmax nanmean nanmin nanprod nanstd nansum "
        "nanvar ptp"
    ),
    "functions.writing": "copyto fill_diagonal place put put_along_axis putmask",
    "hlo.export.nodes": "to_hlo",
    "io.npy": "load save savez savez_compressed",
    "io.text": "genfromtxt loadtxt savetxt",
    "io.tables": "dump_csv from_json info load_csv to_json",
    "xla.bitcast": "BitcastReshape BitcastTranspose BitcastTrt",
    "dtypes.element_types": "ElementType",
    "xla.formats": "tpu_layout",
    "layout.fields": "PaddingValue SplitConfig",
    "layout.layout": "Layout",
    "xla.spec": "ArraySpec",
    "layout.strided": "Order",
    "xla.suggest": "Suggestion",
    "layout.tile": "COMBINE Tile",
    "index.broadcast": "broadcast_shapes",
    "shapes.base": "ShapeBase",
    "shapes.jagged": "JaggedShape",
    "shapes.labels": "IndexedShape",
    "shapes.nested": "Nested",
    "shapes.shape": "Shape",
    "shapes.tiled": "TiledShape",
    "nullable.array": "XOptional",
    "nullable.missing": "missing",
    "nullable.conversion": "masked_array optional to_pandas",
    "nullable.masked": "XMaskedView filtration masked_view",
    "runtime.cache": "cache_clear cache_info",
    "xtensor_views.access": "at flat in_bounds iter_axis iter_lines periodic ravel_index",
    "xtensor_views.items": "drop ellipsis keep range xtuple",
    "xtensor_views.picked": "XDynamicView XIndexView",
    "xtensor_views.reshaped": "XReshapeView",
    "xtensor_views.regular": (
        "as_strided block_view col offset_view parent_index row sliding_window_view strided_view"
    ),
    "xtensor_views.selection": "dynamic_view filter flatten index_view reshape_view view",
}

#: Where a public name comes from: module, and the name there.
_SOURCES: dict[str, tuple[str, str]] = {
    name: (module, name) for module, names in _MODULES.items() for name in names.split()
}
_SOURCES |= {
    "bool": ("functions.scalar_types", "bool_"),
    "stddev": ("functions.means", "std"),
    "variance": ("functions.means", "var"),
    "column_major": ("layout.strided", "COLUMN_MAJOR"),
    "amax": ("functions.reducers", "max"),
    "amin": ("functions.reducers", "min"),
    "asanyarray": ("functions.conversion", "asarray"),
    "byte": ("functions.scalar_types", "int8"),
    "cdouble": ("functions.scalar_types", "complex128"),
    "csingle": ("functions.scalar_types", "complex64"),
    "long": ("functions.scalar_types", "int64"),
    "row_stack": ("functions.joining", "vstack"),
    "ulong": ("functions.scalar_types", "uint64"),
    "double": ("functions.scalar_types", "float64"),
    "intc": ("functions.scalar_types", "int32"),
    "longlong": ("functions.scalar_types", "int64"),
    "short": ("functions.scalar_types", "int16"),
    "ubyte": ("functions.scalar_types", "uint8"),
    "uintc": ("functions.scalar_types", "uint32"),
    "ulonglong": ("functions.scalar_types", "uint64"),
    "ushort": ("functions.scalar_types", "uint16"),
    "half": ("functions.scalar_types", "float16"),
    "int_": ("functions.scalar_types", "int64"),
    "intp": ("functions.scalar_types", "int64"),
    "single": ("functions.scalar_types", "float32"),
    "uint": ("functions.scalar_types", "uint64"),
    "uintp": ("functions.scalar_types", "uint64"),
    "concatenate": ("functions.manipulation", "concat"),
    "dynamic": ("layout.strided", "DYNAMIC"),
    "eval": ("arrays.evaluation", "eval_"),
    "open": ("chunked.opening", "open_"),
    "row_major": ("layout.strided", "ROW_MAJOR"),
}
_SUBMODULES = ("blas", "emath", "fft", "hlo", "lib", "linalg", "polynomial", "random", "testing")

__all__ = [*sorted(_SOURCES), *_SUBMODULES, "__array_api_version__", "__version__"]


#: What NumPy has and this package has under another name, or not at all.
_ELSEWHERE = {
    name: advice
    for names, advice in (
        ("in1d", "use xl.isin"),
        ("trapz", "use xl.trapezoid"),
        ("product", "use xl.prod"),
        ("cumproduct", "use xl.cumprod"),
        ("alltrue", "use xl.all"),
        ("sometrue", "use xl.any"),
        ("msort", "use xl.sort(a, axis=0)"),
        ("asscalar", "use a.item()"),
        ("NaN NAN", "use xl.nan"),
        ("Inf Infinity PINF infty", "use xl.inf"),
        ("float_", "use xl.float64"),
        ("complex_ cfloat", "use xl.complex128"),
        ("bool8", "use xl.bool"),
        ("float int complex object str", "use Python's type of that name"),
        ("longdouble float128 clongdouble complex256", "use xl.float64 or xl.complex128"),
        ("mat", "use arrays of rank 2 and @, or xl.matrix, which is NumPy's"),
        ("ufunc", "use xl.vectorize or xl.frompyfunc"),
    )
    for name in names.split()
}


#: What is NumPy's here, too: elements that are no numbers (`operands.non_numeric`), arrays of other
#: classes, which take the values of containers, and what says something about NumPy.
_OF_NUMPY = frozenset(
    name
    for names in (
        "object_ str_ bytes_ void datetime64 timedelta64 recarray record rec char chararray",
        "busday_count busday_offset busdaycalendar is_busday isnat datetime_data",
        "datetime_as_string strings memmap exceptions typing mintypecode show_config show_runtime",
        "ma matrix asmatrix bmat ctypeslib nested_iters flatiter character flexible",
        "fromregex typecodes sctypeDict little_endian get_include getbufsize setbufsize geterrcall",
        "seterrcall",
    )
    for name in names.split()
)


def _missing(name: str) -> str:
    """Return what the error about an unknown name says."""
    text = f"module {__name__!r} has no attribute {name!r}"
    if name not in _ELSEWHERE:
        return text
    return f"{text}: {_ELSEWHERE[name]}"


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return _imported(f".{name}")
    if name in _OF_NUMPY:
        return getattr(importlib.import_module("numpy"), name)
    source = _SOURCES.get(name)
    if source is None:
        raise AttributeError(_missing(name))
    value = getattr(_imported(f".{source[0]}"), source[1])
    if isinstance(value, FunctionType):
        _imported(".functions.signatures").spelled(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
