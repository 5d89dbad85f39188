"""What a program costs: operations, bytes with padding, memory over time, and how to pay less.

``weigh`` counts operations, bytes and moves, ``memory`` what is alive when, ``report``
writes it down, ``diff`` compares two programs.
"""
