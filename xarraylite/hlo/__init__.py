"""XLA's programs: read, printed, checked, evaluated, weighed.

The facade imports it.  Each opcode is a row of `opcodes`; ``text`` reads and prints, ``rules`` has
what each asks of its operands and the shape it gives, ``evaluation`` computes, ``cost`` weighs and
``export`` writes modules of our expressions.  Nothing here runs or imports XLA.

::

    module = xl.hlo.parse(text)      HloModule: name, computations, entry, is_scheduled,
                                     attributes, stack_frames, signature; find, walk, post_order,
                                     to_text, verify, replace, replace_uses, insert, remove
    module.entry                     HloComputation: name, instructions, root, parameters,
                                     execution_thread; post_order
    module.entry.root                HloInstruction: name, opcode, shape (an ArraySpec), operands,
                                     users, attributes (typed values by name), get(name),
                                     called_computations, to_apply, control_predecessors,
                                     metadata, computation, literal, parameter_number

All are frozen and compared by identity.  Values of attributes are those of ``values``
(`WindowDimension`, `PadDimension`, `SliceDimension`, `ConvolutionLabels`, `ReplicaGroups`, ...),
integers, tuples of integers, bools, floats and words; a constant's is an `HloLiteral` with
``shape``, ``values`` (a NumPy array) and ``elements``.  ``called_computations`` come in the order
of ``OPCODES[opcode].calls``: a ``while`` has its body first and then its condition.
"""

from __future__ import annotations

from .evaluate import evaluate as evaluate
from .evaluation.custom_calls import register_custom_call as register_custom_call
from .instruction import HloComputation as HloComputation
from .instruction import HloInstruction as HloInstruction
from .module import HloModule as HloModule
from .opcodes import OPCODES as OPCODES
from .opcodes import Opcode as Opcode
from .text.literals import HloLiteral as HloLiteral
from .text.parser import parse as parse
from .text.tables import StackFrame as StackFrame
from .values import Alias as Alias
from .values import ConvolutionLabels as ConvolutionLabels
from .values import Domain as Domain
from .values import OpMetadata as OpMetadata
from .values import PadDimension as PadDimension
from .values import ReplicaGroups as ReplicaGroups
from .values import ResultAccuracy as ResultAccuracy
from .values import Signature as Signature
from .values import SliceDimension as SliceDimension
from .values import WindowDimension as WindowDimension
