"""Kernel specifications to LLVM IR.

<<<<<<< HEAD
IR is built only from this package's own tokens: numbers, and names from fixed tables.  No string a
user gave (a label, a function's name) ever becomes part of it.
=======
`builder` is a typed printer of instructions; the other modules are the kinds of kernel (maps,
reductions, segments) and what they share.  `kernel` of the room above imports it.  It never calls
LLVM.
>>>>>>> main
"""
