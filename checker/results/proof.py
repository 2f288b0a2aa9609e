"""Records of a report on proofs: what they are about, what they depend on, what they took."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from checker.results.domains import Amount, Natural, Positive


class AutomatonSize(Struct, frozen=True):
    """The size of a threshold automaton; ``guards``: different ones, as conditions."""

    locations: Natural
    rules: Natural
    guards: Natural


class CountedStep(Struct, frozen=True):
    """``times`` processes go from the location ``source`` to ``target``, one after the other, by
    ``rule`` in ``line`` of the file."""

    times: Positive
    source: str
    target: str
    rule: str
    line: Positive


class CountedRun(Struct, frozen=True):
    """A run of a threshold automaton, with numbers of processes instead of processes.

    ``sizes``: the numbers of parameters; ``begin``: how many processes begin in each location that
    is not empty; ``steps``: what they do, in order.
    """

    sizes: Mapping[str, Natural]
    begin: Mapping[str, Positive]
    steps: tuple[CountedStep, ...]


class Weakened(Struct, frozen=True):
    """The outcome for the properties where less is assumed of the sizes.

    ``condition``: what is assumed then, as shown.  ``property``: one that fails then, and
    ``numbers``: sizes for which it does; empty where all are still proved, or where ``reason`` says
    why it is not known.
    """

    condition: str
    property: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)
    reason: str = ""


class Proof(Struct, frozen=True):
    """The part of a report beside the verdicts that were proved, or were to be.

    ``scope``: what they are about, such as ``every n, T, f with n > 3 * T and f <= T``; empty: the
    finite system of the check.  ``methods``: what was tried, in words.  ``sufficient``: whether
    ``condition`` is sufficient for all properties (``None``: not known); ``weakened``: whether less
    is.  ``proposals``: conditions and thresholds that were found to be sufficient, in words.
    ``queries`` and ``seconds``: of everything.
    """

    scope: str = ""
    methods: tuple[str, ...] = ()
    automaton: AutomatonSize | None = None
    condition: str = ""
    sufficient: bool | None = None
    weakened: tuple[Weakened, ...] = ()
    proposals: tuple[str, ...] = ()
    queries: Natural = 0
    seconds: Amount = 0.0

    @property
    def tight(self) -> bool:
        """Whether the condition is sufficient, and nothing weaker that was tried is."""
        needed = all(weaker.property for weaker in self.weakened)
        return self.sufficient is True and bool(self.weakened) and needed
