"""Small steps on Python's objects, as functions that Numba compiles.

What an operator does where everything is known — look two kinds up, put operands one after the
other, make an expression of them — is a dozen operations on Python's objects, each of which costs
as much in Python as ten elements of arithmetic.  These functions do the same by CPython's own C
functions and by loads from slots whose places are known (`runtime.natives` finds them).  They are
compiled as the scalar bodies are, and become methods of the classes once these are used often.

An int is an object's address, or 0.  A function does the usual case and nothing else: where
anything is not as it should be, nothing has happened, and the method in Python that it stands
before is called.  So none has a message, and none decides anything that Python's does not.
References are those of C: what `get` returns is borrowed, what a step makes is the caller's.
"""
