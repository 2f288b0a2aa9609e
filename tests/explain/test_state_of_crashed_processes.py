"""Where a violated property reads the state of a process that is down, the explanation says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.session.pipeline import Options, run_check

SPEC = """
protocol P(l: Proc) {{
  message GO
  state asked = false
  {stable}state got = false
  upon condition not asked and self == l {{ asked := true  send GO to all }}
  upon receive GO from p {{ got := true }}
  property x : {formula}
}}
check c of P {{ n = 2  l = p1  faults crash <= 1{recover}  prove x }}
"""


def said(formula: str, recover: str, stable: str, folder: Path) -> str:
    file = folder / "a.bcast"
    text = SPEC.format(formula=formula, recover=recover, stable=stable)
    file.write_text(text, encoding="utf-8")
    trace = run_check(str(file), "c", Options(explain=5.0)).verdicts[0].trace
    assert trace is not None and trace.explanation is not None
    assert any(fate.crashed for fate in trace.fates)
    return " ".join(trace.explanation.sentences)


@pytest.mark.parametrize("recover", ["", ", recover"])
@pytest.mark.parametrize("stable", ["", "stable "])
@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (
            "forall p in Proc: eventually p.got",
            "p1 is down: `p1.got` as when it stopped; if that is not intended,"
            " check `correct(p) => …`.",
        ),
        (
            "forall p, q in Proc: p.asked ~> q.got",
            "p1 is down: `p1.asked` and `p1.got` as when it stopped;",
        ),
    ],
)
def test_what_is_read_of_a_process_that_is_down(
    formula: str, wanted: str, recover: str, stable: str, tmp_path: Path
) -> None:
    assert wanted in said(formula, recover, stable, tmp_path)


@pytest.mark.parametrize(
    "formula",
    [
        "forall p in Proc: correct(p) => eventually p.got",
        "forall p in Proc: eventually (p.got or crashed(p)) or p.asked",
        "always forall q in Proc: crashed(q) => q.got",
        "always forall p, q in Proc: q.asked and p != q => not crashed(p)",
    ],
)
def test_what_is_asked_of_processes_that_are_up_has_no_hint(formula: str, tmp_path: Path) -> None:
    assert "as when it stopped" not in said(formula, "", "", tmp_path)


LEADERS = """
protocol P(first: Proc, second: Proc) {{
  uses fd : FailureDetector
  state leads = false
  upon init {{ leads := self == first }}
  upon fd.suspect(p) when p == first and self == second {{ leads := true }}
  property one : always forall p, q in Proc: {up}p.leads and q.leads => p == q
}}
check c of P {{ n = 2  first = p1  second = p2  faults crash <= 1  detector P  prove one }}
"""


def test_two_leaders_of_which_one_is_down(tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(LEADERS.format(up=""), encoding="utf-8")
    trace = run_check(str(file), "c", Options(explain=5.0)).verdicts[0].trace
    assert trace is not None and trace.explanation is not None
    assert trace.explanation.sentences[-1] == (
        "p1 is down: `p1.leads` as when it stopped; if that is not intended,"
        " check `not crashed(p) => …`."
    )
    file.write_text(LEADERS.format(up="not crashed(p) and not crashed(q) and "), encoding="utf-8")
    assert run_check(str(file), "c", Options()).verdicts[0].word == "holds"
