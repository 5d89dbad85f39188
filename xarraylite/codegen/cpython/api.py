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
#: dictionary.
NOTHING, ONE, TWO, LISTED, ANY = range(5)

#: What is called instead of a method that did nothing: with so many arguments, or several, which
#: lie at an address and may have names, or a tuple and a dictionary.
SEVERAL, TOGETHER = 4, 5

#: What methods are, by name: how CPython calls them, and what they do.  ``a1`` is ``self``, ``a2``
#: and ``a3`` are arguments, and ``a4`` is the first of its own words.
METHODS = {
    "forward": (ONE, "forward(a1, a2, a4)"),
    "reflected": (ONE, "reflected(a1, a2, a4)"),
    "in_place": (ONE, "in_place(a1, a2, a4)"),
    "single": (NOTHING, "single(a1, a4)"),
    "converted": (ANY, "converted(a1, a2, a3, a4)"),
    "evaluated": (ONE, "evaluated(a2)"),
    "valued_at_once": (ONE, "at_once(a2)"),
    "valued_alone": (LISTED, "valued_alone(a2, a3)"),
    "indexed_pair": (LISTED, "indexed_pair(a2, a3)"),
    "filtered_pair": (LISTED, "filtered_pair(a2, a3)"),
    "set_item": (TWO, "set_item(a1, a2, a3)"),
    "get_item": (ONE, "get_item(a1, a2)"),
    "looked_at": (ONE, "looked_at(a2)"),
    "lazy_item": (ONE, "lazy_item(a1, a2)"),
    "folded": (TWO, "folded(a2, a3)"),
    "copied": (ANY, "copied(a1, a2, a3)"),
    "zeros": (LISTED, "zeros(a2, a3)"),
    "array_at": (ONE, "array_at(a2)"),
    "to_array": (ANY, "to_array(a1, a2, a3)"),
    "to_struct": (ONE, "to_struct(a2)"),
    "product": (ONE, "product(a1, a2)"),
    "to_float": (NOTHING, "to_float(a1)"),
    "to_int": (NOTHING, "to_int(a1)"),
    "to_bool": (NOTHING, "to_bool(a1)"),
    "jitted": (ANY, "jitted(a1, a2, a3)"),
    "adapted": (ONE, "adapted(a2)"),
    "adapted_alone": (LISTED, "adapted_alone(a2, a3)"),
    "applied": (LISTED, "applied(a2, a3)"),
    "computed_into": (LISTED, "computed_into(a2, a3)"),
    "owned": (ONE, "owned(a2)"),
    "owned_alone": (LISTED, "owned_alone(a2, a3)"),
    "replayed": (LISTED, "replayed(a2)"),
    "rewritten": (LISTED, "rewritten(a2)"),
    "new_container": (LISTED, "new_container(a2, a3)"),
    "assign": (ONE, "assign(a1, a2)"),
    "sorted_inside": (ANY, "sorted_inside(a1, a2, a3)"),
    "freed": (LISTED, "freed(a2, a3)"),
    "promised": (ONE, "promised(a2)"),
    "promised_part": (ONE, "promised_part(a1, a2)"),
    "recalled": (LISTED, "recalled(a2)"),
    "handed": (LISTED, "handed(a2)"),
    "method": (ANY, "method(a1, a2, a3, a4)"),
    "attribute": (ONE, "attribute(a2, a4)"),
    "real_part": (ONE, "real_part(a2, a4)"),
    "selected_few": (TWO, "picked(a2, a3)"),
    "one_element": (ANY, "one_element(a1, a2, a3)"),
    "taken_along": (ANY, "taken_along(a1, a2, a3)"),
    "dotted": (ANY, "dotted(a1, a2, a3)"),
    "length": (NOTHING, "length(a1)"),
    "total": (ONE, "total(a2)"),
    "total_bytes": (ONE, "total_bytes(a2)"),
    "duplicated": (ONE, "duplicated(a2)"),
    "flattened": (ANY, "flattened(a1, a2, a3)"),
    "pick_evaluated": (NOTHING, "values_of(a1, False)"),
    "pick_settled": (NOTHING, "values_of(a1, True)"),
    "pick_wrote": (ONE, "pick_wrote(a1, a2)"),
    "pick_set": (TWO, "pick_set(a1, a2, a3)"),
    "filtered": (TWO, "filtered(a2, a3)"),
    "indexed": (TWO, "indexed(a2, a3)"),
    "basic": (TWO, "basic(a2, a3)"),
    "element": (TWO, "element(a2, a3, False)"),
    "wrapped": (TWO, "element(a2, a3, True)"),
    "valued": (ONE, "value_of(a2)"),
    "held_forward": (ONE, "held(a1, a2, a4)"),
    "held_reflected": (ONE, "held(a2, a1, a4)"),
    "held_single": (NOTHING, "alone_held(a1, a4)"),
}

#: Words of `scratch`.
SCRATCH = 256

#: Where every object has its count of references and its class, and a tuple its length.
COUNT, CLASS, SIZE = 0, 8, 16
