"""The numbers of a check follow from each other in any order."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.instantiate.protocol.sizes import compute
from checker.session.load import load_check
from checker.session.pipeline import Options, run_check

SPEC = """
protocol P(T: Nat = f, quorum: Nat = n div 2 + T) {{
  state done = false
  upon condition not done {{ done := true }}
  property comes : eventually exists p in Proc: p.done
}}

check c of P {{ {clauses}  expect comes holds }}
"""


def _values(tmp_path: Path, clauses: str, **given: str) -> dict[str, int]:
    path = tmp_path / "sizes.bcast"
    path.write_text(SPEC.format(clauses=clauses), encoding="utf-8")
    return dict(compute(load_check(str(path), "c", given), given).values)


def test_what_stands_later_is_known(tmp_path: Path) -> None:
    values = _values(tmp_path, "quorum = n - T  T = f + 1  n = 5  faults crash <= 1")
    assert values == {"quorum": 3, "T": 2, "n": 5, "f": 1}


def test_defaults_follow_from_faults(tmp_path: Path) -> None:
    assert _values(tmp_path, "n = 4  faults crash <= 2") == {"n": 4, "f": 2, "T": 2, "quorum": 4}
    assert _values(tmp_path, "n = 4") == {"n": 4, "f": 0, "T": 0, "quorum": 2}


def test_faults_follow_from_parameters(tmp_path: Path) -> None:
    values = _values(tmp_path, "n = 4  T = 1  faults crash <= T, byzantine <= 1")
    assert values == {"n": 4, "T": 1, "quorum": 3, "f": 2}


RANGES = """
interface Below {{ request ask(x: 0..3)  indication tell(x: 0..3) }}
protocol Layer(deep: 0..1 = 1) implements Below {{ upon request ask(x) {{ tell(x) }} }}
protocol P(few: 1..n = 2, some: Nat max 3 = 3, any: Nat = 0{more}) {{
  uses below : Below
  state done = false
  upon condition not done {{ done := true  below.ask(few) }}
  upon below.tell(x) {{}}
  property comes : eventually exists p in Proc: p.done
}}
check c of P {{ {clauses}  expect comes holds }}
"""


@pytest.mark.parametrize(
    ("clauses", "more", "given", "message"),
    [
        ("few = 4", "", {}, "few = 4 is outside 1..3"),
        ("few = 0", "", {}, "few = 0 is outside 1..3"),
        ("n = 4  few = 4", "", {}, ""),
        ("n = 1", "", {}, "few = 2 is outside 1..1"),
        ("some = 4", "", {}, "some = 4 is outside 0..3"),
        ("any = -1", "", {}, "any = -1 is below 0"),
        ("any = 1000", "", {}, ""),
        ("any = 1", "", {"any": "-2"}, "any = -2 is below 0"),
        ("", "", {"some": "4"}, "some = 4 is outside 0..3"),
        ("", ", deep: Nat = 2", {}, "deep = 2 is outside 0..1"),
    ],
)
def test_parameters_are_in_their_ranges(
    clauses: str, more: str, given: dict[str, str], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "sizes.bcast"
    path.write_text(RANGES.format(clauses=clauses, more=more), encoding="utf-8")
    check = load_check(str(path), "c", given)
    if not message:
        compute(check, given)
        return
    with pytest.raises(SpecError) as caught:
        compute(check, given)
    (found,) = caught.value.diagnostics
    assert (found.code, found.message) == ("E003", message)


ROLES = """
protocol P {{
  role client(1) {{ state done = false  upon condition not done {{ done := true }} }}
  role server({servers}) {{ state busy = false }}
  property comes : eventually exists p in client: p.done
}}

check c of P {{ faults {faults}  expect comes holds }}
"""


@pytest.mark.parametrize(
    ("servers", "faults", "f"),
    [
        (1, "crash <= 2, byzantine <= 1", 2),
        (1, "crash <= 5, recover", 2),
        (4, "crash <= 2, omission <= 2", 4),
        (4, "crash <= 5, omission <= 2", 5),
    ],
)
def test_of_roles_no_more_are_faulty_than_there_are(
    servers: int, faults: str, f: int, tmp_path: Path
) -> None:
    path = tmp_path / "sizes.bcast"
    path.write_text(ROLES.format(servers=servers, faults=faults), encoding="utf-8")
    assert compute(load_check(str(path), "c", {}), {}).values["f"] == f


def test_what_settings_say_replaces_what_is_for_all(tmp_path: Path) -> None:
    clauses = "for all n, T  quorum = n - T"
    assert _values(tmp_path, clauses, n="6", T="2") == {"n": 6, "T": 2, "quorum": 4, "f": 0}


def test_a_circle_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        _values(tmp_path, "n = 4  T = quorum  quorum = T")
    assert [d.code for d in caught.value.diagnostics] == ["C200"]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("n > 1 and n < 9 and T < n", True),
        ("n > 1 and n < 3 and T < n", False),
        ("n > 9 or n < 2 or T == 1 or T == 7", True),
        ("n > 9 or n < 2 or T == 7", False),
        ("(n == 0 or 4 div n == 1) and (n != 0 or 4 div n == 1) and n > 0", True),
        ("n == 4 or 4 div 0 == 1 or n == 5", True),
    ],
)
def test_a_condition_has_any_number_of_parts(condition: str, holds: bool, tmp_path: Path) -> None:
    """In what a protocol requires as in what a check is about; they are read left to right."""
    path = tmp_path / "sizes.bcast"
    text = SPEC.format(clauses="n = 4  T = 1").replace("{", f"requires {condition} {{", 1)
    path.write_text(text, encoding="utf-8")
    notes = run_check(str(path), "c", Options(engine="reference")).notes
    assert any("outside the protocol's resilience" in note for note in notes) is not holds
    text = SPEC.format(clauses=f"for all n, T when {condition}")
    path.write_text(text, encoding="utf-8")
    options = Options(engine="reference", settings={"n": "4", "T": "1"})
    notes = run_check(str(path), "c", options).notes
    assert any("does not cover these sizes" in note for note in notes) is not holds


SIZED = """
protocol P(k: Nat = 2) {
  role holder(SIZE) { state done = false  upon condition not done { done := true } }
  property all_done: eventually forall p in holder: p.done GOAL
}
check c of P { n = 2  prove all_done }
"""


@pytest.mark.parametrize(
    ("size", "goal", "takes"),
    [
        ("2", "", False),
        ("k", "", False),
        ("n", "", True),
        ("n + 1", "", True),
        ("2", "or n > 2", True),
    ],
)
def test_an_n_that_nothing_reads_is_refused(
    size: str, goal: str, takes: bool, tmp_path: Path
) -> None:
    path = tmp_path / "p.bcast"
    path.write_text(SIZED.replace("SIZE", size).replace("GOAL", goal))
    check = load_check(str(path), "c", {})
    if takes:
        assert compute(check, {}).values["n"] == 2
        return
    with pytest.raises(SpecError) as caught:
        compute(check, {})
    (found,) = caught.value.diagnostics
    assert found.code == "C207" and f"role holder({size})" in found.message
