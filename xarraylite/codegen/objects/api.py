"""What the functions of this room are made of: loads, stores and words, and which are methods.

These are names for Numba (`codegen.jit` knows what to make of them); none is called in Python.
An int is an address throughout.
"""

from __future__ import annotations


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


def run(kernel: int, block: int) -> int:
    """Run a kernel on its argument block; return its status."""
    raise NotImplementedError(kernel, block)


def call_at(function: int, place: int) -> int:
    """Call the function of C at an address with the eight words at a place; return what it does."""
    raise NotImplementedError(function, place)


def scratch() -> int:
    """Return the address of `SCRATCH` words that live until the caller returns."""
    raise NotImplementedError


def word(number: int) -> int:
    """Return a word of what was found out when the code was loaded."""
    raise NotImplementedError(number)


#: How CPython calls a method, or a function: with no argument beside ``self``, with one, with two,
#: with the place of several and their number, or with a tuple and a dictionary.
NOTHING, ONE, TWO, LISTED, ANY = range(5)

#: What methods are, by name: how CPython calls them, and what the function of that name takes.
#: ``a1`` is ``self``, ``a2`` and ``a3`` are arguments, and ``a4`` is the first of its own words.
METHODS = {
    "forward": (ONE, "a1, a2, a4"),
    "reflected": (ONE, "a1, a2, a4"),
    "in_place": (ONE, "a1, a2, a4"),
    "single": (NOTHING, "a1, a4"),
    "evaluated": (ONE, "a2"),
    "set_item": (TWO, "a1, a2, a3"),
    "get_item": (ONE, "a1, a2"),
    "folded": (TWO, "a2, a3"),
    "copied": (ANY, "a1, a2, a3"),
    "zeros": (ONE, "a2"),
    "array_at": (ONE, "a2"),
    "to_array": (ANY, "a1, a2, a3"),
    "to_struct": (ONE, "a2, a4"),
    "product": (ONE, "a1, a2"),
    "to_float": (NOTHING, "a1"),
    "to_int": (NOTHING, "a1, a4"),
    "jitted": (ANY, "a1, a2, a3"),
    "adapted": (ONE, "a2"),
    "applied": (LISTED, "a2, a3"),
    "owned": (ONE, "a2"),
    "replayed": (LISTED, "a2"),
    "rewritten": (LISTED, "a2"),
    "new_container": (LISTED, "a2, a3"),
    "assign": (ONE, "a1, a2"),
    "promised": (ONE, "a2"),
    "promised_part": (ONE, "a1, a2"),
    "recalled": (LISTED, "a2"),
    "handed": (LISTED, "a2"),
    "method": (ANY, "a1, a2, a3, a4"),
    "attribute": (ONE, "a2, a4"),
    "real_part": (ONE, "a2, a4"),
    "selected_few": (TWO, "a2, a3"),
    "one_element": (ANY, "a1, a2, a3, a4"),
    "taken_along": (ANY, "a1, a2, a3, a4"),
    "dotted": (ANY, "a1, a2, a3, a4"),
    "length": (NOTHING, "a1, a4"),
    "total": (ONE, "a2, a4"),
    "total_bytes": (ONE, "a2, a4"),
    "duplicated": (ONE, "a2"),
    "flattened": (ANY, "a1, a2, a3, a4"),
    "pick_evaluated": (NOTHING, "a1"),
    "pick_settled": (NOTHING, "a1"),
    "pick_wrote": (ONE, "a1, a2"),
    "pick_set": (TWO, "a1, a2, a3"),
    "filtered": (TWO, "a2, a3"),
    "indexed": (TWO, "a2, a3"),
    "basic": (TWO, "a2, a3"),
    "element": (TWO, "a2, a3"),
    "wrapped": (TWO, "a2, a3"),
    "valued": (ONE, "a2"),
    "scalar_forward": (ONE, "a1, a2, a4"),
    "scalar_reflected": (ONE, "a1, a2, a4"),
    "held_forward": (ONE, "a1, a2, a4"),
    "held_reflected": (ONE, "a1, a2, a4"),
}

#: Words of `scratch`.
SCRATCH = 256

#: Where every object has its count of references and its class, and a tuple its length.
COUNT, CLASS, SIZE = 0, 8, 16
