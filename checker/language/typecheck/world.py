"""Types the environment of a check: faults, links, timing, failure detector."""

from __future__ import annotations

from dataclasses import dataclass

from checker.lang import ast, ast_items, typed
from checker.lang.check_expr import check
from checker.lang.check_types import INT
from checker.lang.scope import Hole, Home, Scope, suggestion

LINKS = (
    "perfect",
    "fifo",
    "lossy",
    "fair_loss",
    "stubborn",
    "duplicating",
    "persistent",
    "authenticated",
    "bounded",
)
FAULTS = ("crash", "recover", "omission", "byzantine", "partition")
TIMINGS = {"asynchronous": "", "synchronous": "", "partial": "noise", "clocks": "drift"}
"""The timing models, and the word that may follow each."""
CLASSES = ("P", "S", "Omega")
_FAIRNESS = "their fairness contradicts itself"
_CONTRADICT = {
    ("perfect", "lossy"): "",
    ("perfect", "fair_loss"): "what is lost now and then is not delivered at once",
    ("perfect", "stubborn"): "a perfect link delivers once, a stubborn one again and again",
    ("perfect", "duplicating"): "",
    ("perfect", "persistent"): "",
    ("fifo", "persistent"): "",
    ("fifo", "duplicating"): "",
    ("fifo", "stubborn"): "what is delivered again and again has no order",
    ("bounded", "persistent"): "what stays for ever fills the link",
    ("bounded", "stubborn"): "what stays for ever fills the link",
    ("fair_loss", "lossy"): f"{_FAIRNESS}: one promises that something arrives, the other nothing",
    ("stubborn", "lossy"): f"{_FAIRNESS}: one delivers for ever, the other promises nothing",
    ("stubborn", "fair_loss"): f"{_FAIRNESS}: a stubborn link loses nothing",
    ("stubborn", "persistent"): f"{_FAIRNESS}: both keep messages, and only one promises delivery",
    ("fair_loss", "persistent"): "what stays in the link for ever can't be lost",
}


@dataclass(frozen=True, slots=True)
class Faults:
    """The bounds of a check's faults, whether crashed processes may recover, and whether the
    network may partition (``partition``: how often, ``None``: any number of times)."""

    crash: typed.Expr | None = None
    recover: bool = False
    omission: typed.Expr | None = None
    byzantine: typed.Expr | None = None
    partition: typed.Expr | None = None
    splits: bool = False


# ---- faults -----------------------------------------------------------------------------------


def faults_of(items: list[ast_items.Fault], home: Home) -> Faults:
    """Types ``faults crash <= 1, recover``; errors go to the report of ``home``."""
    bounds: dict[str, typed.Expr | None] = {}
    recover: ast_items.Fault | None = None
    for item in items:
        kind = item.kind.text
        if kind not in FAULTS:
            hint = suggestion(kind, FAULTS)
            home.report.add("C004", f"no kind of fault `{kind}`", item.kind.span, hint=hint)
        elif kind in bounds or (kind == "recover" and recover):
            home.report.add("C009", f"`{kind}` is there twice", item.span)
        elif kind == "recover":
            recover = item
            if item.bound is not None:
                message = "the crashes have a bound, not the recoveries"
                home.report.add("C010", message, item.span, "`recover`")
        elif kind == "partition" and item.bound is None:
            bounds[kind] = None
        else:
            bounds[kind] = _bound(item, home)
    if recover is not None and "crash" not in bounds:
        message = "nobody crashes here, so nobody can recover"
        home.report.add("C012", message, recover.span, hint="write `crash <= 2, recover`")
    return Faults(
        bounds.get("crash"),
        recover is not None,
        bounds.get("omission"),
        bounds.get("byzantine"),
        bounds.get("partition"),
        "partition" in bounds,
    )


def _bound(item: ast_items.Fault, home: Home) -> typed.Expr | None:
    kind = item.kind.text
    if item.bound is None:
        message = "how many may crash?" if kind == "crash" else "how many may be so?"
        home.report.add("C010", message, item.span, f"`{kind} <= 1`")
        return None
    return _number(item.bound, home)


def _number(expr: ast.Expr, home: Home) -> typed.Expr | None:
    try:
        return check(expr, Scope(home, "constant"), INT)
    except Hole:
        return None


# ---- links ------------------------------------------------------------------------------------


