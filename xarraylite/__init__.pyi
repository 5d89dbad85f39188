# The public names, for type checkers and for __init__.py, which binds them by this file.

from . import blas as blas
from . import emath as emath
from . import fft as fft
from . import hlo as hlo
from . import lib as lib
from . import linalg as linalg
from . import polynomial as polynomial
from . import random as random
from . import testing as testing
from ._config import config as config
from ._errors import AxisError as AxisError
from ._errors import BoundsError as BoundsError
from ._errors import BroadcastError as BroadcastError
from ._errors import CacheWarning as CacheWarning
from ._errors import CastError as CastError
from ._errors import DTypeError as DTypeError
from ._errors import FormatError as FormatError
from ._errors import HloError as HloError
from ._errors import IndexRangeError as IndexRangeError
from ._errors import LayoutError as LayoutError
from ._errors import LayoutParseError as LayoutParseError
from ._errors import NoAliasError as NoAliasError
from ._errors import NotWritableError as NotWritableError
from ._errors import OverlapError as OverlapError
from ._errors import ReadOnlyError as ReadOnlyError
from ._errors import ShapeError as ShapeError
from ._errors import SizeError as SizeError
from ._errors import StaleOperandError as StaleOperandError
from ._errors import StorageError as StorageError
from ._errors import TracedValueError as TracedValueError
from ._errors import XarrayliteError as XarrayliteError
from .arrays.adapt import adapt as adapt
from .arrays.adapt import rebind as rebind
from .arrays.evaluation import eval_ as _eval
from .arrays.expression import XExpression as XExpression
from .arrays.scalar import XScalar as XScalar
from .arrays.xarray import XArray as XArray
from .arrays.xarray import XView as XView
from .arrays.xtensor import XTensor as XTensor
from .arrays.xtensor import XTensorFixed as XTensorFixed
from .chunked.cluster import to_dask as to_dask
from .chunked.explaining import explain as explain
from .chunked.opening import open_ as _open
from .chunked.storing import store as store
from .display.draw import Drawing as Drawing
from .display.draw import draw as draw
from .dtypes.element_types import ElementType as ElementType
from .dtypes.info import __array_namespace_info__ as __array_namespace_info__
from .dtypes.info import finfo as finfo
from .dtypes.info import iinfo as iinfo
from .dtypes.info import isdtype as isdtype
from .functions.applied import apply_along_axis as apply_along_axis
from .functions.applied import apply_over_axes as apply_over_axes
from .functions.applied import ndenumerate as ndenumerate
from .functions.applied import ndindex as ndindex
from .functions.applied import piecewise as piecewise
from .functions.bits import bitwise_count as bitwise_count
from .functions.bits import frexp as frexp
from .functions.bits import gcd as gcd
from .functions.bits import i0 as i0
from .functions.bits import lcm as lcm
from .functions.bits import ldexp as ldexp
from .functions.bits import logaddexp2 as logaddexp2
from .functions.bits import matvec as matvec
from .functions.bits import packbits as packbits
from .functions.bits import real_if_close as real_if_close
from .functions.bits import spacing as spacing
from .functions.bits import unpackbits as unpackbits
from .functions.bits import vecmat as vecmat
from .functions.comparison import allclose as allclose
from .functions.comparison import array_equal as array_equal
from .functions.comparison import array_equiv as array_equiv
from .functions.composed import angle as angle
from .functions.composed import divmod as divmod
from .functions.composed import float_power as float_power
from .functions.composed import isclose as isclose
from .functions.composed import iscomplex as iscomplex
from .functions.composed import isneginf as isneginf
from .functions.composed import isposinf as isposinf
from .functions.composed import isreal as isreal
from .functions.composed import modf as modf
from .functions.composed import nan_to_num as nan_to_num
from .functions.composed import select as select
from .functions.composed import sinc as sinc
from .functions.constants import e as e
from .functions.constants import euler_gamma as euler_gamma
from .functions.constants import inf as inf
from .functions.constants import nan as nan
from .functions.constants import newaxis as newaxis
from .functions.constants import pi as pi
from .functions.conversion import array as array
from .functions.conversion import asarray as _asanyarray
from .functions.conversion import asarray as asarray
from .functions.conversion import ascontiguousarray as ascontiguousarray
from .functions.conversion import asfortranarray as asfortranarray
from .functions.conversion import copy as copy
from .functions.conversion import from_dlpack as from_dlpack
from .functions.conversion import frombuffer as frombuffer
from .functions.conversion import fromfile as fromfile
from .functions.conversion import fromstring as fromstring
from .functions.creation import empty as empty
from .functions.creation import empty_like as empty_like
from .functions.creation import full as full
from .functions.creation import full_like as full_like
from .functions.creation import ones as ones
from .functions.creation import ones_like as ones_like
from .functions.creation import zeros as zeros
from .functions.creation import zeros_like as zeros_like
from .functions.curves import bartlett as bartlett
from .functions.curves import blackman as blackman
from .functions.curves import convolve as convolve
from .functions.curves import correlate as correlate
from .functions.curves import ediff1d as ediff1d
from .functions.curves import gradient as gradient
from .functions.curves import hamming as hamming
from .functions.curves import hanning as hanning
from .functions.curves import interp as interp
from .functions.curves import kaiser as kaiser
from .functions.curves import trapezoid as trapezoid
from .functions.curves import unwrap as unwrap
from .functions.data_types import astype as astype
from .functions.data_types import can_cast as can_cast
from .functions.data_types import result_type as result_type
from .functions.diagonals import cross as cross
from .functions.diagonals import diag as diag
from .functions.diagonals import diagflat as diagflat
from .functions.diagonals import diagonal as diagonal
from .functions.diagonals import kron as kron
from .functions.diagonals import trace as trace
from .functions.diagonals import tri as tri
from .functions.diagonals import tril as tril
from .functions.diagonals import triu as triu
from .functions.distributions import corrcoef as corrcoef
from .functions.distributions import cov as cov
from .functions.distributions import cumprod as cumprod
from .functions.distributions import cumsum as cumsum
from .functions.distributions import histogram as histogram
from .functions.distributions import histogram2d as histogram2d
from .functions.distributions import histogram_bin_edges as histogram_bin_edges
from .functions.distributions import histogramdd as histogramdd
from .functions.distributions import median as median
from .functions.distributions import nancumprod as nancumprod
from .functions.distributions import nancumsum as nancumsum
from .functions.distributions import nanmedian as nanmedian
from .functions.distributions import nanpercentile as nanpercentile
from .functions.distributions import nanquantile as nanquantile
from .functions.distributions import percentile as percentile
from .functions.distributions import quantile as quantile
from .functions.elementwise import Binary as _Binary
from .functions.elementwise import Unary as _Unary
from .functions.elementwise import around as around
from .functions.elementwise import clip as clip
from .functions.elementwise import round as round
from .functions.elementwise import where as where
from .functions.grids import indices as indices
from .functions.grids import ix_ as ix_
from .functions.grids import meshgrid as meshgrid
from .functions.grids import mgrid as mgrid
from .functions.grids import ogrid as ogrid
from .functions.joining import append as append
from .functions.joining import block as block
from .functions.joining import column_stack as column_stack
from .functions.joining import concat as _concatenate
from .functions.joining import concat as concat
from .functions.joining import dstack as dstack
from .functions.joining import hstack as hstack
from .functions.joining import stack as stack
from .functions.joining import vstack as _row_stack
from .functions.joining import vstack as vstack
from .functions.linear_algebra import dot as dot
from .functions.linear_algebra import einsum as einsum
from .functions.linear_algebra import inner as inner
from .functions.linear_algebra import matmul as matmul
from .functions.linear_algebra import outer as outer
from .functions.linear_algebra import tensordot as tensordot
from .functions.linear_algebra import vdot as vdot
from .functions.linear_algebra import vecdot as vecdot
from .functions.manipulation import atleast_1d as atleast_1d
from .functions.manipulation import atleast_2d as atleast_2d
from .functions.manipulation import atleast_3d as atleast_3d
from .functions.manipulation import broadcast_arrays as broadcast_arrays
from .functions.manipulation import broadcast_to as broadcast_to
from .functions.manipulation import expand_dims as expand_dims
from .functions.manipulation import flip as flip
from .functions.manipulation import matrix_transpose as matrix_transpose
from .functions.manipulation import moveaxis as moveaxis
from .functions.manipulation import permute_dims as permute_dims
from .functions.manipulation import reshape as reshape
from .functions.manipulation import squeeze as squeeze
from .functions.manipulation import transpose as transpose
from .functions.means import mean as mean
from .functions.means import std as _stddev
from .functions.means import std as std
from .functions.means import var as _variance
from .functions.means import var as var
from .functions.norms import count_nonnan as count_nonnan
from .functions.norms import minmax as minmax
from .functions.norms import norm_induced_l1 as norm_induced_l1
from .functions.norms import norm_induced_linf as norm_induced_linf
from .functions.norms import norm_l0 as norm_l0
from .functions.norms import norm_l1 as norm_l1
from .functions.norms import norm_l2 as norm_l2
from .functions.norms import norm_linf as norm_linf
from .functions.norms import norm_lp as norm_lp
from .functions.norms import norm_lp_to_p as norm_lp_to_p
from .functions.norms import norm_sq as norm_sq
from .functions.numpy_names import False_ as False_
from .functions.numpy_names import ScalarType as ScalarType
from .functions.numpy_names import True_ as True_
from .functions.numpy_names import array2string as array2string
from .functions.numpy_names import array_repr as array_repr
from .functions.numpy_names import array_str as array_str
from .functions.numpy_names import base_repr as base_repr
from .functions.numpy_names import binary_repr as binary_repr
from .functions.numpy_names import c_ as c_
from .functions.numpy_names import einsum_path as einsum_path
from .functions.numpy_names import errstate as errstate
from .functions.numpy_names import format_float_positional as format_float_positional
from .functions.numpy_names import format_float_scientific as format_float_scientific
from .functions.numpy_names import geterr as geterr
from .functions.numpy_names import index_exp as index_exp
from .functions.numpy_names import iscomplexobj as iscomplexobj
from .functions.numpy_names import isfortran as isfortran
from .functions.numpy_names import isrealobj as isrealobj
from .functions.numpy_names import isscalar as isscalar
from .functions.numpy_names import issubdtype as issubdtype
from .functions.numpy_names import iterable as iterable
from .functions.numpy_names import may_share_memory as may_share_memory
from .functions.numpy_names import min_scalar_type as min_scalar_type
from .functions.numpy_names import ndim as ndim
from .functions.numpy_names import promote_types as promote_types
from .functions.numpy_names import r_ as r_
from .functions.numpy_names import s_ as s_
from .functions.numpy_names import seterr as seterr
from .functions.numpy_names import shape as shape
from .functions.numpy_names import shares_memory as shares_memory
from .functions.numpy_names import size as size
from .functions.numpy_names import typename as typename
from .functions.numpy_objects import asarray_chkfinite as asarray_chkfinite
from .functions.numpy_objects import broadcast as broadcast
from .functions.numpy_objects import common_type as common_type
from .functions.numpy_objects import frompyfunc as frompyfunc
from .functions.numpy_objects import mask_indices as mask_indices
from .functions.numpy_objects import ndarray as ndarray
from .functions.numpy_objects import nditer as nditer
from .functions.numpy_objects import require as require
from .functions.numpy_objects import ufunc as ufunc
from .functions.polynomials import poly as poly
from .functions.polynomials import poly1d as poly1d
from .functions.polynomials import polyadd as polyadd
from .functions.polynomials import polyder as polyder
from .functions.polynomials import polydiv as polydiv
from .functions.polynomials import polyfit as polyfit
from .functions.polynomials import polyint as polyint
from .functions.polynomials import polymul as polymul
from .functions.polynomials import polysub as polysub
from .functions.polynomials import polyval as polyval
from .functions.polynomials import roots as roots
from .functions.polynomials import vander as vander
from .functions.printing import get_printoptions as get_printoptions
from .functions.printing import printoptions as printoptions
from .functions.printing import set_printoptions as set_printoptions
from .functions.rearranging import fliplr as fliplr
from .functions.rearranging import flipud as flipud
from .functions.rearranging import pad as pad
from .functions.rearranging import ravel as ravel
from .functions.rearranging import repeat as repeat
from .functions.rearranging import roll as roll
from .functions.rearranging import rollaxis as rollaxis
from .functions.rearranging import rot90 as rot90
from .functions.rearranging import swapaxes as swapaxes
from .functions.rearranging import tile as tile
from .functions.reducers import all as all
from .functions.reducers import any as any
from .functions.reducers import argmax as argmax
from .functions.reducers import argmin as argmin
from .functions.reducers import count_nonzero as count_nonzero
from .functions.reducers import max as _amax
from .functions.reducers import max as max
from .functions.reducers import min as _amin
from .functions.reducers import min as min
from .functions.reducers import prod as prod
from .functions.reducers import sum as sum
from .functions.scalar_types import ScalarType as _ScalarType
from .functions.scalar_types import complexfloating as complexfloating
from .functions.scalar_types import dtype as dtype
from .functions.scalar_types import floating as floating
from .functions.scalar_types import generic as generic
from .functions.scalar_types import inexact as inexact
from .functions.scalar_types import integer as integer
from .functions.scalar_types import number as number
from .functions.scalar_types import signedinteger as signedinteger
from .functions.scalar_types import unsignedinteger as unsignedinteger
from .functions.searching import argsort as argsort
from .functions.searching import nonzero as nonzero
from .functions.searching import searchsorted as searchsorted
from .functions.searching import sort as sort
from .functions.searching import take as take
from .functions.searching import take_along_axis as take_along_axis
from .functions.searching import top_k as top_k
from .functions.selecting import argpartition as argpartition
from .functions.selecting import argwhere as argwhere
from .functions.selecting import bincount as bincount
from .functions.selecting import choose as choose
from .functions.selecting import compress as compress
from .functions.selecting import delete as delete
from .functions.selecting import diag_indices as diag_indices
from .functions.selecting import diag_indices_from as diag_indices_from
from .functions.selecting import digitize as digitize
from .functions.selecting import extract as extract
from .functions.selecting import flatnonzero as flatnonzero
from .functions.selecting import insert as insert
from .functions.selecting import intersect1d as intersect1d
from .functions.selecting import lexsort as lexsort
from .functions.selecting import nanargmax as nanargmax
from .functions.selecting import nanargmin as nanargmin
from .functions.selecting import partition as partition
from .functions.selecting import ravel_multi_index as ravel_multi_index
from .functions.selecting import resize as resize
from .functions.selecting import setdiff1d as setdiff1d
from .functions.selecting import setxor1d as setxor1d
from .functions.selecting import sort_complex as sort_complex
from .functions.selecting import tril_indices as tril_indices
from .functions.selecting import tril_indices_from as tril_indices_from
from .functions.selecting import trim_zeros as trim_zeros
from .functions.selecting import triu_indices as triu_indices
from .functions.selecting import triu_indices_from as triu_indices_from
from .functions.selecting import union1d as union1d
from .functions.selecting import unique as unique
from .functions.selecting import unravel_index as unravel_index
from .functions.sequences import arange as arange
from .functions.sequences import eye as eye
from .functions.sequences import fromfunction as fromfunction
from .functions.sequences import fromiter as fromiter
from .functions.sequences import geomspace as geomspace
from .functions.sequences import identity as identity
from .functions.sequences import linspace as linspace
from .functions.sequences import logspace as logspace
from .functions.sets import isin as isin
from .functions.sets import unique_all as unique_all
from .functions.sets import unique_counts as unique_counts
from .functions.sets import unique_inverse as unique_inverse
from .functions.sets import unique_values as unique_values
from .functions.special import erf as erf
from .functions.special import erfc as erfc
from .functions.special import gamma as gamma
from .functions.special import lgamma as lgamma
from .functions.splitting import array_split as array_split
from .functions.splitting import dsplit as dsplit
from .functions.splitting import hsplit as hsplit
from .functions.splitting import split as split
from .functions.splitting import unstack as unstack
from .functions.splitting import vsplit as vsplit
from .functions.statistics import average as average
from .functions.statistics import cumulative_prod as cumulative_prod
from .functions.statistics import cumulative_sum as cumulative_sum
from .functions.statistics import diff as diff
from .functions.statistics import nanmax as nanmax
from .functions.statistics import nanmean as nanmean
from .functions.statistics import nanmin as nanmin
from .functions.statistics import nanprod as nanprod
from .functions.statistics import nanstd as nanstd
from .functions.statistics import nansum as nansum
from .functions.statistics import nanvar as nanvar
from .functions.statistics import ptp as ptp
from .functions.vectorizing import vectorize as vectorize
from .functions.writing import copyto as copyto
from .functions.writing import fill_diagonal as fill_diagonal
from .functions.writing import place as place
from .functions.writing import put as put
from .functions.writing import put_along_axis as put_along_axis
from .functions.writing import putmask as putmask
from .hlo.export.nodes import to_hlo as to_hlo
from .index.broadcast import broadcast_shapes as broadcast_shapes
from .io.npy import load as load
from .io.npy import save as save
from .io.npy import savez as savez
from .io.npy import savez_compressed as savez_compressed
from .io.tables import dump_csv as dump_csv
from .io.tables import from_json as from_json
from .io.tables import genfromtxt as genfromtxt
from .io.tables import info as info
from .io.tables import load_csv as load_csv
from .io.tables import loadtxt as loadtxt
from .io.tables import savetxt as savetxt
from .io.tables import to_json as to_json
from .jagged.array import XJagged as XJagged
from .jagged.lazy import XJaggedExpression as XJaggedExpression
from .labels.labelled import XLabelled as XLabelled
from .layout.fields import COMBINE as COMBINE
from .layout.fields import PaddingValue as PaddingValue
from .layout.fields import SplitConfig as SplitConfig
from .layout.fields import Tile as Tile
from .layout.layout import Layout as Layout
from .layout.strided import COLUMN_MAJOR as _column_major
from .layout.strided import DYNAMIC as _dynamic
from .layout.strided import ROW_MAJOR as _row_major
from .layout.strided import Order as Order
from .nullable.array import XOptional as XOptional
from .nullable.conversion import masked_array as masked_array
from .nullable.conversion import optional as optional
from .nullable.conversion import to_pandas as to_pandas
from .nullable.masked import XMaskedView as XMaskedView
from .nullable.masked import filtration as filtration
from .nullable.masked import masked_view as masked_view
from .nullable.missing import missing as missing
from .runtime.cache import cache_clear as cache_clear
from .runtime.cache import cache_info as cache_info
from .shapes.base import ShapeBase as ShapeBase
from .shapes.jagged import JaggedShape as JaggedShape
from .shapes.labels import IndexedShape as IndexedShape
from .shapes.nested import Nested as Nested
from .shapes.shape import Shape as Shape
from .shapes.tiled import TiledShape as TiledShape
from .transforms.fold import accumulate as accumulate
from .transforms.fold import reduce as reduce
from .transforms.jit import jit as jit
from .transforms.late import late as late
from .transforms.noalias import noalias as noalias
from .xla.bitcast import BitcastReshape as BitcastReshape
from .xla.bitcast import BitcastTranspose as BitcastTranspose
from .xla.bitcast import BitcastTrt as BitcastTrt
from .xla.formats import tpu_layout as tpu_layout
from .xla.spec import ArraySpec as ArraySpec
from .xla.suggest import Suggestion as Suggestion
from .xtensor_views.access import at as at
from .xtensor_views.access import flat as flat
from .xtensor_views.access import in_bounds as in_bounds
from .xtensor_views.access import iter_axis as iter_axis
from .xtensor_views.access import iter_lines as iter_lines
from .xtensor_views.access import periodic as periodic
from .xtensor_views.access import ravel_index as ravel_index
from .xtensor_views.items import drop as drop
from .xtensor_views.items import ellipsis as ellipsis
from .xtensor_views.items import keep as keep
from .xtensor_views.items import range as range
from .xtensor_views.items import xtuple as xtuple
from .xtensor_views.picked import XDynamicView as XDynamicView
from .xtensor_views.picked import XIndexView as XIndexView
from .xtensor_views.regular import as_strided as as_strided
from .xtensor_views.regular import block_view as block_view
from .xtensor_views.regular import col as col
from .xtensor_views.regular import offset_view as offset_view
from .xtensor_views.regular import parent_index as parent_index
from .xtensor_views.regular import row as row
from .xtensor_views.regular import sliding_window_view as sliding_window_view
from .xtensor_views.regular import strided_view as strided_view
from .xtensor_views.reshaped import XReshapeView as XReshapeView
from .xtensor_views.selection import dynamic_view as dynamic_view
from .xtensor_views.selection import filter as filter
from .xtensor_views.selection import flatten as flatten
from .xtensor_views.selection import index_view as index_view
from .xtensor_views.selection import reshape_view as reshape_view
from .xtensor_views.selection import view as view

