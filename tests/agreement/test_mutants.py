"""Mutants of the library: every way of exploring says the same of them.

A specification that is wrong goes where a right one does not, and so do the engines.  A sample of
mutants is drawn by default; for all of them, with figures of what was compared:
``BIVALENCE_LONG=1 pytest tests/agreement/test_mutants.py -s``.
"""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from checker.engines.options import Options
from checker.language.load import load_text
from checker.language.mutation.mutants import Mutant, checks_of, mutants
from checker.resources import specs
from checker.results.answer import Limits
from checker.results.verdict import Word
from tests.agreement.modes import Said, compared, contradictions, missed, said
from tests.finite_checks import finite_checks
from tests.selection import first_by_default

LONG = bool(os.environ.get("BIVALENCE_LONG"))
STATES = 30_000 if LONG else 1_000
FEW = 1_000 if LONG else 150
"""Of systems of so many states also the slow engines are asked."""

LARGE = ("registers", "replication")
"""Folders of specs that have too many states for a sample to tell much."""
FOLDERS = sorted({path.parent for path in specs().rglob("*.bcast")} - {specs() / "interfaces"})
KINDS = {
    "no send", "no call", "no perform", "no handler", "no guard", "no conjunct", "weaker",
    "volatile", "swapped", "first", "last", "no statement", "stricter", "negated", "and, or",
    "one off", "not atomic",
}  # fmt: skip


@cache
def small_checks(path: Path) -> set[str]:
    """The checks of a spec that have few states, even where all of them are explored."""
    manifest = json.loads((specs() / "manifest.json").read_text(encoding="utf-8"))
    known = manifest["files"].get(path.relative_to(specs()).as_posix(), {"checks": {}})
    return {name for name, one in known["checks"].items() if 0 < (one["states"] or 0) <= STATES / 5}


@cache
def mutants_with_checks(path: Path) -> tuple[tuple[Mutant, str], ...]:
    """Each mutant of a spec with one of the checks that may depend on it, drawn among those whose
    original is small, if any is."""
    draw = random.Random(f"2011 {path.stem}")
    finite = finite_checks(path.read_text(encoding="utf-8"))
    small = small_checks(path)
    found = []
    for mutant in mutants(path):
        checks = [name for name in checks_of(path, mutant.protocol) if name in finite]
        if checks:
            found.append((mutant, draw.choice([c for c in checks if c in small] or checks)))
    return tuple(found)


def sample(count: int) -> list[tuple[Mutant, str]]:
    """``count`` mutants, of all kinds in turn, of as many specs."""
    small = [path for path in sorted(specs().rglob("*.bcast")) if path.parent.name not in LARGE]
    random.Random(1985).shuffle(small)
    chosen: list[tuple[Mutant, str]] = []
    while len(chosen) < count:
        kind = sorted(KINDS)[len(chosen) % len(KINDS)]
        left = [path for path in small if path not in {mutant.path for mutant, _ in chosen}]

        def of_this_kind(left: list[Path] = left, kind: str = kind) -> Iterator[tuple[Mutant, str]]:
            for path in left:
                yield from (pair for pair in mutants_with_checks(path) if pair[0].kind == kind)

        fitting = (pair for pair in of_this_kind() if pair[1] in small_checks(pair[0].path))
        chosen.append(next(itertools.chain(fitting, of_this_kind())))
    return chosen


