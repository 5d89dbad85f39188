"""N-dimensional containers, lazy expressions and fused kernels.

Import it as ``import xarraylite as xl``.  It is an array API namespace; every name is imported
from its module when it is first used, so importing the package costs little more than NumPy.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

__version__ = "0.1.0"

#: Version of the array API standard that this namespace follows.
__array_api_version__ = "2025.12"

_ELEMENTWISE = """
abs absolute acos acosh add arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh atan
atan2 atanh bitwise_and bitwise_invert bitwise_left_shift bitwise_not bitwise_or
bitwise_right_shift bitwise_xor cbrt ceil clip conj conjugate copysign cos cosh deg2rad degrees
divide equal exp exp2 expm1 fabs fdim fix floor floor_divide fmax fmin fmod greater greater_equal
heaviside hypot invert isfinite isinf isnan left_shift less less_equal log log10 log1p log2
logaddexp logical_and logical_not logical_or logical_xor maximum minimum mod multiply negative
nextafter not_equal positive pow power rad2deg radians reciprocal remainder right_shift rint
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
        "IndexRangeError LayoutError LayoutParseError NoAliasError NotWritableError "
        "OverlapError ReadOnlyError ShapeError SizeError StaleOperandError TracedValueError "
        "XarrayliteError"
    ),
    "arrays.adapt": "adapt",
    "transforms.explain": "explain",
    "arrays.expression": "XExpression",
    "jagged.array": "XJagged",
    "jagged.lazy": "XJaggedExpression",
    "transforms.fold": "accumulate reduce",
    "transforms.jit": "jit",
    "labels.labelled": "XLabelled",
    "transforms.late": "late",
    "transforms.noalias": "noalias",
    "transforms.vectorize": "vectorize",
    "arrays.xarray": "XArray XView",
    "arrays.xtensor": "XTensor XTensorFixed",
    "display.draw": "Drawing draw",
    "dtypes.info": "finfo iinfo isdtype",
    "dtypes.names": _DTYPES,
    "functions.comparison": "allclose array_equal",
    "functions.constants": "e inf nan newaxis pi",
    "functions.conversion": "asarray from_dlpack",
    "functions.creation": (
        "arange empty empty_like eye fromfunction full full_like linspace ones ones_like zeros "
        "zeros_like"
    ),
    "functions.data_types": "astype can_cast result_type",
    "functions.elementwise": _ELEMENTWISE,
    "functions.inspection": "__array_namespace_info__",
    "functions.linear_algebra": "einsum matmul tensordot vecdot",
    "functions.manipulation": (
        "broadcast_arrays broadcast_to concat expand_dims flip matrix_transpose moveaxis "
        "permute_dims reshape squeeze stack transpose"
    ),
    "functions.norms": (
        "count_nonnan minmax norm_induced_l1 norm_induced_linf norm_l0 norm_l1 norm_l2 norm_linf "
        "norm_lp norm_lp_to_p norm_sq"
    ),
    "functions.reducers": "all any argmax argmin count_nonzero max mean min prod std sum var",
    "io.npy": "load save",
    "xla.bitcast": "BitcastReshape BitcastTranspose BitcastTrt",
    "dtypes.element_types": "ElementType",
    "xla.formats": "tpu_layout",
    "layout.layout": "Layout PaddingValue SplitConfig",
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
    "nullable.array": "XOptional missing",
    "nullable.conversion": "masked_array optional to_pandas",
    "nullable.masked": "XMaskedView filtration masked_view",
    "runtime.cache": "cache_clear cache_info",
    "views.access": "at flat in_bounds iter_axis iter_lines ndindex periodic ravel_index",
    "views.items": "drop ellipsis keep range",
    "views.picked": "XDynamicView XIndexView XReshapeView",
    "views.regular": "as_strided imag offset_view parent_index real strided_view",
    "views.selection": "col dynamic_view filter flatten index_view reshape_view row view",
}

#: Where a public name comes from: module, and the name there.
_SOURCES: dict[str, tuple[str, str]] = {
    name: (module, name) for module, names in _MODULES.items() for name in names.split()
}
_SOURCES |= {
    "bool": ("dtypes.names", "bool_"),
    "column_major": ("layout.strided", "COLUMN_MAJOR"),
    "concatenate": ("functions.manipulation", "concat"),
    "dynamic": ("layout.strided", "DYNAMIC"),
    "eval": ("arrays.evaluation", "eval_"),
    "row_major": ("layout.strided", "ROW_MAJOR"),
}
del _SOURCES["bool_"]

_SUBMODULES = ("testing",)

__all__ = [*sorted(_SOURCES), *_SUBMODULES, "__array_api_version__", "__version__"]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    source = _SOURCES.get(name)
    if source is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    namespace = importlib.import_module(f"{__name__}.operands.namespace")
    namespace.register(sys.modules[__name__])
    value = getattr(importlib.import_module(f"{__name__}.{source[0]}"), source[1])
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
