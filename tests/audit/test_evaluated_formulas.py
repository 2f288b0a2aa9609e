"""Formulas that are evaluated over events: against all orders of the events, and against plans."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checker.audit import audit as audit_module
from checker.audit import evaluated, questions
from checker.audit.audit import Audit, Request, audit
from checker.audit.declared import Declared, declared
from checker.audit.processes import Grace
from checker.audit.restrict import Restriction
from checker.records import replace
from tests.audit import brute_force as plain
from tests.audit.logs import words, write
from tests.audit.random_logs import random_run, write_runs
from tests.audit.test_plans import INTERFACES, UNNAMED

PRINTER = """
interface Printer {{
  request print(item: Msg)
  indication display(item: Msg)
  property asked : {formula}
}}
"""

Histories = dict[str, list[str]]
Line = list[tuple[str, str]]
Truth = Callable[[Histories, Histories, set[str]], bool]
"""Whether a formula is true after what is printed and displayed, with these processes down."""


def _order(of: list[str], a: str, b: str) -> bool:
    return a in of and b in of and of.index(a) < of.index(b) and a != b


ALWAYS: dict[str, Truth] = {
    "forall p in Proc: #displayed(p) <= 1": lambda p, d, c: all(len(x) <= 1 for x in d.values()),
    "forall p in Proc, x in displayed(p): x in printed(p)": lambda p, d, c: all(
        x in p[q] for q in d for x in d[q]
    ),
    "forall p in Proc, x in displayed(p): not (forall q in Proc: x not in printed(q))": (
        lambda p, d, c: all(any(x in p[r] for r in p) for q in d for x in d[q])
    ),
    "forall p, q in Proc, x in displayed(p), y in displayed(q): x == y": lambda p, d, c: (
        len({x for q in d.values() for x in q}) <= 1
    ),
    "forall p in Proc, x, y in displayed(p): x in printed(p) and y in printed(p) or x == y": (
        lambda p, d, c: all(
            (x in p[q] and y in p[q]) or x == y for q in d for x in d[q] for y in d[q]
        )
    ),
    "forall p, q in Proc, x in displayed(p), y in displayed(q):"
    " x == y or exists r in Proc: x in printed(r)": lambda p, d, c: all(
        x == y or any(x in p[s] for s in p) for q in d for r in d for x in d[q] for y in d[r]
    ),
    "forall p in Proc, x in displayed(p): x in printed(p)"
    " or exists q in Proc: q != p and x in displayed(q)": lambda p, d, c: all(
        x in p[q] or any(r != q and x in d[r] for r in d) for q in d for x in d[q]
    ),
    "forall p in Proc: #displayed(p) <= #printed(p)": lambda p, d, c: all(
        len(d[q]) <= len(p[q]) for q in d
    ),
    "forall p, q in Proc: #displayed(p) - #displayed(q) <= 1": lambda p, d, c: all(
        len(d[q]) - len(d[r]) <= 1 for q in d for r in d
    ),
    "forall p, q in Proc: displayed(p) prefix displayed(q) or displayed(q) prefix displayed(p)": (
        lambda p, d, c: all(
            d[q] == d[r][: len(d[q])] or d[r] == d[q][: len(d[r])] for q in d for r in d
        )
    ),
    "forall p, q in Proc, a, b in printed(q): b in displayed(p) => a == b or before(p, a, b)": (
        lambda p, d, c: all(
            a == b or _order(d[q], a, b)
            for q in d
            for r in d
            for a in p[r]
            for b in p[r]
            if b in d[q]
        )
    ),
    "forall p in Proc: crashed(p) => exists q in Proc, x in displayed(q): not repeated(q, x)": (
        lambda p, d, c: not c or any(d[q].count(x) == 1 for q in d for x in d[q])
    ),
    "forall p in Proc, x in printed(p): forall q in Proc: crashed(q) => x in displayed(q)": (
        lambda p, d, c: all(x in d[q] for q in c for r in p for x in p[r])
    ),
}


def orders(lines: dict[str, Line]) -> Iterator[list[tuple[str, str, str]]]:
    """Yields all orders of all events that agree with those of the processes."""
    slots = [name for name, line in lines.items() for _ in line]
    for order in set(itertools.permutations(slots)):
        rest = {name: iter(line) for name, line in lines.items()}
        yield [(name, *next(rest[name])) for name in order]


def some_order_has(lines: dict[str, Line], truth: Truth) -> bool:
    """Tells whether the formula is true in all states of some order of the events."""
    return any(_is_always(order, lines, truth) for order in orders(lines))


def _is_always(order: list[tuple[str, str, str]], lines: dict[str, Line], truth: Truth) -> bool:
    printed: Histories = {name: [] for name in lines}
    displayed: Histories = {name: [] for name in lines}
    down: set[str] = set()
    if not truth(printed, displayed, down):
        return False
    for name, kind, item in order:
        match kind:
            case "print":
                printed[name].append(item)
            case "display":
                displayed[name].append(item)
            case "crash":
                down.add(name)
            case "recover":
                down.discard(name)
        if not truth(printed, displayed, down):
            return False
    return True


def random_lines(draw: random.Random) -> dict[str, Line]:
    """Returns the events of two or three processes, seven at most."""
    lines: dict[str, Line] = {f"p{n}": [] for n in range(1, draw.choice((2, 2, 3)) + 1)}
    prints, items = draw.choice((0.3, 0.5, 0.8)), draw.choice(("ab", "ab", "abc"))
    ahead = draw.random() < 0.5
    for at in range(draw.randint(1, 6)):
        is_print = draw.random() < prints or (ahead and at < 3)
        name, kind = draw.choice(list(lines)), "print" if is_print else "display"
        if draw.random() < 0.15:
            kind = draw.choice(("crash", "crash", "recover"))
        lines[name].append((kind, draw.choice(items)))
    return lines


def log_of(runs: list[dict[str, Line]], folder: Path) -> str:
    """Writes the logs of runs into one file, and returns its name."""
    rows = []
    for number, lines in enumerate(runs):
        for name, line in lines.items():
            rows.append({"run": f"r{number}", "process": name, "pos": 0, "kind": "start"})
            for pos, (kind, item) in enumerate(line, start=2):
                said = {"msg": item} if kind in ("print", "display") else {}
                rows.append({**rows[-1], "pos": pos, "kind": kind, **said})
                if not said:
                    rows[-1].pop("msg", None)
    file = folder / "log.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(file)


def printer(folder: Path, formula: str) -> str:
    spec = folder / "printer.bcast"
    spec.write_text(PRINTER.format(formula=formula), encoding="utf-8")
    return f"{spec}::Printer"


def per_run(found: Audit) -> dict[str, str]:
    """Returns the worst that is said of each run."""
    words_: dict[str, list[str]] = {}
    for row in found.violations.to_pylist():
        words_.setdefault(row["run"], []).append(row["verdict"])
    return {run: plain.worst(each) for run, each in words_.items()}


@pytest.mark.parametrize("formula", ALWAYS)
def test_always_is_some_order_of_the_events(formula: str, tmp_path: Path) -> None:
    draw = random.Random(formula)
    runs = [random_lines(draw) for _ in range(60)]
    found = per_run(
        audit(Request((log_of(runs, tmp_path),), printer(tmp_path, "always " + formula)))
    )
    expected = {
        f"r{n}": "violated"
        for n, lines in enumerate(runs)
        if not some_order_has(lines, ALWAYS[formula])
    }
    assert found == expected
    assert 1 < len(expected) < 59  # both answers are given


OTHERWISE = ("causal_order", "global_order", "no_lost_writes", "appends_in_order", "log_agreement")
"""What is not in a formula: causes, what only logs are asked, offsets of acknowledgements."""
EVALUATED = {
    interface: [name for name in names if name not in OTHERWISE]
    for interface, names in INTERFACES.items()
}


@pytest.mark.parametrize("interface", EVALUATED)
def test_plans_and_evaluation_agree(
    interface: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library's own formulas, evaluated as an author's would be."""
    monkeypatch.setattr(questions, "_rules", dict)
    monkeypatch.setattr(audit_module, "declared", _as_own)
    draw = random.Random(interface)
    named, offsets = interface not in UNNAMED, interface == "ReplicatedLog"
    runs = [random_run(draw, named, 0, offsets) for _ in range(80)]
    runs = [run for run in runs if all(process.delivers for process in run.processes)]
    found = audit(
        Request((str(write_runs(runs, tmp_path)),), interface, only=tuple(EVALUATED[interface]))
    )
    said: dict[tuple[str, str], list[str]] = {}
    for row in found.violations.to_pylist():
        said.setdefault((row["property"], row["run"]), []).append(row["verdict"])
    compared = set()
    for number, run in enumerate(runs):
        whole = run.whole and not any(
            e.status == "maybe" for p in run.processes for _, e in p.events
        )
        for name in EVALUATED[interface]:
            expected = INTERFACES[interface][name](run)
            got = plain.worst(said.get((name, f"r{number}"), []))
            if whole and offsets and got == plain.UNKNOWN:
                assert name == "log_validity"  # it may have been requested earlier
            elif whole:
                assert got == expected, (name, number, run)
                compared.add((name, got))
            elif got == plain.VIOLATED:
                assert expected == plain.VIOLATED, (name, number, run)
            elif expected == plain.VIOLATED:
                assert got == plain.UNKNOWN, (name, number, run)
    assert {(name, "violated") for name in EVALUATED[interface]} <= compared


