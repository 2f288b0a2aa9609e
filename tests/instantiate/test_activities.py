"""What is built of ``await``: what is refused, capacities, and the same protocol by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.diagnostics.codes import page
from checker.engines.options import Options
from checker.language.load import load_text
from checker.proving.parametric import extraction
from checker.results.answer import Limits
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check


def asked(folder: Path, text: str, **more: object) -> Report:
    file = folder / "example.bcast"
    file.write_text(text, encoding="utf-8")
    return run_check(str(file), "c", Options(**more))  # type: ignore[arg-type]


BY_AWAIT = """protocol P {
  message GO(k: 1..2)
  state x : 0..4 = 0
  upon init { send GO(1) to all  send GO(2) to all }
  upon receive GO(k) { let seen = x  await  x := seen + k }
  property low "Never both." : always forall p in Proc: p.x < 3
}
check c of P { n = 1  expect low holds }
"""
BY_HAND = """protocol P {
  message GO(k: 1..2)
  state x : 0..4 = 0
  state left : bag<(0..4, 1..2), max 2> = {| |}
  upon init { send GO(1) to all  send GO(2) to all }
  upon receive GO(k) { left += (x, k) }
  upon condition left != {| |} {
    choose (seen, k) in left
    left -= (seen, k)
    x := seen + k
  }
}
"""
LAYERED = """interface I { request ask(k: 0..1) indication tell(k: 0..1) }
interface J { request ask(k: 0..1) indication tell(k: 0..1) }
protocol Below implements I {
  state x = 0
  upon request ask(k) { await  x := k  tell(k) }
}
protocol Above implements J {
  uses low : I
  state y : 0..2 = 0
  upon request ask(k) { BODY }
  upon low.tell(k) { y := 1  tell(k) }
  property never "y is never 1." : always forall p in Proc: p.y != 1
}
check c of Above {
  n = 1
  given low as Below
  clients { p1 asks 1 }
  expect never violated
}
"""
LAST = ("low.ask(k)", "y := 0  low.ask(k)", "if k == 1 { low.ask(k) } else { y := 2 }",
        "either { low.ask(k) } or { y := 2 }")  # fmt: skip
FOLLOWED = ("low.ask(k)  y := 2", "if k == 1 { low.ask(k) }  y := 2", "for i in {1} { low.ask(i) }",
            "atomic { low.ask(k) }")  # fmt: skip


@pytest.mark.parametrize("body", LAST)
def test_a_call_of_what_waits_is_the_last_statement(body: str, tmp_path: Path) -> None:
    (verdict,) = asked(tmp_path, LAYERED.replace("BODY", body)).verdicts
    assert verdict.word is Word.VIOLATED


@pytest.mark.parametrize("body", FOLLOWED)
def test_nothing_follows_a_call_of_what_waits(body: str, tmp_path: Path) -> None:
    with pytest.raises(SpecError) as refused:
        asked(tmp_path, LAYERED.replace("BODY", body))
    (found,) = refused.value.diagnostics
    assert found.code == "C202" and "the last statement" in found.message


def test_a_layer_that_tells_and_goes_on_is_refused(tmp_path: Path) -> None:
    """The other way round: what the layer above does waits, and the layer goes on."""
    text = LAYERED.replace("await  x := k  tell(k)", "tell(k)  x := k").replace(
        "BODY", "low.ask(k)"
    )
    asked(tmp_path, text)
    with pytest.raises(SpecError) as refused:
        asked(tmp_path, text.replace("y := 1  tell(k)", "y := 1  await\n  tell(k)"))
    assert refused.value.diagnostics[0].code == "C202"


def test_an_activity_is_what_one_writes_by_hand(tmp_path: Path) -> None:
    """A bag of what is left, and a condition that takes an item out: as many states and steps."""
    rest = BY_AWAIT[BY_AWAIT.index("  property") :]
    hand = BY_HAND.removesuffix("}\n") + rest
    for mode in ({"reduce": "none"}, {"engine": "reference"}):
        one, other = asked(tmp_path, BY_AWAIT, **mode), asked(tmp_path, hand, **mode)
        assert one.distinct_states == other.distinct_states and one.transitions == other.transitions


def test_formulas_of_activities_say_the_same(tmp_path: Path) -> None:
    for text in (BY_AWAIT, BY_AWAIT.replace("x < 3", "x < 4")):
        (by_states,) = asked(tmp_path, text).verdicts
        (by_formulas,) = asked(tmp_path, text, engine="symbolic").verdicts
        assert (by_states.word is Word.VIOLATED) == (by_formulas.word is Word.VIOLATED)
        assert by_formulas.word is not Word.UNKNOWN


def test_how_many_there_are_is_found(tmp_path: Path) -> None:
    """Three messages, so three activities at once; and a number without end is unknown."""
    text = """protocol P {
  message GO
  state begun = 0
  state seen = 0
  upon condition begun < MOST { begun += 1  send GO to all }
  upon receive GO { await begun > 2  seen += 1 }
  property never "Not all go on." : always forall p in Proc: p.seen < 3
}
check c of P { n = 1  prove never }
"""
    (three,) = asked(tmp_path, text.replace("MOST", "3")).verdicts
    assert three.word is Word.VIOLATED
    endless = text.replace("begun < MOST", "true").replace("begun += 1  ", "")
    (unknown,) = asked(tmp_path, endless, limits=Limits(timeout=20.0)).verdicts
    assert unknown.word is Word.UNKNOWN


def test_for_all_refuses(tmp_path: Path) -> None:
    text = page("T006").replace("    yield\n", "    await\n")
    text = text.split("```bivalence\n")[1].split("```")[0]
    with pytest.raises(SpecError) as refused:
        extraction(load_text(text, "example.bcast").checks[0])
    assert [each.message for each in refused.value.diagnostics] == ["`await` can't be counted"]
