"""Text in and out: scanning, parsing, what attributes and constants look like, printing.

``parser`` reads modules and computations, ``bodies`` instructions, ``attribute_reader`` what stands
behind them; ``attributes`` has the one table of attributes by kind (``kinds_*``), which ``printer``
writes by.  Nothing here knows what an operation computes.
"""
