"""Which optional handlers are fair: ``fair takes``, ``strongly fair takes``."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.language.load import load_text
from checker.language.typecheck.world_axes import world_of
from checker.proving import parametric
from checker.session.pipeline import dump, load_check, run_check
from tests.instantiate.small_checks import MODES, report
from tests.instantiate.tables import words

LOCK = """
protocol Lock {
  shared state free = true
  state inside = false
  upon condition inside as leaves { free := true  inside := false }
  may upon condition free as takes { free := false  inside := true }
  may upon timeout late as expires { skip }
  upon init { start late }
  property enters : forall p in Proc: always eventually p.inside
  property somebody : always eventually exists p in Proc: p.inside
  property exclusive : always forall p in Proc, q in Proc: p.inside and q.inside => p == q
}
check c of Lock {
  n = 2  timing asynchronous  CLAUSE  prove enters, somebody, exclusive  allow unused
}
"""


def lock(clause: str) -> str:
    return LOCK.replace("CLAUSE", clause)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("clause", "said"),
    [("", "- - +"), ("fair takes", "- + +"), ("strongly fair takes", "+ + +")],
)
def test_who_enters(clause: str, said: str, mode: str, tmp_path: Path) -> None:
    found = report(tmp_path, lock(clause), mode)
    assert " ".join("-+"[word == "holds"] for word in words(found).values()) == said
    assert clause in found.world


@pytest.mark.parametrize(
    ("setting", "clause"),
    [
        ("none", ""),
        ("takes", "fair takes"),
        ("strongly takes", "strongly fair takes"),
        ("strongly  takes", "strongly fair takes"),
    ],
)
def test_settings(setting: str, clause: str, tmp_path: Path) -> None:
    file, other = tmp_path / "a.bcast", tmp_path / "b.bcast"
    file.write_text(lock("fair takes"), "utf-8")
    other.write_text(lock(clause), "utf-8")
    changed = dump(str(file), "c", Options(settings={"fair": setting}))
    assert changed == dump(str(other), "c", Options()).replace("b.bcast", "a.bcast")


@pytest.mark.parametrize(
    ("clause", "code", "said"),
    [
        ("fair take", "C034", "no handler is called `take`"),
        ("fair leaves", "C034", "`leaves` is fair already"),
        ("fair expires", "C034", "determine the fairness of `expires`"),
        ("fair takes, takes", "C009", "the fairness of `takes` is given twice"),
        ("fair takes strongly fair takes", "C009", "the fairness of `takes` is given twice"),
    ],
)
def test_what_can_not_be_fair(clause: str, code: str, said: str) -> None:
    with pytest.raises(SpecError) as error:
        load_text(lock(clause), Path("a.bcast"))
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.code, said in diagnostic.message) == (code, True)
    assert diagnostic.hint and diagnostic.span is not None


def test_words_of_the_clause_may_be_names() -> None:
    text = lock("").replace("protocol Lock {", "protocol Lock(fair: Nat, strongly: Nat) {")
    text = text.replace("n = 2", "n = 2  fair = 1  strongly = 2")
    (check,) = load_text(text, Path("a.bcast")).checks
    assert [setting.name for setting in check.settings] == ["n", "fair", "strongly"]


def test_which_fairness_is_needed(tmp_path: Path) -> None:
    """Weak fairness is not enough of what holds with strong fairness alone."""
    file = tmp_path / "a.bcast"
    file.write_text(lock("strongly fair takes").replace("enters, somebody, exclusive", "enters"))
    world = world_of(load_check(str(file), "c", {}))
    number = next(i for i, axis in enumerate(world.axes) if axis.name == "fairness of `takes`")
    words_of = {}
    for level in range(3):
        point = (*world.own[:number], level, *world.own[number + 1 :])
        settings = world.settings(point)
        found = run_check(str(file), "c", Options(settings=settings))
        words_of[settings.get("fair", "")] = found.verdicts[0].word.value
    assert words_of == {"": "holds", "takes": "violated", "none": "violated"}


EVERY = """
protocol P {
  message ONE
  state done = false
  may upon condition not done as acts { done := true  send ONE to all }
  upon receive ONE { skip }
  property ends : forall p in Proc: correct(p) => eventually p.done
}
check c of P { for all n, f when n > f and f >= 0  faults crash <= f  fair acts  prove ends }
"""


def test_proofs_for_every_size_do_not_know_it(tmp_path: Path) -> None:
    """They would take the handler for one that nobody has to run."""
    file = tmp_path / "a.bcast"
    file.write_text(EVERY, "utf-8")
    with pytest.raises(SpecError) as error:
        parametric.prove_every(str(file), "c", Options(), tight=False)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.code == "T020" and "`acts`" in diagnostic.message
