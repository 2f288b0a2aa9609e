"""`mutant name { … }` in a check: a variant of its protocol, asked in the same world; and changes
of single statements and expressions, in mutants and variants."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checker.cli.main import main
from checker.editor.completion import complete
from checker.editor.document import Desk, Position
from checker.language.formatting.layout import format_text
from checker.language.load import load_text
from checker.language.syntax import typed
from checker.language.typecheck.variants import describe
from tests.language.test_common_mistakes import Mistake, diagnostics, places

PROTOCOL = """\
protocol Relay implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(origin: Proc, m: Msg)
  state seen : set<(Proc, Msg)> = {}
  state count : 0..9 = 0
  define isNew(s: Proc, m: Msg) : bool = (s, m) not in seen
  upon request broadcast(m) { beb.broadcast(DATA(self, m)) }
  upon beb.deliver(p, DATA(s, m)) when isNew(s, m) {
    seen += (s, m)
    deliver(s, m)
    beb.broadcast(DATA(s, m))
  }
  upon condition count > 8 as never { count := 0 }
  upon condition count > 7 { count := 0 }
}
"""
CHECK = """\
check one of Relay {
  n = 3
  faults crash <= 1
  clients { p1 broadcasts a }
  prove agreement, no_duplication
  allow unused
  MUTANTS
}
"""


def spec(mutants: str) -> str:
    return PROTOCOL + CHECK.replace("MUTANTS", mutants)


def protocol(changes: str) -> typed.Protocol:
    """Returns the protocol of a mutant with these changes."""
    text = spec(f"mutant m {{ {changes} expect agreement violated }}")
    (check,) = (c for c in load_text(text, "a.bcast").checks if c.name == "one.m")
    return check.protocol


def said(changes: str) -> str:
    variant = protocol(changes).variant
    assert variant is not None
    return describe(variant).removeprefix("variant of Relay: ")


def test_a_mutant_is_a_check_of_a_variant_in_the_same_world() -> None:
    text = spec("mutant m { without beb.broadcast(DATA(s, m)) expect agreement violated }")
    one, mutant = load_text(text, "a.bcast").checks
    assert (one.name, mutant.name) == ("one", "one.m")
    assert [p.name for p in one.prove] == ["agreement", "no_duplication"]
    assert [p.name for p in mutant.prove] == ["agreement"]
    same = ("settings", "crash", "links", "allow_unused", "warnings")
    assert all(getattr(one, name) == getattr(mutant, name) for name in same)
    assert [(c.process, c.op) for c in mutant.clients] == [("p1", "broadcast")]
    assert one.protocol.variant is None


def test_what_can_be_changed() -> None:
    assert said("without seen += (s, m)") == "removes `seen += (s, m)`"
    assert said("replace isNew(s, m) with true") == "replaces `isNew(s, m)` with `true`"
    assert said("without upon condition count > 7") == "removes upon condition count > 7"
    assert said("inside never { without count := 0 }") == "removes `count := 0`"
    assert said("inside isNew { replace (s, m) not in seen with true }").startswith("replaces")
    assert said("inside upon condition count > 7 { without count := 0 }") == "removes `count := 0`"
    assert said("state count : 0..9 = 1") == "replaces state count"
    two = said("without deliver(s, m)  without seen += (s, m)")
    assert two == "removes `deliver(s, m)`, `seen += (s, m)`"


def test_a_changed_body_lacks_one_statement_only() -> None:
    before, after = (
        next(h for h in p.roles[0].handlers if "deliver" in h.label).body
        for p in (protocol("without upon condition count > 7"), protocol("without deliver(s, m)"))
    )
    assert len(before) == 3 and after == (before[0], before[2])


MISTAKES = [
    Mistake(
        "«without deliver(s, n)»", "N041", "`Relay` has no statement `deliver(s, n)`", "(s, m)"
    ),
    Mistake("«without send DATA(s, m) to all»", "N041", "`Relay` has no statement", ""),
    Mistake(
        "«replace count > 6 with true»", "N041", "has no expression `count > 6`", "`count > 8`"
    ),
    Mistake(
        "«without count := 0»", "N042", "stands in 2 places of `Relay`: lines 13, 14", "inside upon"
    ),
    Mistake("inside «later» { without skip }", "N041", "`Relay` has no `later`", "`isNew`"),
    Mistake(
        "inside never { «without deliver(s, m)» }",
        "N041",
        "`never` of `Relay` has no statement",
        "",
    ),
    Mistake("inside «upon receive DATA(x)» { without skip }", "N041", "has no `upon receive", ""),
    Mistake("«replace count > 8 with count > 8»", "N040", "is replaced with itself", ""),
    Mistake("without deliver(s, m) «without deliver(s, m)»", "N042", "the same place", ""),
    Mistake(
        "replace (s, m) not in seen with true «replace (s, m) not in seen with false»",
        "N042",
        "the same place",
        "",
    ),
    Mistake(
        "replace isNew(s, m) with true inside upon beb.deliver(p, DATA(s, m)) "
        "{ «replace isNew(s, m) with false» }",
        "N042",
        "the same place",
        "",
    ),
    Mistake("replace count > 8 with true «replace 8 with 7»", "N042", "all that is around", ""),
    Mistake("replace count > 8 with «seen»", "N003", "", ""),
    Mistake("without «told»", "N041", "`Relay` has no `told`", ""),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.text)
def test_mistakes(mistake: Mistake) -> None:
    marked = spec(f"mutant m {{ {mistake.text} expect agreement violated }}")
    text, [(line, start, end)] = places(marked)
    (found,) = diagnostics(text)
    assert (found.code, found.span and found.span.line) == (mistake.code, line)
    assert found.span is not None and (found.span.column, found.span.end_column) == (start, end)
    assert mistake.message in found.message
    assert mistake.hint in (found.hint or "")


def test_a_mutant_expects_something_and_changes_something() -> None:
    (found,) = diagnostics(spec("mutant m { without deliver(s, m) }"))
    assert found.code == "C049"
    (found,) = diagnostics(spec("mutant m { expect agreement violated }"))
    assert found.code == "N040"
    twice = "mutant m { without deliver(s, m) expect agreement violated }"
    assert {each.code for each in diagnostics(spec(f"{twice} {twice}"))} == {"N004"}
    (found,) = diagnostics(spec("mutant m { without deliver(s, m) expect agrement violated }"))
    assert found.code == "C007" and "agreement" in (found.hint or "")


def test_a_mistake_of_the_check_is_reported_once() -> None:
    text = spec("k = 1 mutant m { without deliver(s, m) expect agreement violated }")
    assert [each.code for each in diagnostics(text)] == ["C002"]


def test_what_a_change_leaves_without_a_meaning_is_said_of_the_mutant() -> None:
    text = spec("mutant m { without state_ expect agreement violated }").replace("state_", "seen")
    assert any("in the variant `one.m`" in each.message for each in diagnostics(text))


def test_words_of_mutants_are_names_elsewhere() -> None:
    text = """\
