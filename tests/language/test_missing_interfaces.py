"""A missing or misspelt interface is one error, and the interfaces that there are can be found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.cli.list_protocols import interfaces
from checker.diagnostics import Diagnostic, SpecError
from checker.language.library import prelude
from checker.language.load import load_text
from checker.resources import specs

FLOOD = """
protocol Flood IMPLEMENTS {
  uses beb : BEB
  message DATA(m: Msg)
  state seen : set<Msg> = {}
  upon request broadcast(m) { beb.broadcast(DATA(m)) }
  upon beb.deliver(p, DATA(m)) when m not in seen { seen += m  deliver(p, m) }
  property mine "What was delivered was broadcast." :
    always forall p, q in Proc, m in Msg: (p, m) in delivered(q) => m in broadcast(p)
}
check c of Flood {
  clients { p1 broadcasts a }
  given beb as oracle
  prove agreement, mine, at_most_once over deliveries
  expect validity holds
}
"""


def errors(implements: str, layer: str = "BestEffortBroadcast") -> tuple[Diagnostic, ...]:
    text = FLOOD.replace("IMPLEMENTS", implements).replace("BEB", layer)
    with pytest.raises(SpecError) as caught:
        load_text(text, "flood.bcast")
    return caught.value.diagnostics


@pytest.mark.parametrize(
    ("implements", "layer", "code", "hint"),
    [
        ("implements ReliableBroadcats", "BestEffortBroadcast", "N013", "`ReliableBroadcast`?"),
        ("implements ReliableBroadcast", "BestEfortBroadcast", "N013", "`BestEffortBroadcast`?"),
        ("", "BestEffortBroadcast", "N022", "`protocol Flood implements I`; `I` can be `BestEff"),
        ("implements Zzz", "BestEffortBroadcast", "N013", "which `bivalence list` names"),
    ],
)
def test_one_mistake_is_one_error(implements: str, layer: str, code: str, hint: str) -> None:
    (found,) = errors(implements, layer)
    assert found.code == code
    assert hint in found.hint


def test_of_a_request_that_no_interface_has_it_is_told_how_to_declare_one() -> None:
    with pytest.raises(SpecError) as caught:
        load_text("protocol P { upon request lock() { skip } }", "p.bcast")
    (found,) = caught.value.diagnostics
    assert "`protocol P implements I`; and `interface I { request lock(…) … }`" in found.hint


def test_without_a_request_each_need_of_an_interface_is_told() -> None:
    text = "protocol P { message M upon receive M from p { deliver(p) } }\n"
    with pytest.raises(SpecError) as caught:
        load_text(f"{text}check c of P {{ clients {{ p1 broadcasts a }} }}", "p.bcast")
    assert [found.code for found in caught.value.diagnostics] == ["N022", "C011"]


def test_the_list_and_the_page_have_all_interfaces() -> None:
    page = Path(__file__).parents[2] / "docs/language/protocols.md"
    table = page.read_text(encoding="utf-8").partition("| interface | request | indication |")[2]
    told = {}
    for row in table.partition("\n\n")[0].splitlines()[2:]:
        _, names, *columns = row.split("|")
        operators = re.findall(r"`(\w+)\(", "".join(columns))
        told |= {name: operators for name in re.findall("`(.*?)`", names)}
    listed = {
        name: [operator.split()[1].partition("(")[0] for operator in operators]
        for name, operators in interfaces(Path(specs()))
    }
    declared = {
        i.name: [o.name for o in (*i.requests, *i.indications)]
        for i in prelude().interfaces.values()
    }
    assert told == listed == declared