class Figures:
    """What was compared: mutants by kind, modes by what became of them."""

    def __init__(self) -> None:
        self.mutants = self.changed = self.refused = self.undecided = 0
        self.kinds: Counter[str] = Counter()
        self.agreed: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.contradictions: list[str] = []

    def compare(self, mutant: Mutant, check: str, folder: Path) -> None:
        """Compares all modes on ``mutant``, which is written into ``folder``."""
        path = folder / f"mutant{self.mutants}.bcast"
        path.write_text(mutant.text, encoding="utf-8")
        self.mutants += 1
        self.kinds[mutant.kind] += 1
        found = compared(path, check, STATES, FEW)
        self.refused += bool(found.plain.diagnostics)
        self.undecided += not (found.plain.decided or found.plain.diagnostics)
        self.changed += found.plain.decided and self._differs(mutant, check, found.plain)
        self.agreed.update(found.agreed)
        self.skipped.update(found.skipped)
        if found.contradictions:
            self.contradictions.append(f"{mutant} ({check}): {'; '.join(found.contradictions)}")

    def _differs(self, mutant: Mutant, check: str, plain: Said) -> bool:
        original = _expected(mutant.path, check)
        return any(plain.words.get(name, word) != word for name, word in original.items())

    def __str__(self) -> str:
        return (
            f"{self.mutants} mutants {dict(self.kinds)}; {self.refused} refused, "
            f"{self.undecided} undecided, {self.changed} with another verdict than expected; "
            f"agreed {dict(self.agreed)}, skipped {dict(self.skipped)}; "
            f"{len(self.contradictions)} contradictions"
        )


@cache
def _expected(path: Path, check: str) -> dict[str, str]:
    """The verdicts that the spec expects of its check."""
    module = load_text(path.read_text(encoding="utf-8"), path)
    found = next(c for c in module.checks if c.name == check)
    return {e.what: e.value for e in found.expect if isinstance(e.value, str)}


@pytest.mark.skipif(LONG, reason="all of them are compared")
@pytest.mark.parametrize("count", first_by_default([6, 16], 1))
def test_a_sample_of_mutants(count: int, tmp_path: Path) -> None:
    figures = Figures()
    for mutant, check in sample(count):
        figures.compare(mutant, check, tmp_path)
    assert not figures.contradictions, "\n".join(figures.contradictions)
    assert figures.kinds.keys() == set(sorted(KINDS)[:count])
    assert figures.changed, "no mutant shows"
    assert 2 * figures.undecided < figures.mutants, figures
    for mode, share in {"reduced": 2, "fine steps": 2, "reference": 7, "symbolic": 7}.items():
        assert figures.agreed[mode] >= count // share, figures


@pytest.mark.skipif(not LONG, reason="a sample is compared")
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f.name)
def test_all_mutants(folder: Path, tmp_path: Path) -> None:
    figures = Figures()
    for path in sorted(folder.glob("*.bcast")):
        for mutant, check in mutants_with_checks(path):
            figures.compare(mutant, check, tmp_path)
    print(f"\n{folder.name}: {figures}")
    assert not figures.contradictions, "\n".join(figures.contradictions)
    assert 2 * figures.undecided < figures.mutants, figures


@pytest.mark.parametrize("mode", first_by_default(["auto", "por", "symmetry", "none"], 1))
def test_an_error_that_a_missing_guard_admits(mode: str, tmp_path: Path) -> None:
    """Zab without the guard of its last handler: a server commits more than it has."""
    zab = specs() / "replication" / "zab.bcast"
    (mutant,) = (
        m for m in mutants(zab) if m.what.endswith("k <= #history`") and m.kind == "no guard"
    )
    path = tmp_path / "zab.bcast"
    path.write_text(mutant.text, encoding="utf-8")
    answer = said(path, "two_transactions", Options(reduce=mode, threads=1))
    assert {*answer.words.values()} == {Word.ERROR}


# ---- the mutants and the comparison themselves --------------------------------------------------

SPEC = """
protocol Log implements ReliableBroadcast {
  message DATA(m: Msg)
  stable state log : set<Msg> = {}
  upon request broadcast(m) {
    log += m   // before anybody hears of it
    send DATA(m) to all
  }
  upon receive DATA(m) from p when m not in log {
    if #log >= n div 2 + 1 and p != self { deliver(p, m) }
    log += m
  }
}
check c of Log { clients { p1 broadcasts a }  prove no_creation }
"""


