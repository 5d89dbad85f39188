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


def add_to(address: int, value: int) -> int:
    """Add to a word at once, whoever else does; return what it was."""
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
#: with the place of several and their number, none of them by name, or with a tuple and a
#: dictionary; or C, which has a buffer filled (PEP 3118).
NOTHING, ONE, TWO, LISTED, ANY, FILLED = range(6)

#: What is called instead of a method that did nothing: with so many arguments, or several, which
#: lie at an address and may have names, or a tuple and a dictionary.
SEVERAL, TOGETHER = 4, 5

#: The first three of several arguments.
_THREE = "load(a2), load(a2 + 8), load(a2 + 16)"

#: Methods that are functions of their name, by how CPython calls them and what these are given.
#: ``a1`` is ``self``, ``a2`` and ``a3`` are arguments, and ``a4`` is the first of its own words.
_NAMED = (
    (NOTHING, "a1", "length to_bool to_float to_int"),
    (NOTHING, "a1, a4", "single"),
    (ONE, "a2", "adapted array_at duplicated evaluated looked_at owned promised"),
    (ONE, "a2", "at_once total total_bytes value_of"),
    (ONE, "a1, a2", "assign get_item lazy_item pick_wrote product promised_part"),
    (ONE, "a2, a4", "attribute real_part"),
    (ONE, "a1, a2, a4", "forward in_place reflected"),
    (TWO, "a2, a3", "basic filtered folded indexed picked"),
    (TWO, "a1, a2, a3", "pick_set set_item"),
    (LISTED, "a2, a3", "applied computed_into freed new_container owned_alone zeros"),
    (LISTED, _THREE, "hand recall replayed rewritten"),
    (ANY, "a1, a2, a3", "copied dotted flattened jitted one_element"),
    (ANY, "a1, a2, a3", "sorted_inside taken_along"),
    (ANY, "a1, a2, a3, a4", "converted method"),
)

#: What methods are, by name: how CPython calls them, and what they do.
METHODS = {
    name: (form, f"{name}({given})") for form, given, names in _NAMED for name in names.split()
} | {
    "adapted_alone": (LISTED, "adapted(load(a2)) if a3 == 1 else 0"),
    "valued_alone": (LISTED, "at_once(load(a2)) if a3 == 1 else 0"),
    "indexed_pair": (LISTED, "indexed(load(a2), load(a2 + 8)) if a3 == 2 else 0"),
    "filtered_pair": (LISTED, "filtered(load(a2), load(a2 + 8)) if a3 == 2 else 0"),
    "pick_evaluated": (NOTHING, "values_of(a1, False)"),
    "pick_settled": (NOTHING, "values_of(a1, True)"),
    "to_buffer": (FILLED, "to_buffer(a1, a2, a3)"),
    "element": (TWO, "element(a2, a3, False)"),
    "wrapped": (TWO, "element(a2, a3, True)"),
    "held_forward": (ONE, "held(a1, a2, a4)"),
    "held_reflected": (ONE, "held(a2, a1, a4)"),
    "held_single": (NOTHING, "alone_held(a1, a4)"),
}

#: Words of `scratch`.
SCRATCH = 256

#: Where every object has its count of references and its class, and a tuple its length.
COUNT, CLASS, SIZE = 0, 8, 16