def links_of(items: list[ast_items.Link], home: Home) -> tuple[tuple[str, ...], int | None]:
    """Returns the kinds of links, ``perfect`` where none is given, and the capacity of
    ``bounded``."""
    report = home.report
    kinds: list[str] = []
    capacity: int | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind not in LINKS:
            hint = suggestion(kind, LINKS)
            report.add("C004", f"no kind of link `{kind}`", span, hint=hint)
        elif kind in kinds:
            report.add("C009", f"`{kind}` is there twice", span)
        elif (kind == "bounded") != (item.capacity is not None):
            message = "how many messages fit?" if kind == "bounded" else "only `bounded` has a size"
            report.add("C010", message, item.span, "`bounded 2`")
        elif item.capacity == 0:
            report.add("C010", "a link that holds nothing carries nothing", item.span)
        else:
            for (one, other), reason in _CONTRADICT.items():
                if kind in (one, other) and (one if kind == other else other) in kinds:
                    there = one if kind == other else other
                    message = f"links can't be both {there} and {kind}"
                    report.add("C003", message, span, hint=reason)
            kinds.append(kind)
            capacity = item.capacity if kind == "bounded" else capacity
    return tuple(kinds) or ("perfect",), capacity


def rules_of(items: list[ast_items.LinkRule], home: Home) -> tuple[typed.LinkRule, ...]:
    """Types ``links client -> server lossy``: links of another kind than the others."""
    made: dict[tuple[str, str], typed.LinkRule] = {}
    for item in items:
        ends = item.sender.text, item.receiver.text
        wrong = False
        for end in (item.sender, item.receiver):
            if not end.text or end.text not in home.roles:
                wrong = True
                hint = suggestion(end.text, [r for r in home.roles if r])
                hint = hint or "this protocol has no roles; say `links …` for all links"
                home.report.add("C005", f"no role is called `{end.text}`", end.span, hint=hint)
        if ends in made:
            message = f"the links from `{ends[0]}` to `{ends[1]}` are described twice"
            home.report.add("C009", message, item.span)
        kinds, capacity = links_of(list(item.kinds), home)
        if not wrong:
            made.setdefault(ends, typed.LinkRule(*ends, kinds, capacity, item.span))
    return tuple(made.values())


# ---- timing -----------------------------------------------------------------------------------


def timing_of(items: list[ast_items.Timing], home: Home) -> typed.Timing | None:
    """Types ``timing partial noise 2``."""
    made: typed.Timing | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind not in TIMINGS:
            hint = suggestion(kind, TIMINGS)
            home.report.add("C004", f"no timing `{kind}`", span, hint=hint)
            continue
        if made is not None:
            home.report.add("C009", "the timing is given twice", item.span)
            continue
        word = TIMINGS[kind]
        if item.word and item.word != word:
            wanted = f"`{kind} {word} 2`" if word else f"`{kind}`"
            message = f"`{kind}` has no `{item.word}`"
            home.report.add("C010", message, item.span, wanted)
        elif kind == "clocks" and item.value is None:
            message = "by how many ticks may two clocks differ?"
            home.report.add("C010", message, item.span, "`clocks drift 1`")
        value = None if item.value is None else _number(item.value, home)
        drift = value if kind == "clocks" else None
        noise = value if kind == "partial" else None
        made = typed.Timing(kind, drift, noise, item.span)
    return made


# ---- detectors --------------------------------------------------------------------------------


def detector_of(items: list[ast_items.Detector], home: Home) -> typed.Detector | None:
    """Types ``detector eventually S noise 2``."""
    made: typed.Detector | None = None
    for item in items:
        kind, span = item.kind.text, item.kind.span
        if kind not in CLASSES:
            hint = suggestion(kind, [*CLASSES, *(f"eventually {c}" for c in ("P", "S"))])
            home.report.add("C004", f"no class of detectors `{kind}`", span, hint=hint)
            continue
        if made is not None:
            home.report.add("C009", "the detector is given twice", item.span)
            continue
        later = item.eventually or kind == "Omega"
        noise = None if item.noise is None else _number(item.noise, home)
        if noise is not None and not later:
            message = f"`{kind}` does not settle, so nothing comes before that"
            home.report.add("C010", message, item.span, f"`eventually {kind} noise 2`")
        made = typed.Detector(kind, later, noise, item.span)
    return made