__version__: str
__array_api_version__: str
eval = _eval
open = _open
asanyarray = _asanyarray
row_stack = _row_stack
concatenate = _concatenate
stddev = _stddev
variance = _variance
amax = _amax
amin = _amin
column_major = _column_major
dynamic = _dynamic
row_major = _row_major

# Rows of the table of operations, made where their types are known.
add: _Binary
subtract: _Binary
multiply: _Binary
divide: _Binary
floor_divide: _Binary
remainder: _Binary
fmod: _Binary
pow: _Binary
negative: _Unary
positive: _Unary
abs: _Unary
fabs: _Unary
sign: _Unary
square: _Unary
reciprocal: _Unary
sqrt: _Unary
maximum: _Binary
minimum: _Binary
fmax: _Binary
fmin: _Binary
fdim: _Binary
floor: _Unary
ceil: _Unary
trunc: _Unary
rint: _Unary
copysign: _Binary
nextafter: _Binary
heaviside: _Binary
conj: _Unary
real: _Unary
imag: _Unary
equal: _Binary
not_equal: _Binary
less: _Binary
less_equal: _Binary
greater: _Binary
greater_equal: _Binary
isnan: _Unary
isinf: _Unary
isfinite: _Unary
signbit: _Unary
logical_and: _Binary
logical_or: _Binary
logical_xor: _Binary
logical_not: _Unary
bitwise_and: _Binary
bitwise_or: _Binary
bitwise_xor: _Binary
bitwise_invert: _Unary
bitwise_left_shift: _Binary
bitwise_right_shift: _Binary
sin: _Unary
cos: _Unary
tan: _Unary
asin: _Unary
acos: _Unary
atan: _Unary
sinh: _Unary
cosh: _Unary
tanh: _Unary
asinh: _Unary
acosh: _Unary
atanh: _Unary
exp: _Unary
exp2: _Unary
expm1: _Unary
log: _Unary
log2: _Unary
log10: _Unary
log1p: _Unary
cbrt: _Unary
atan2: _Binary
hypot: _Binary
logaddexp: _Binary
deg2rad: _Unary
rad2deg: _Unary
true_divide: _Binary
mod: _Binary
power: _Binary
absolute: _Unary
fix: _Unary
conjugate: _Unary
invert: _Unary
bitwise_not: _Unary
left_shift: _Binary
right_shift: _Binary
arcsin: _Unary
arccos: _Unary
arctan: _Unary
arcsinh: _Unary
arccosh: _Unary
arctanh: _Unary
arctan2: _Binary
radians: _Unary
degrees: _Unary

