"""`explain`: what an evaluation would do, without doing it."""

from __future__ import annotations

from dataclasses import dataclass

from ..dtypes.names import dtype_name
from ..engine import evaluate as engine
from ..engine.graph import canonical
from ..engine.program import KernelStep, Program
from ..engine.target import Target
from ..expr.node import Node
from ..layout.tiled import TiledMap
from ..storage.buffer import Buffer
from .assign import fit, node_of
from .container import XContainer
from .noalias import NoAlias
from .operands import as_node


@dataclass(frozen=True, slots=True)
class Temporary:
    """One temporary of an evaluation.

    Attributes
    ----------
    nbytes : int
        Its size in bytes.
    reason : str
        Why it exists.
    """

    nbytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The plan of one evaluation; printing it gives a readable account.

    Attributes
    ----------
    title : str
        Destination and result.
    steps : tuple of str
        What runs, in order.
    temporaries : tuple of Temporary
        Memory that lives only during the evaluation.
    bytes_moved : int
        Bytes that the kernels read and write.
    result_bytes : int
        Bytes allocated for the result; 0 when it goes into an existing container.
    sources : tuple of str
        The kernels' source code.
    """

    title: str
    steps: tuple[str, ...]
    temporaries: tuple[Temporary, ...]
    bytes_moved: int
    result_bytes: int
    sources: tuple[str, ...]

    @property
    def kernels(self) -> int:
        """Number of kernels that run."""
        return len(self.sources)

    def __str__(self) -> str:
        lines = [self.title]
        lines += [f"  {k + 1}. {step}" for k, step in enumerate(self.steps)]
        total = sum(t.nbytes for t in self.temporaries)
        lines.append(
            f"  {self.kernels} kernel(s), {self.bytes_moved:,} bytes moved, "
            f"{self.result_bytes:,} bytes for the result, {total:,} bytes in "
            f"{len(self.temporaries)} temporaries"
        )
        lines += [f"  temporary of {t.nbytes:,} bytes: {t.reason}" for t in self.temporaries]
        return "\n".join(lines)

    __repr__ = __str__


def explain(destination: object, expression: object = None) -> Explanation:
    """Return the plan of an evaluation: kernels, loops, bytes moved, temporaries and why.

    Parameters
    ----------
    destination : XExpression, container or ``noalias(container)``
        With one argument, the expression that ``xl.eval`` would evaluate; with two, where it
        would be assigned by the view rule.
    expression : optional
        What would be assigned.

    Returns
    -------
    Explanation
        Print it, or read its attributes.

    Raises
    ------
    BroadcastError
        If the expression does not broadcast into the destination.

    Examples
    --------
    >>> import xarraylite as xl
    >>> a = xl.ones((4, 4))
    >>> with xl.config(engine="compiled"):
    ...     crossed, straight = xl.explain(a, a + a.T), xl.explain(a, a + 1)
    >>> len(crossed.temporaries), len(straight.temporaries)
    (1, 0)
    """
    if expression is None:
        node = as_node(destination, "explain")
        layout = engine.result_layout(canonical(node, None, False), node)
        target = Target(Buffer.allocate(0), layout, node.dtype)
        name = "a new container"
        if isinstance(layout, TiledMap):
            name = f"{name} with the layout {layout.layout}"
        nbytes = layout.byte_range(node.dtype.itemsize)[1] + 1
        return _explanation(node, target, True, name, nbytes)
    noalias = isinstance(destination, NoAlias)
    container = destination.target if isinstance(destination, NoAlias) else destination
    if not isinstance(container, XContainer):
        raise TypeError("explain: the destination must be a container or noalias(container)")
    node = fit(node_of(expression, container), container)
    target = Target(container.buffer, container.map, container.dtype)
    name = f"noalias({container.summary()})" if noalias else container.summary()
    return _explanation(node, target, noalias, name, 0)


def _explanation(
    node: Node, target: Target, noalias: bool, name: str, result_bytes: int
) -> Explanation:
    what = f"{dtype_name(node.dtype)}{list(node.shape)} into {name}"
    if engine.uses_reference():
        step = "NumPy evaluates every operation on whole arrays (engine='reference')"
        return Explanation(what, (step,), (), 0, result_bytes, ())
    program: Program = engine.program_of(canonical(node, target, noalias), target, noalias)
    kernels = [step for step in program.steps if isinstance(step, KernelStep)]
    return Explanation(
        what,
        tuple([step.note for step in program.steps]),
        tuple([Temporary(t.nbytes, t.reason) for t in program.temporaries]),
        sum(step.traffic for step in kernels),
        result_bytes,
        tuple([step.kernel.source for step in kernels]),
    )