def _as_own(name: str) -> Declared:
    return replace(declared(name), is_own=True)


SAID = [
    (
        "always forall p in Proc: #displayed(p) <= 1",
        "p1 1 display a\np1 2 gap\np1 3 display b",
        "violated",
    ),
    (
        "always forall p in Proc: #displayed(p) <= 1",
        "p1 1 display a\np1 2 gap",
        "holds within what is logged",
    ),
    ("always forall p in Proc: #displayed(p) <= 1", "p1 1 print a", "vacuous"),
    (
        "always forall p in Proc, x in displayed(p): not (x not in printed(p))",
        "p1 1 gap\np1 2 display a",
        "unknown",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m in displayed(p)",
        "p1 1 print a\np1 2 display a",
        "holds",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m in displayed(p)",
        "p1 1 print a",
        "violated",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m in displayed(p)",
        "p1 1 print a\np1 2 gap",
        "unknown",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m in displayed(p)",
        "p1 1 print a maybe\np1 2 display b",
        "unknown",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m in displayed(p)",
        "p1 1 display a",
        "vacuous",
    ),
    (
        "forall p in Proc, m in Msg: m in printed(p) ~> m not in displayed(p)",
        "p1 1 print a\np1 2 display a",
        "violated",
    ),
    (
        "eventually forall p in Proc: #displayed(p) == 1",
        "p1 1 display a\np1 2 display b",
        "unknown",
    ),
    (
        "forall p in Proc: eventually always #displayed(p) == 1",
        "p1 1 display a\np1 2 display b",
        "violated",
    ),
    (
        "forall p in Proc: eventually exists x in displayed(p): true",
        "p1 1 display a\np2 1 print a",
        "violated",
    ),
    (
        "(initially forall p in Proc: #printed(p) == 1)"
        " and (always forall p in Proc: #printed(p) <= 1)",
        "p1 1 print a",
        "violated",
    ),
    (
        "forall p in Proc: correct(p) ~> exists x in displayed(p): true",
        "p1 1 display a\np2 1 print a\np2 2 crash",
        "holds",
    ),
    (
        "always forall p in Proc: faulty(p) => #displayed(p) > 0",
        "p1 1 display a\np2 1 crash",
        "violated",
    ),
    (
        "always forall p in Proc: crashed(p) => #displayed(p) > 0",
        "p1 1 display a\np1 2 crash\np1 3 recover",
        "holds",
    ),
    ("always forall x in displayed(p9): x in printed(p1)", "p1 1 display a", "unknown"),
]


