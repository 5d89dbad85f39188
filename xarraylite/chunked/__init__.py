"""Larger than memory: expressions over operands that are read, computed and written in blocks.

Who may import it: the facade and the demonstration.  It never compiles anything itself: a block of
an expression is an ordinary expression over memory.
"""
