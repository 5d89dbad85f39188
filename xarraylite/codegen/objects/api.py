"""What the functions of this room call: CPython's own functions, memory, and facts found out.

These are names for Numba (`codegen.jit` knows what to make of them); none is called in Python.
An int is an address throughout.
"""

from __future__ import annotations

from typing import NamedTuple


class Outside(NamedTuple):
    """A function of C, which every process of CPython has.

    Attributes
    ----------
    name : str
        Its symbol.
    types : str
        Its result and its arguments: ``p`` an address or another word, ``i`` a C int, ``d`` a
        double, ``v`` nothing.
    """

    name: str
    types: str

    def __call__(self, *args: float) -> int:
        """Refuse: it is called by machine code."""
        raise NotImplementedError(self.name)


Py_DecRef = Outside("Py_DecRef", "vp")
Py_IncRef = Outside("Py_IncRef", "vp")
PyComplex_FromDoubles = Outside("PyComplex_FromDoubles", "pdd")
PyContextVar_Reset = Outside("PyContextVar_Reset", "ipp")
PyContextVar_Set = Outside("PyContextVar_Set", "ppp")
PyDict_Contains = Outside("PyDict_Contains", "ipp")
PyDict_GetItemWithError = Outside("PyDict_GetItemWithError", "ppp")
PyDict_New = Outside("PyDict_New", "p")
PyDict_Next = Outside("PyDict_Next", "ipppp")
PyDict_SetItem = Outside("PyDict_SetItem", "ippp")
PyDict_Size = Outside("PyDict_Size", "pp")
PyErr_Clear = Outside("PyErr_Clear", "v")
PyErr_ExceptionMatches = Outside("PyErr_ExceptionMatches", "ip")
PyErr_Fetch = Outside("PyErr_Fetch", "vppp")
PyErr_Occurred = Outside("PyErr_Occurred", "p")
PyErr_Restore = Outside("PyErr_Restore", "vppp")
PyFloat_FromDouble = Outside("PyFloat_FromDouble", "pd")
PyList_New = Outside("PyList_New", "pp")
PyLong_AsLongLong = Outside("PyLong_AsLongLong", "pp")
PyLong_AsUnsignedLongLongMask = Outside("PyLong_AsUnsignedLongLongMask", "pp")
PyLong_FromLongLong = Outside("PyLong_FromLongLong", "pp")
PyNumber_Float = Outside("PyNumber_Float", "pp")
PyObject_GenericSetAttr = Outside("PyObject_GenericSetAttr", "ippp")
PyObject_GetItem = Outside("PyObject_GetItem", "ppp")
PyObject_SetItem = Outside("PyObject_SetItem", "ippp")
PyObject_RichCompareBool = Outside("PyObject_RichCompareBool", "ippi")
PyObject_Vectorcall = Outside("PyObject_Vectorcall", "ppppp")
PyObject_Call = Outside("PyObject_Call", "pppp")
PySet_Contains = Outside("PySet_Contains", "ipp")
PySlice_AdjustIndices = Outside("PySlice_AdjustIndices", "ppppp")
PySlice_Unpack = Outside("PySlice_Unpack", "ipppp")
PyObject_VectorcallMethod = Outside("PyObject_VectorcallMethod", "ppppp")
PyTuple_New = Outside("PyTuple_New", "pp")
PyWeakref_NewRef = Outside("PyWeakref_NewRef", "ppp")
PyType_GenericAlloc = Outside("PyType_GenericAlloc", "ppp")
PyType_IsSubtype = Outside("PyType_IsSubtype", "ipp")
memcpy = Outside("memcpy", "pppp")
memset = Outside("memset", "ppip")

#: Symbols of our own: the words that `word` reads, and a launch.
STATE, LAUNCH, CALL = "xl_state", "xl_launch", "xl_call"

#: ``xl_launch(record, destination, shape, operands)``: see `runtime.launch`; 0 if it refused.
xl_launch = Outside(LAUNCH, "ppppp")

#: ``xl_call(kernel, block)``: run one kernel, and return its status.
xl_call = Outside(CALL, "ppp")


def load(address: int) -> int:
    """Return the 64-bit word at an address."""
    raise NotImplementedError(address)


def load_byte(address: int) -> int:
    """Return the byte at an address."""
    raise NotImplementedError(address)


def load_double(address: int) -> float:
    """Return the float64 at an address."""
    raise NotImplementedError(address)


def load_float(address: int) -> int:
    """Return the bits of the float64 at an address, rounded to float32."""
    raise NotImplementedError(address)


def store(address: int, value: int) -> int:
    """Store a 64-bit word; return it."""
    raise NotImplementedError(address, value)


def scratch() -> int:
    """Return the address of `SCRATCH` words that live until the caller returns."""
    raise NotImplementedError


def word(number: int) -> int:
    """Return a word of what was found out when the code was loaded."""
    raise NotImplementedError(number)