protocol P(mutant: 0..3 = 1) {
  state replace : 0..3 = 0
  state with : 0..3 = 0
  procedure set(k: 0..3) { with := k }
  upon condition with == 0 {
    replace := with  with := mutant replace := with + 1
    set(with)
  }
}
check one of P { n = 1  mutant = 2  prove small
  property small : always forall p in Proc: p.with < 3
  mutant mutant { replace with == 0 with with + replace == 0  expect small violated } }
"""
    assert [c.name for c in load_text(text, "a.bcast").checks] == ["one", "one.mutant"]


def test_a_mutant_is_formatted_and_completed(tmp_path: Path) -> None:
    mutants = (
        "mutant m {inside never{without count:=0}\n"
        "replace count>7 with true expect agreement violated}"
    )
    formatted = format_text(spec(mutants), "a.bcast")
    assert (
        "  mutant m {\n    inside never { without count := 0 }\n"
        "    replace count > 7 with true  expect agreement violated\n  }\n" in formatted
    )
    assert format_text(formatted, "a.bcast") == formatted
    desk, path = Desk(), tmp_path / "a.bcast"
    desk.put(path, formatted)
    document = desk.document(path)
    assert [check.name.text for check in document.checks()] == ["one", "one.m"]
    assert document.analysis.diagnostics == ()
    line = next(n for n, text in enumerate(document.lines, 1) if "inside never" in text)
    found = document.at(Position(line, 13))
    assert found is not None and found.of.kind == "handler"
    line = next(n for n, text in enumerate(document.lines, 1) if "mutant m" in text)
    desk.put(path, formatted.replace("  mutant m {", "  \n  mutant m {"))
    proposed = {each.label for each in complete(desk.document(path), Position(line, 3))}
    assert "mutant" in proposed


def test_mutants_are_run_and_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "relay.bcast", tmp_path / "out.json"
    mutants = """
  mutant without_relay { without beb.broadcast(DATA(s, m)) expect agreement violated }
  mutant forgetful { without seen += (s, m) expect no_duplication holds }
"""
    path.write_text(spec(mutants), "utf-8")
    assert main(["check", str(path), "-q", "--json", str(out)]) == 1
    reports = json.loads(out.read_text("utf-8"))["reports"]
    found = {r["check"]: [v["verdict"] for v in r["verdicts"]] for r in reports}
    assert found == {
        "one": ["holds", "holds"],
        "one.without_relay": ["violated"],
        "one.forgetful": ["violated"],
    }
    capsys.readouterr()
    assert main(["check", f"{path}::one.without_relay", "-q"]) == 0
    assert main(["show", f"{path}::one.without_relay"]) == 0
    assert "removes `beb.broadcast(DATA(s, m))`" in capsys.readouterr().out
    assert main(["check", f"{path}::one.without_rely"]) == 2
    assert "one.without_relay" in capsys.readouterr().err
    assert main(["mutate", f"{path}::one.forgetful"]) == 2
