"""Functions of C, which every process of CPython has.

These are names for Numba (`codegen.jit` knows what to make of them); none is called in Python.
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
PyBytes_FromStringAndSize = Outside("PyBytes_FromStringAndSize", "ppp")
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
PyEval_GetFrame = Outside("PyEval_GetFrame", "p")
PyEval_RestoreThread = Outside("PyEval_RestoreThread", "vp")
PyEval_SaveThread = Outside("PyEval_SaveThread", "p")
PyFloat_FromDouble = Outside("PyFloat_FromDouble", "pd")
PyFrame_GetCode = Outside("PyFrame_GetCode", "pp")
PyInterpreterState_Get = Outside("PyInterpreterState_Get", "p")
PyInterpreterState_ThreadHead = Outside("PyInterpreterState_ThreadHead", "pp")
PyList_Append = Outside("PyList_Append", "ipp")
PyList_AsTuple = Outside("PyList_AsTuple", "pp")
PyList_New = Outside("PyList_New", "pp")
PyList_SetSlice = Outside("PyList_SetSlice", "ipppp")
PyLong_AsLongLong = Outside("PyLong_AsLongLong", "pp")
PyLong_AsUnsignedLongLongMask = Outside("PyLong_AsUnsignedLongLongMask", "pp")
PyLong_FromLongLong = Outside("PyLong_FromLongLong", "pp")
PyNumber_Float = Outside("PyNumber_Float", "pp")
PyNumber_Index = Outside("PyNumber_Index", "pp")
PyObject_GenericGetAttr = Outside("PyObject_GenericGetAttr", "ppp")
PyObject_GenericSetAttr = Outside("PyObject_GenericSetAttr", "ippp")
PyObject_GetBuffer = Outside("PyObject_GetBuffer", "ippi")
PyObject_GetItem = Outside("PyObject_GetItem", "ppp")
PyObject_SetItem = Outside("PyObject_SetItem", "ippp")
PyObject_RichCompareBool = Outside("PyObject_RichCompareBool", "ippi")
PyObject_Vectorcall = Outside("PyObject_Vectorcall", "ppppp")
PyObject_Call = Outside("PyObject_Call", "pppp")
PySet_Contains = Outside("PySet_Contains", "ipp")
PySlice_New = Outside("PySlice_New", "pppp")
PySlice_AdjustIndices = Outside("PySlice_AdjustIndices", "ppppp")
PySlice_Unpack = Outside("PySlice_Unpack", "ipppp")
PyObject_VectorcallMethod = Outside("PyObject_VectorcallMethod", "ppppp")
PyThreadState_Next = Outside("PyThreadState_Next", "pp")
PyTuple_New = Outside("PyTuple_New", "pp")
PyWeakref_NewRef = Outside("PyWeakref_NewRef", "ppp")
PyType_GenericAlloc = Outside("PyType_GenericAlloc", "ppp")
PyType_IsSubtype = Outside("PyType_IsSubtype", "ipp")
memcpy = Outside("memcpy", "pppp")
memset = Outside("memset", "ppip")

#: Our own symbol: the words that `api.word` reads.
STATE = "xl_state"


def functions() -> dict[str, Outside]:
    """Return the functions by name."""
    return {name: found for name, found in globals().items() if isinstance(found, Outside)}
