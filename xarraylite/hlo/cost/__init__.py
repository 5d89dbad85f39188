"""What a program costs: operations, bytes with padding, memory over time, and how to pay less.

``flops`` counts operations, ``weigh`` bytes and moves, ``memory`` what is alive when, ``report``
writes it down, ``diff`` compares two programs.
"""
