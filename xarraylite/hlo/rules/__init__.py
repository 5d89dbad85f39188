"""What each operation asks of its operands, and the shape of its result.

A rule is a function of a `call.Call`; ``inference`` has the table of them by opcode, and asks it
for every instruction of a module that is verified.
"""