def test_each_change_is_one_and_is_said(tmp_path: Path) -> None:
    path = tmp_path / "log.bcast"
    path.write_text(SPEC, encoding="utf-8")
    texts = {(m.kind, m.what): m.text for m in mutants(path)}
    parts = {
        ("volatile", "line 4: not stable: `stable state log : set<Msg> = {}`"): (
            "stable state log",
            " state log",
        ),
        ("swapped", "line 6: `send DATA(m) to all` before `log += m`"): (
            "log += m   // before anybody hears of it\n    send DATA(m) to all",
            "send DATA(m) to all   // before anybody hears of it\n    log += m",
        ),
        ("no guard", "line 9: without the guard `m not in log`"): ("m not in log", "true"),
        ("no conjunct", "line 10: without `p != self`"): ("p != self", "true"),
        ("weaker", "line 10: one less: `#log >= n div 2 + 1`"): ("2 + 1 and", "2 + 1 - 1 and"),
        ("weaker", "line 10: one less: `n div 2 + 1`"): ("2 + 1 and", "2 + 0 and"),
        ("no call", "line 10: without `deliver(p, m)`"): ("deliver(p, m)", "skip"),
        ("no statement", "line 6: without `log += m`"): (
            "log += m   // before",
            "skip   // before",
        ),
        ("stricter", "line 10: `>` in `#log >= n div 2 + 1`"): ("log >= n", "log > n"),
        ("negated", "line 10: `==` in `p != self`"): ("p != self", "p == self"),
        ("and, or", "line 10: `or` in `#log >= n div 2 + 1 and p != self`"): ("1 and p", "1 or p"),
        ("one off", "line 10: 3 for 2, column 22"): ("div 2", "div 3"),
        ("last", "line 10: `deliver(p, m)` last in `upon receive DATA(m) from p`"): (
            "{ deliver(p, m) }\n    log += m",
            "{ skip }\n    log += m  deliver(p, m)",
        ),
        ("first", "line 7: `send DATA(m) to all` first in `upon request broadcast(m)`"): (
            "log += m   // before anybody hears of it\n    send DATA(m) to all",
            "send DATA(m) to all  log += m   // before anybody hears of it\n    skip",
        ),
    }
    for key, (old, new) in parts.items():
        assert texts[key] == SPEC.replace(old, new, 1), key
    assert {kind for kind, _ in texts} == KINDS - {"no perform", "not atomic"}
    assert len(set(texts.values())) == len(texts)
    for text in texts.values():
        load_text(text, path)


def test_what_a_mutant_leaves_to_its_spec() -> None:
    path = specs() / "broadcast" / "eager_reliable.bcast"
    for mutant in mutants(path):
        assert "scenario" not in mutant.text
        assert mutant.text.count("expect ") == path.read_text(encoding="utf-8").count("expect ")


def test_contradictions_are_seen(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.bcast", tmp_path / "wrong.bcast"
    right.write_text(SPEC, encoding="utf-8")
    created = SPEC.replace("deliver(p, m)", "deliver(self, m)")
    created = created.replace("#log >= n div 2 + 1 and", "true or")
    wrong.write_text(created.replace("prove", "n = 2  prove"), encoding="utf-8")
    one, other = (said(path, "c", Options(engine="reference")) for path in (right, wrong))
    assert [*contradictions(one, other)] and [*contradictions(other, one)]
    assert not [*contradictions(one, one)] and not [*contradictions(other, other)]
    bounded = Options(engine="symbolic", limits=Limits(max_depth=4))
    formulas = said(wrong, "c", bounded)
    assert formulas.words and not [*missed(other, formulas)]
    assert [*missed(one, formulas)]
    assert [*missed(other, said(right, "c", bounded))]


def test_errors_of_the_run_contradict_a_whole_search_without_them() -> None:
    failing = Said(words={"p": Word.VIOLATED, "run-time errors": Word.ERROR})
    for states, number in ((3, 1), (None, 0)):
        whole = Said(words={"p": Word.VIOLATED}, states=states)
        assert len([*contradictions(failing, whole)]) == number
        assert len([*contradictions(whole, failing)]) == number
