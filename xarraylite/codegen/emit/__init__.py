"""Kernel specifications to LLVM IR.

`builder` is a typed printer of instructions; the other modules are the kinds of kernel (maps,
reductions, segments) and what they share.  `kernel` of the room above imports it.  It never calls
LLVM.
"""
