"""The state graph of a check as it is drawn: nodes with what is true there, edges with steps."""

from __future__ import annotations

from msgspec import Struct

from checker.extensions.views import html_of


class StateNode(Struct, frozen=True):
    """A state, or ``states`` of them that agree in what is observed.  ``facts``: what is observed
    there; ``more``: further values of a single state; ``end``: a run may stay in one of them
    forever; ``violates``: the properties that are false in one of them, or in a run that stays in
    it, or the code of the error with which a run ends here."""

    facts: tuple[str, ...]
    more: tuple[str, ...] = ()
    states: int = 1
    initial: bool = False
    end: bool = False
    violates: tuple[str, ...] = ()


class StateEdge(Struct, frozen=True):
    """Nodes by number, and the steps from one to the other as sentences, each of them once."""

    source: int
    target: int
    steps: tuple[str, ...]


class StateGraph(Struct, frozen=True):
    """Nodes are numbered in the order of a breadth-first search.  ``file``: its name, and that of
    its folder; ``observed``: the names of what tells nodes apart where they stand for several
    states, else nothing; ``unmarked``: the properties of which no violation can be seen in a
    node."""

    file: str
    check: str
    nodes: tuple[StateNode, ...]
    edges: tuple[StateEdge, ...]
    states: int
    steps: int
    observed: tuple[str, ...] = ()
    unmarked: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """Returns what notebooks show: its picture."""
        return html_of("state graph", self)
