"""The capabilities of each engine: one table, which the pipeline uses to refuse requests before any
work is done, and the report to describe limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from checker.diagnostics import Diagnostic, SpecError

ENGINES = ("reference", "native", "spark", "symbolic")


class Feature(Enum):
    """A feature that a user may request of an engine; the value names it in words."""

    SAFETY = "what must hold in every state, with a shortest run to where it does not"
    STEADY = "what must come true again and again (`eventually`, `~>` over growing histories)"
    FOLLOWED = "any other formula about whole runs: it is followed from where runs start"
    LARGE = "integers of more than 62 bits, any number of propositions and of nested choices"
    FINE_STEPS = "`--fine-steps`"
    COVERAGE = "`coverage`: handlers, branches and crash points that were reached"
    LIMITS = "`--max-states`, `--max-depth`, `--timeout`"
    MEMORY = "`--memory`"
    THREADS = "`--threads`"
    RUNS = "`--checkpoint`, `--resume`"
    TABLES = "`--states-out`"
    REDUCTIONS = "`--reduce`"
    COMPACT = "`--compact`"


class Can(Enum):
    """Whether an engine supports a feature."""

    YES = "yes"
    PARTLY = "within limits"  # beyond them it reports so, and no wrong answer
    IGNORED = "not observed"  # the answer is the same without it, and the report says so
    NO = "no"  # refused before any work is done


@dataclass(frozen=True)
class Ability:
    """The support of a feature.  ``note``: what the limits are, what is done instead, or why it is
    refused: the text behind the name of the engine; ``code``: of the diagnostic that refuses it.
    """

    can: Can
    note: str = ""
    code: str = "E007"


_YES = Ability(Can.YES)
_REGISTERS = Ability(
    Can.PARTLY, "refuses what does not fit its registers, and leaves what it can't decide unknown"
)

_SAFETY_ONLY = Ability(
    Can.PARTLY,
    "leaves it unknown: it answers what must hold in every state, not what must come about",
)

TABLE: dict[Feature, dict[str, Ability]] = {
    Feature.SAFETY: {
        **dict.fromkeys(ENGINES, _YES),
        "symbolic": Ability(
            Can.PARTLY, "looks at runs of up to `--depth` steps (10 where it is not given)"
        ),
    },
    Feature.STEADY: {
        "reference": _YES,
        "native": Ability(Can.PARTLY, "leaves it unknown where the graph of steps has no room"),
        "spark": Ability(
            Can.PARTLY,
            "drops on the executors what can't lie on a cycle, and leaves it unknown where the rest"
            " does not fit the driver",
        ),
        "symbolic": _SAFETY_ONLY,
    },
    Feature.FOLLOWED: {
        "reference": _YES,
        "native": Ability(Can.PARTLY, "leaves it unknown where the graph of steps has no room"),
        "spark": Ability(
            Can.PARTLY, "leaves it unknown where the whole graph of steps does not fit the driver"
        ),
        "symbolic": _SAFETY_ONLY,
    },
    Feature.LARGE: {
        "reference": _YES,
        "native": _REGISTERS,
        "spark": _REGISTERS,
        "symbolic": Ability(
            Can.PARTLY, "refuses sets and bags with too many possible members to give each a bit"
        ),
    },
    Feature.FINE_STEPS: dict.fromkeys(ENGINES, _YES),
    Feature.COVERAGE: {
        **dict.fromkeys(ENGINES, _YES),
        "symbolic": Ability(Can.NO, "sees single runs, and so does not know what is never reached"),
    },
    Feature.LIMITS: {
        **dict.fromkeys(ENGINES, _YES),
        "symbolic": Ability(
            Can.PARTLY, "counts no states: it does not observe `--max-states`, only the others"
        ),
    },
    Feature.MEMORY: {
        "reference": Ability(Can.IGNORED, "does not observe a limit of memory"),
        "native": _YES,
        "spark": Ability(Can.PARTLY, "divides it among the shards, and lets the driver have it"),
        "symbolic": Ability(Can.IGNORED, "does not observe a limit of memory"),
    },
    Feature.THREADS: {
        "reference": Ability(Can.IGNORED, "has one thread"),
        "native": _YES,
        "spark": Ability(Can.IGNORED, "has as many tasks as there are shards (`--shards`)"),
        "symbolic": Ability(Can.IGNORED, "has one thread"),
    },
    Feature.RUNS: {
        "reference": Ability(Can.NO, "keeps no runs", "E016"),
        "native": _YES,
        "spark": _YES,
        "symbolic": Ability(Can.NO, "keeps no runs", "E016"),
    },
    Feature.TABLES: {
        "reference": Ability(Can.NO, "keeps no states to make tables of", "E037"),
        "native": _YES,
        "spark": _YES,
        "symbolic": Ability(Can.NO, "has no states to make tables of", "E037"),
    },
    Feature.REDUCTIONS: {
        "reference": Ability(Can.IGNORED, "explores everything as it is"),
        "native": _YES,
        "spark": _YES,
        "symbolic": Ability(Can.IGNORED, "looks at everything as it is"),
    },
    Feature.COMPACT: {
        "reference": Ability(Can.NO, "has no compact mode: it keeps states as they are"),
        "native": _YES,
        "spark": Ability(Can.NO, "has no compact mode: it keeps the states that its tasks share"),
        "symbolic": Ability(Can.NO, "has no compact mode: it keeps no states at all"),
    },
}
"""The support of each feature by each engine."""


def require(engine: str, feature: Feature) -> None:
    """Raises :class:`SpecError` if ``engine`` lacks the feature; ``auto`` is ``native``."""
    ability = TABLE[feature][_engine_name(engine)]
    if ability.can is Can.NO:
        able = next(e for e in ENGINES[1:] if TABLE[feature][e].can is not Can.NO)
        message = f"the {engine} engine {ability.note}"
        raise SpecError((Diagnostic(ability.code, message, hint=f"`--engine {able}` does"),))


def can(engine: str, feature: Feature) -> bool:
    """Returns whether ``engine`` supports the feature, within limits at least; no unknown one
    does.
    """
    ability = TABLE[feature].get(_engine_name(engine))
    return ability is not None and ability.can in (Can.YES, Can.PARTLY)


def ignored_features(engine: str, wanted: Iterable[Feature]) -> tuple[str, ...]:
    """Returns the report's remarks on features that were requested and are ignored."""
    abilities = [TABLE[feature][_engine_name(engine)] for feature in wanted]
    return tuple(f"the {engine} engine {a.note}" for a in abilities if a.can is Can.IGNORED)


def table() -> list[str]:
    """Returns the table in Markdown, line by line; notes below."""
    lines = [f"| | {' | '.join(ENGINES)} |", f"|---|{'---|' * len(ENGINES)}"]
    notes: list[str] = []
    for feature in Feature:
        cells = []
        for engine in ENGINES:
            ability, mark = TABLE[feature][engine], ""
            if ability.note:
                note = f"The {engine} engine {ability.note}."
                if note not in notes:
                    notes.append(note)
                mark = f" ({notes.index(note) + 1})"
            cells.append(f"{ability.can.value}{mark}")
        lines.append(f"| {feature.value} | {' | '.join(cells)} |")
    return [*lines, "", *(f"{i}. {note}" for i, note in enumerate(notes, 1))]


def _engine_name(engine: str) -> str:
    return "native" if engine == "auto" else engine
