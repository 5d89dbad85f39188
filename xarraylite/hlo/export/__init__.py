"""From our expressions to HLO: `to_hlo`, and what each operation becomes.

``terms`` writes instructions, ``operations`` has one row for each operation that is not one of
HLO's, ``nodes`` goes through an expression.
"""