@pytest.mark.parametrize(("formula", "log", "word"), SAID)
def test_verdicts(formula: str, log: str, word: str, tmp_path: Path) -> None:
    found = audit(Request((write(tmp_path, log),), printer(tmp_path, formula)))
    (verdict,) = found.report.verdicts
    assert verdict.label() == word, verdict.reason
    assert (
        found.report.exit_code
        == (
            {
                "holds": 0,
                "holds within what is logged": 3,
                "violated": 1,
                "unknown": 3,
                "vacuous": 4,
            }
        )[word]
    )


@pytest.mark.parametrize(
    ("formula", "why"),
    [
        ("always (forall p in Proc: #printed(p) > 0 => eventually #displayed(p) > 0)", "nests"),
        ("always forall p in Proc: #displayed(p) <= f", "reads `f`"),
    ],
)
def test_what_cant_be_evaluated_is_unknown(formula: str, why: str, tmp_path: Path) -> None:
    found = audit(Request((write(tmp_path, "p1 1 display a"),), printer(tmp_path, formula)))
    (verdict,) = found.report.verdicts
    assert verdict.label() == "unknown" and why in verdict.reason
    assert [each.code for each in found.warnings] == ["E106"]


def test_what_may_still_come_is_pending(tmp_path: Path) -> None:
    formula = "forall p in Proc, m in Msg: m in printed(p) ~> not (m not in displayed(p))"
    spec, log = (
        printer(tmp_path, formula),
        "p1 1 print a\np1 2 display a\np1 3 display b\np1 4 print ",
    )
    for item, word in (("c", "pending"), ("a", "holds")):
        request = Request((write(tmp_path, log + item),), spec, grace=Grace(rows=1))
        assert words(audit(request)) == {"asked": word}
    early = Request((write(tmp_path, "p1 1 print a\np1 2 display b"),), spec, grace=Grace(rows=1))
    assert words(audit(early)) == {"asked": "violated"}


