"""The JSON objects of records, as far as they are not one key for each field, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

from msgspec import Struct, field

from checker.results.answer import Reduced, Restart, Weight
from checker.results.conformance import FORMAT as CONFORMANCE_FORMAT
from checker.results.conformance import Conformance
from checker.results.conformance_lines import Obstacle
from checker.results.events import Event, Lost, Recovered
from checker.results.fillings import FORMAT as FILLINGS_FORMAT
from checker.results.fillings import Fillings
from checker.results.frontier import FORMAT as FRONTIER_FORMAT
from checker.results.frontier import Frontier, FrontierCell, PropertyFrontier
from checker.results.judgement import FORMAT as JUDGEMENT_FORMAT
from checker.results.judgement import Judgement
from checker.results.logs import LogSummary
from checker.results.mutation import FORMAT as MUTATION_FORMAT
from checker.results.mutation import Mutation
from checker.results.proof import Proof
from checker.results.trace import FORMAT, Step, StillOpen, Trace
from checker.results.valence import FORMAT as VALENCE_FORMAT
from checker.results.valence import Start, Valence
from checker.results.verdict import PropertyVerdict, Report
from checker.results.walks import WalkSummary
from checker.results.weakest_worlds import FORMAT as ASSUMPTIONS_FORMAT
from checker.results.weakest_worlds import Needed, PropertyWorlds, WeakestWorlds
from checker.results.windows import HandlerScore, WindowScore
from checker.words.events import sentence
from checker.words.steps import headline

REPORT_FORMAT = 6
"""Version of the report on a check; 6 has the origins of properties, and warnings."""
DOCUMENT_FORMAT = 6
"""Version of the document of reports; in 5 it was one report, or a list of several."""

CONFORMANCE_KIND = "bivalence conformance"
VALENCE_KIND = "bivalence valence"
JUDGEMENT_KIND = "bivalence judgement"
MUTATION_KIND = "bivalence mutation"
ASSUMPTIONS_KIND = "bivalence assumptions"
FRONTIER_KIND = "bivalence frontier"
FILLINGS_KIND = "bivalence fillings"
KIND = "bivalence trace"
REPORT_KIND = "bivalence report"

PAIR = ("name", "value")
"""The keys of a pair in a tuple of pairs, where a form names no others."""


class Form(Struct, frozen=True):
    """The differences between a record and its JSON object.

    ``constants`` are keys that precede all others, with their values.  ``first``: fields that
    precede the other ones.  ``inlined``: a field whose record has no object of its own, its keys
    stand in its place.  ``keys``: the keys of fields that have other names in the object.
    ``items``: the keys of tuples in a field that is a tuple of tuples.  ``digits``: how many
    decimal places floats are rounded to.  ``optional``: fields that are left out where another
    field (or they themselves) is empty; where they are missing they have their defaults.
    ``derived``: properties that are written after the fields, and not read; ``texts``: sentences
    that are written for readers, and ignored when a document is read.  ``sealed``: the object
    ends with ``digest``, the SHA-256 of the rest.
    """

    constants: Mapping[str, str | int] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    inlined: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    digits: Mapping[str, int] = field(default_factory=dict)
    optional: Mapping[str, str] = field(default_factory=dict)
    derived: tuple[str, ...] = ()
    texts: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    sealed: bool = False


FORMS: Mapping[type, Form] = {
    Trace: Form(
        constants={"format": FORMAT, "kind": KIND},
        inlined="header",
        keys={"property_name": "property", "word": "verdict"},
        items={"variables": ("name", "kind")},
        optional={
            "operations": "operations",
            "still_open": "still_open",
            "origin": "origin",
            "reads": "reads",
        },
        sealed=True,
    ),
    Step: Form(texts={"headline": headline}),
    **dict.fromkeys(get_args(Event), Form(texts={"sentence": sentence})),
    Lost: Form(texts={"sentence": sentence}, optional={"down": "down"}),
    Recovered: Form(texts={"sentence": sentence}, optional={"lost": "lost"}),
    Report: Form(
        constants={"format": REPORT_FORMAT, "kind": REPORT_KIND},
        digits={"seconds": 6, "liveness_seconds": 6, "bytes_per_state": 3, "bytes_per_edge": 3},
        optional={"log": "log"},
        derived=("exit_code",),
    ),
    Valence: Form(
        constants={"format": VALENCE_FORMAT, "kind": VALENCE_KIND},
        digits={"seconds": 6, "graph_seconds": 6, "word_seconds": 6},
        derived=("exit_code",),
    ),
    Conformance: Form(
        constants={"format": CONFORMANCE_FORMAT, "kind": CONFORMANCE_KIND},
        keys={"word": "verdict"},
        digits={"seconds": 6},
        derived=("lines", "explained", "exit_code"),
        optional={"windows": "windows", "proposals": "proposals"},
    ),
    WindowScore: Form(derived=("exit_code",), optional={"unseen": "unseen"}),
    HandlerScore: Form(derived=("red",)),
    Judgement: Form(
        constants={"format": JUDGEMENT_FORMAT, "kind": JUDGEMENT_KIND},
        keys={"word": "verdict", "format": "notation"},
        digits={"seconds": 6},
        derived=("exit_code",),
    ),
    Mutation: Form(
        constants={"format": MUTATION_FORMAT, "kind": MUTATION_KIND},
        digits={"seconds": 3, "score": 4},
        derived=(
            "score",
            "unguarded",
            "kills",
            "sufficient",
            "unneeded",
            "promised",
            "undistinguished",
        ),
    ),
    Fillings: Form(
        constants={"format": FILLINGS_FORMAT, "kind": FILLINGS_KIND},
        digits={"seconds": 3},
        derived=("is_decided", "free", "determined"),
    ),
    WeakestWorlds: Form(
        constants={"format": ASSUMPTIONS_FORMAT, "kind": ASSUMPTIONS_KIND},
        items={"assumed": ("axis", "words"), "never_asked": ("what", "why")},
        digits={"seconds": 3},
        derived=("is_decided", "contradicts"),
    ),
    PropertyWorlds: Form(
        items={"unneeded": ("axis", "words"), "contradictions": ("fails", "holds")}
    ),
    Needed: Form(derived=("is_shown",), optional={"trace": "trace"}),
    Frontier: Form(
        constants={"format": FRONTIER_FORMAT, "kind": FRONTIER_KIND},
        items={"axes": ("axis", "values")},
        digits={"seconds": 3},
        derived=("is_decided",),
    ),
    PropertyFrontier: Form(items={"contradictions": ("fails", "holds")}),
    FrontierCell: Form(optional={"trace": "trace"}),
    Obstacle: Form(derived=("reasons",)),
    StillOpen: Form(optional={"perhaps_more": "perhaps_more"}),
    Start: Form(items={"inputs": ("process", "value")}),
    PropertyVerdict: Form(
        first=("property", "word", "expected", "reason"),
        keys={"word": "verdict", "counted": "run"},
        digits={"seconds": 6},
        optional={
            "rests_on": "rests_on",
            "trace": "trace",
            "others": "of_others",
            "of_others": "of_others",
            "counted": "counted",
            "chance": "chance",
            "origin": "origin",
        },
    ),
    Reduced: Form(items={"unused": ("kind", "why")}),
    Restart: Form(items={"grown": ("capacity", "was", "now")}),
    Proof: Form(derived=("tight",), digits={"seconds": 6}),
    LogSummary: Form(items={"kinds": ("kind", "rows")}),
    WalkSummary: Form(items={"taken": ("action", "times"), "faults": ("kind", "times")}),
    Weight: Form(digits={"factor": 2}),
}
"""The forms of records that have one; those of all others are plain."""

PLAIN = Form()