#: What `entry` can be asked for.
METHODS = (
    "forward",
    "reflected",
    "in_place",
    "single",
    "evaluated",
    "set_item",
    "get_item",
    "folded",
    "copied",
    "zeros",
    "to_array",
    "product",
    "to_float",
    "jitted",
    "adapted",
    "applied",
    "owned",
    "replayed",
    "new_container",
    "assign",
    "promised",
    "promised_part",
    "recalled",
    "handed",
    "method",
    "attribute",
    "selected_few",
    "one_element",
    "taken_along",
    "dotted",
    "length",
    "total",
    "total_bytes",
    "duplicated",
    "flattened",
    "pick_evaluated",
    "pick_settled",
    "pick_wrote",
    "filtered",
    "indexed",
    "rewritten",
    "scalar_forward",
    "scalar_reflected",
)

#: Words of `scratch`.
SCRATCH = 256

#: Where every object has its count of references and its class, and a tuple its length.
COUNT, CLASS, SIZE = 0, 8, 16

#: Numbers of words: addresses of objects, ...
(
    NONE,
    FALSE,
    ELLIPSIS,
    INT,
    FLOAT,
    REFERENCE,
    ROW_MAJOR,
    ZERO,
    EXPRESSION,
    CONTAINER,
    ARRAY,
    VIEW,
    TENSOR_VIEW,
    BUFFER,
    DIRECT,
    SETTINGS,
    COUNTERS,
    SLABS,
    TAKE,
    EVALUATED,
    SETITEM,
    GETITEM,
    FOLDED,
    APPLIED,
    JITTED,
    TO_FLOAT,
    TO_ARRAY,
    COPIED,
    ZEROS,
    VIEW_NAME,
    RESHAPE_NAME,
    OWNER_NAME,
    PIN_NAME,
    MINUS_ONE,
    DYNAMIC,
    ALL_PLACES,
    ADAPTED,
    OWNED,
    NEW_CONTAINER,
    ASSIGN,
    PROMISE,
    PROMISED,
    PROMISED_PART,
    PROMISED_ASSIGN,
    PROMISED_SETITEM,
    REPLAY,
    REWRITE,
    DOT,
    MADE_NAME,
    MATMUL,
    SCALARS,
    SCALAR_HELD,
    SCALAR_COMPLEX,
    SCALAR_FLOAT,
    NUMPY_FLOAT64,
    PRODUCT,
    NDARRAY,
    TRUE,
    NODE,
    FLOAT64_KIND,
    NUMPY_EMPTY,
    UINT8,
    EMPTY,
    FLOAT64,
    SLICE,
    TUPLE,
    DICT,
    BOOL,
    COMPLEX,
    STR,
    TYPE,
    NONE_TYPE,
    LIST,
    PLUS,
    MINUS,
    NUMPY_DTYPE,
    NUMPY_GENERIC,
    NUMPY_FLOAT32,
    FLOAT32,
    INT64,
    BOOL_DTYPE,
    REDUCTION,
    RECIPE,
    VIEW_RECIPE,
    FRONTS,
    EXCEPTION,
    NOT_DONE,
    ALL,
    COPY,
    SELECTED,
    FEW_SELECTED,
    ITEM_NAME,
    DUPLICATED,
    POWER,
    INDEX_VIEW,
    PICK_EVALUATED,
    PICK_SETTLED,
    PICK_WROTE,
    FILTERED,
    INDEXED,
    BY_ROWS,
    STRIDED_DOT,
    # ... of cells in memory, ...
    TRACING,
    EVALUATIONS,
    # ... a number: references to a temporary that only a statement has, ...
    ALONE,
    # ... how far from an object's address its attributes are, ...
    TUPLE_ITEMS,
    BYTES_DATA,
    KIND,
    SHAPE,
    OPERANDS,
    OWN_BUFFER,
    OWN_DTYPE,
    OWN_ARRAY,
    SCALAR_VALUE,
    START,
    FORCED,
    POLICY,
    TABLE,
    REFLECTED,
    USED,
    OWNING,
    WEIGHT,
    NOTED,
    FRESH,
    WRITES,
    DTYPE,
    ITEMSIZE,
    ITEMS,
    OWNER,
    PLACES,
    STRIDES,
    STORED,
    RECIPE_KIND,
    RECIPE_SHAPE,
    RECIPE_RECORD,
    RECIPE_CONSTANTS,
    VIEW_KIND,
    VIEW_SHAPE,
    VIEW_BY,
    COPY_MADE,
    COPY_ORIGIN,
    SELECTED_BASE,
    SELECTED_KEY,
    PICK_BASE,
    PICK_OFFSETS,
    PICK_WHERE,
    LAST,
    LAST_KIND,
    LAST_SHAPE,
    LAST_ITEMS,
    LAST_KINDS,
    LAST_SHAPES,
    MEMORY,
    MEMORY_START,
    ADDRESS,
    NBYTES,
    SNAPSHOT,
    SPECIAL,
    SHARED,
    RECORD,
    RESULT,
    REPLAY_RECORD,
    REPLAY_RESULT,
    REPLAY_POLICY,
    REWRITE_RECORD,
    DESTINATION,
    ENGINE,
    CHECK_NOALIAS,
    MOST_BYTES,
    DEFAULT_LAYOUT,
    ALLOCATIONS,
    BYTES,
    TEMPORARIES,
    # ... and for each operation that is an operator `ROW` words: its keys in the tables of kinds,
    # and Python's methods.
    ROWS,
    *_,
) = range(1024)
ROW = 8