def test_a_sample_says_nothing(tmp_path: Path) -> None:
    spec = printer(tmp_path, "always forall p in Proc: #displayed(p) <= 1")
    log = write(tmp_path, "p1 1 display a\np1 2 display b")
    found = audit(Request((log,), spec, restriction=Restriction(sample=0.5)))
    assert words(found) == {"asked": "unknown"}


def test_a_search_that_is_too_long_is_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    formula = "always forall p, q in Proc: #displayed(p) - #displayed(q) <= 1"
    lines = [f"p{p} {n} display m{n}" for p in (1, 2, 3) for n in range(1, 9)]
    log, spec = write(tmp_path, "\n".join(lines)), printer(tmp_path, formula)
    assert words(audit(Request((log,), spec))) == {"asked": "holds"}
    monkeypatch.setattr(evaluated, "MOST_STATES", 5 - 24)  # it has 24 events
    assert words(audit(Request((log,), spec))) == {"asked": "unknown"}
    monkeypatch.setattr(evaluated, "MOST_EVENTS", 5)
    assert words(audit(Request((log,), spec))) == {"asked": "unknown"}


def test_arguments_have_their_types(tmp_path: Path) -> None:
    spec = tmp_path / "shop.bcast"
    spec.write_text(
        """
interface Shop {
  request order(item: enum { tea, milk }, amount: 0..9)
  indication deliver(buyer: Proc, item: enum { tea, milk }, amount: 0..9)
  property as_ordered : always forall p in Proc, (q, i, k) in delivered(p):
    exists (j, l) in ordered(q): i == j and k <= l
  property little : always forall p in Proc, (i, k) in ordered(p): k < 5
}
""",
        encoding="utf-8",
    )
    rows = [
        {"process": "p1", "pos": 1, "kind": "request", "name": "order", "arguments": ["tea", 5]},
        {
            "process": "p2",
            "pos": 1,
            "kind": "indicate",
            "name": "deliver",
            "arguments": ["p1", "tea", 4],
        },
    ]
    assert _shop(tmp_path, rows) == {"as_ordered": "holds", "little": "violated"}
    rows[1]["arguments"] = ["p1", "milk", 4]
    assert _shop(tmp_path, rows) == {"as_ordered": "violated", "little": "violated"}
    rows[1]["arguments"] = ["p1", "beer", 4]
    assert _shop(tmp_path, rows) == {"as_ordered": "unknown", "little": "violated"}
    rows[0]["arguments"] = ["tea", 12]
    assert _shop(tmp_path, rows) == {"as_ordered": "unknown", "little": "unknown"}


def _shop(folder: Path, rows: list[dict[str, object]]) -> dict[str, str]:
    file = folder / "shop.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return words(audit(Request((str(file),), f"{folder / 'shop.bcast'}::Shop")))


def test_a_property_that_lacks_a_column_is_unknown(tmp_path: Path) -> None:
    spec = tmp_path / "post.bcast"
    spec.write_text(
        "interface Post {\n  request send(to: Proc, m: Msg)\n  indication deliver(m: Msg)\n"
        "  property few : always forall p in Proc: #sent(p) <= 1\n}\n",
        encoding="utf-8",
    )
    name = f"{spec}::Post"
    found = audit(Request((write(tmp_path, "p1 1 request a"),), name))
    assert words(found) == {"few": "unknown"} and found.report.exit_code == 3
    assert "no column `to`" in found.report.verdicts[0].reason
    rows = [{"process": "p1", "pos": n, "kind": "request", "to": "p2", "msg": "a"} for n in (1, 2)]
    file = tmp_path / "to.ndjson"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    assert words(audit(Request((str(file),), name))) == {"few": "violated"}