# Types of elements.
bool_: _ScalarType
int8: _ScalarType
int16: _ScalarType
int32: _ScalarType
int64: _ScalarType
uint8: _ScalarType
uint16: _ScalarType
uint32: _ScalarType
uint64: _ScalarType
float16: _ScalarType
float32: _ScalarType
float64: _ScalarType
complex64: _ScalarType
complex128: _ScalarType
bfloat16: _ScalarType
float8_e3m4: _ScalarType
float8_e4m3: _ScalarType
float8_e4m3b11fnuz: _ScalarType
float8_e4m3fn: _ScalarType
float8_e4m3fnuz: _ScalarType
float8_e5m2: _ScalarType
float8_e5m2fnuz: _ScalarType
float8_e8m0fnu: _ScalarType
float6_e2m3fn: _ScalarType
float6_e3m2fn: _ScalarType
float4_e2m1fn: _ScalarType
int2: _ScalarType
int4: _ScalarType
uint2: _ScalarType
uint4: _ScalarType
bool = bool_
csingle = complex64
cdouble = complex128
half = float16
single = float32
double = float64
byte = int8
short = int16
intc = int32
int_ = int64
intp = int64
long = int64
longlong = int64
ubyte = uint8
ushort = uint16
uintc = uint32
uint = uint64
uintp = uint64
ulong = uint64
ulonglong = uint64
