"""What is proposed at a place, word by word; each proposal is read back as a spec."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from checker.editor.completion import complete
from checker.editor.document import Desk, Position
from checker.language.load import load_text

SPEC = """\
protocol Leases {
  message ASK
  state v = 0
  stable state kept = 0

  ITEM
  upon receive ASK from p {
    v := 1
    STATEMENT
  }
  upon condition false {
    start lease[self]
    start other[self]
  }
  upon timeout lease[p] as ends { v := EXPRESSION }
  upon timeout other[p] when v > 0 { v := 0 }
  property small : always forall p in Proc: p.v < 2
}

check c of Leases {
  n = 2
  faults FAULT
  links LINK
  timing TIMING
  CLAUSE
  prove small
  expect small VERDICT
  allow unused
}
"""
PLAIN = {
    "ITEM": "", "STATEMENT": "skip", "EXPRESSION": "1", "FAULT": "crash <= 1, recover",
    "LINK": "connected", "TIMING": "asynchronous", "CLAUSE": "", "VERDICT": "violated",
}  # fmt: skip
OPTIONAL = "may upon condition v > 1 as falls { v := 0 }"
PROPOSED = (
    ("FAULT", "pause", {}),
    ("FAULT", "cut <= 1", {}),
    ("FAULT", "cut <= 1 of Proc -> Proc", {}),
    ("FAULT", "power <= 1", {"more": ", recover"}),
    ("FAULT", "wipe <= 1", {"more": ", recover"}),
    ("FAULT", "sync <= 1", {"more": ", power <= 1, recover"}),
    ("FAULT", "reset <= 1", {}),
    ("LINK", "connected", {}),
    ("TIMING", "clocks drift 1", {}),
    ("TIMING", "clocks drift 1 until 10", {}),
    ("EXPRESSION", "now", {"TIMING": "clocks drift 1 until 1"}),
    ("STATEMENT", "await", {"hole": "v == 0"}),
    ("STATEMENT", "sync", {"v": "kept"}),
    ("STATEMENT", "sync else", {"v": "kept", "hole": "skip", "FAULT": "power <= 1, recover"}),
    ("STATEMENT", "either as", {"hole": "skip"}),
    ("STATEMENT", "start of a key", {"timer": "lease"}),
    ("ITEM", "upon timeout of a key", {"timer": "other", "hole": "skip"}),
    ("ITEM", "upon disconnected", {"hole": "skip"}),
    ("ITEM", "stable synced state", {"name": "b", "set<Proc>": "bool", "hole": "false"}),
    ("CLAUSE", "at most", {"hole": "ends"}),
    ("CLAUSE", "fair", {"hole": "falls", "ITEM": OPTIONAL}),
    ("CLAUSE", "strongly fair", {"hole": "falls", "ITEM": OPTIONAL}),
    ("VERDICT", "without", {"before": "violated ", "hole": "p1 crashes"}),
)  # fmt: skip
"""A place, what is proposed there, and what else is to be written so that a spec comes of it."""


def written(insert: str, given: dict[str, str]) -> str:
    """A snippet with its places filled in."""
    filled = re.sub(r"\$\{\d+:([^}]*)\}", lambda m: given.get(m[1], m[1]), insert)
    return re.sub(r"\$\d+", given.get("hole", ""), filled)


@pytest.mark.every
@pytest.mark.parametrize(("where", "label", "given"), PROPOSED)
def test_what_is_proposed_can_be_written(
    where: str, label: str, given: dict[str, str], tmp_path: Path
) -> None:
    def text(here: str) -> str:
        found = SPEC
        for place, plain in PLAIN.items():
            found = found.replace(place, here if place == where else given.get(place, plain))
        return found

    before = given.get("before", "")
    asked = text(f"{before}HERE")
    head = asked[: asked.index("HERE")]
    place = Position(head.count("\n") + 1, len(head) - head.rfind("\n"))
    path = tmp_path / "a.bcast"
    document = Desk().changed(path, asked.replace("HERE", ""))
    found = {each.label: each for each in complete(document, place)}
    assert label in found
    insert = found[label].insert or label
    whole = text(before + written(insert, given) + given.get("more", ""))
    (check,) = load_text(whole, path).checks
    assert check.name == "c"
