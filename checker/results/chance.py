"""The answer to a probability query: a probability or an expected number of steps, and the
adversary that attains it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from checker.results.domains import Amount, Natural, OneOf

RESTS = "nothing more happens"
"""The text for an execution that stays in its last state."""
ENDS = ("", "reached", "never", "more")


class ChanceBranch(Struct, frozen=True):
    """An outcome of a random choice: its ``probability``, what it changes, and the number of the
    visit that follows."""

    probability: str
    shows: str
    then: Natural


class Visit(Struct, frozen=True):
    """A state in a tree of runs, with the steps that the adversary chooses from there on.

    ``steps``: in order, up to and including the first with a random choice;
    ``branches``: where that leads.  ``ends``: why nothing follows: the goal is ``reached``, it is
    ``never`` reached from here, or there is ``more`` that is not shown.  ``again``: what then
    happens forever, in turn; where it is empty, and nothing follows, it need not matter.
    """

    steps: tuple[str, ...]
    branches: tuple[ChanceBranch, ...] = ()
    ends: Annotated[str, OneOf(ENDS)] = ""
    again: tuple[str, ...] = ()


class Rule(Struct, frozen=True):
    """Where variables have certain values (``when``: names with conditions such as ``<= 3``) a
    strategy lets ``step`` happen; ``states``: in how many of those in which it has a choice that no
    rule found before it tells of.
    """

    when: tuple[tuple[str, str], ...]
    step: str
    states: Natural


class Adversary(Struct, frozen=True):
    """A strategy that attains the value, and the tree of its runs.

    ``rules``: what it chooses where there are others; each is true of all states that the strategy
    leads to.  ``states``: how many states that are; ``free``: in how many it has a choice, and
    ``told``: of how many of those the rules say which; ``tree``: visits, the first at the start.
    """

    kind: Literal["worst", "best"]
    states: Natural
    free: Natural
    told: Natural
    rules: tuple[Rule, ...]
    tree: tuple[Visit, ...]


class Chance(Struct, frozen=True):
    """The value that a question is about.

    ``lower`` and ``upper``: decimal fractions that bound it with certainty; ``exact``: a
    fraction, where it is known exactly; ``digits``: as much of it as is certain.  ``extreme``: the
    ``smallest`` or the ``largest`` of what admissible adversaries attain.  ``endless``: why an
    expected value is infinite: the states, in words, in which the adversary can stay, ``forever``
    or as long as it likes.
    """

    lower: str
    upper: str
    digits: str
    extreme: Annotated[str, OneOf(("smallest", "largest"))]
    exact: str = ""
    states: Natural = 0
    choices: Natural = 0
    branches: Natural = 0
    seconds: Amount = 0.0
    endless: tuple[str, ...] = ()
    forever: bool = False
    adversary: Adversary | None = None
