"""Larger than memory: expressions over operands that are read, computed and written in blocks.

Who may import it: the facade and the demonstration.  It never compiles anything itself: a block of
an expression is an ordinary expression over memory.

* What is kept elsewhere: `opening`, `source`, `zarrs`, `operand`; which arrays are the same:
  `places`.
* Blocks: `selection`, `cut`, `loads`, `piece`, `grid`, `plan`, `budget`.
* Reductions: `folds`; in parts `trees` with `splits` and `joins`, `division`; in any blocks
  `blocks`, `leaves`; with what they are in `bands`.
* Running them: `pipeline`, `cache`, `stream`, `cluster` with `parcel`, `retries`.
* Into storage: `storing`, `target`, `inner`, `journal`; what is told: `explaining`, `progress`.
"""
