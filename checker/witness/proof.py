"""What a report says of proofs: what they are about, what they rest on, what they took."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AutomatonSize:
    """How large a threshold automaton is; ``guards``: different ones, as conditions."""

    locations: int
    rules: int
    guards: int


@dataclass(frozen=True, slots=True)
class Weakened:
    """What becomes of the properties where less is assumed of the sizes.

    ``condition``: what is assumed then, as shown.  ``property``: one that fails then, and
    ``numbers``: sizes for which it does; empty where all are still proved, or where ``reason``
    says why it is not known.
    """

    condition: str
    property: str = ""
    numbers: tuple[tuple[str, int], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """Beside the verdicts of a report that were proved, or were to be.

    ``scope``: what they are about, such as ``every n, T, f with n > 3 * T and f <= T``; empty: the
    finite system of the check.  ``methods``: what was tried, in words.  ``sufficient``: whether
    ``condition`` is enough for all properties (``None``: not known); ``weakened``: whether less is.
    ``proposals``: conditions and thresholds that were found to be enough, in words.  ``queries``
    and ``seconds``: of everything.
    """

    scope: str = ""
    methods: tuple[str, ...] = ()
    automaton: AutomatonSize | None = None
    condition: str = ""
    sufficient: bool | None = None
    weakened: tuple[Weakened, ...] = ()
    proposals: tuple[str, ...] = ()
    queries: int = 0
    seconds: float = 0.0

    @property
    def tight(self) -> bool:
        """Whether the condition is enough, and nothing weaker that was tried is."""
        needed = all(weaker.property for weaker in self.weakened)
        return self.sufficient is True and bool(self.weakened) and needed
