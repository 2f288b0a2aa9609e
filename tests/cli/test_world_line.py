"""The line of a report that says in which world its verdicts hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.cli.main import main
from checker.instantiate.protocol.sizes import compute
from checker.resources import specs
from checker.session.load import load_check
from checker.session.world_line import world_line
from tests.documents import only_report

EAGER = specs() / "broadcast/eager_reliable.bcast"
Out = pytest.CaptureFixture[str]

RELAY = """
protocol Relay implements ReliableBroadcast {
  message DATA(m: Msg)
  upon request broadcast(m) { send DATA(m) to all }
  upon receive DATA(m) from p { deliver(p, m) }
}
protocol Votes {
  message VOTE
  role coordinator(1) { state yes = 0  upon receive VOTE { yes += 1 } }
  role voter(2) { state done = false
    upon condition not done { done := true  send VOTE to all coordinator } }
}
protocol Elects {
  state x : 0..9 = 0
  upon condition x < 9 as elects { x += 1 }
}
protocol Alone { state done = false  upon condition not done { done := true } }
"""


@pytest.mark.parametrize(
    ("of", "clauses", "wanted"),
    [
        (
            "Relay",
            "n = 4  faults crash <= 2  clients { p1 broadcasts a, b  p2 broadcasts c }",
            "4 processes, at most 2 crash, perfect links, p1 broadcasts a and b, p2 broadcasts c",
        ),
        (
            "Relay",
            "faults crash <= 1, recover  links fair_loss, bounded 2  clients { all broadcasts a }",
            "3 processes, at most 1 crash with recovery, fair_loss and bounded 2 links,"
            " all broadcast a",
        ),
        (
            "Relay",
            "faults crash <= 0  faults byzantine <= 1  faults partition <= 1  links authenticated",
            "3 processes, at most 1 is Byzantine, at most 1 partition, authenticated links,"
            " no clients",
        ),
        (
            "Relay",
            "faults crash <= 1  crash points between_handlers  faults omission <= 2"
            "  faults partition  clients { p1 broadcasts a }",
            "3 processes, at most 1 process crashes, crashes between handlers only,"
            " at most 2 omit messages, partitions, perfect links, p1 broadcasts a",
        ),
        (
            "Relay",
            "faults cut <= 1, cut of Proc -> Proc  clients { p1 broadcasts a }",
            "3 processes, at most 1 cut, cuts from Proc to Proc, perfect links, p1 broadcasts a",
        ),
        (
            "Relay",
            "faults crash <= 1, reset <= 2  links connected",
            "3 processes, at most 1 process crashes, at most 2 resets, connected links, no clients",
        ),
        (
            "Votes",
            "links voter -> coordinator lossy  timing partial noise 2",
            "1 coordinator, 2 voters, no faults, perfect links, lossy from voter to coordinator,"
            " partially synchronous with noise 2",
        ),
        ("Alone", "n = 1", "1 process, no faults"),
        (
            "Relay",
            "clients { each broadcasts any of {a, b} }",
            "3 processes, no faults, perfect links, all broadcast any of {a, b}",
        ),
        (
            "Votes",
            "faults crash <= 1 of voter, recover",
            "1 coordinator, 2 voters, at most 1 crash (at most 1 of voter) with recovery,"
            " perfect links",
        ),
        (
            "Elects",
            "n = 2  at most 2 elects  bound p.x  <= 3",
            "2 processes, no faults, at most 2 elects, only states with p.x <= 3",
        ),
    ],
)
def test_the_world_is_told_in_one_line(of: str, clauses: str, wanted: str, tmp_path: Path) -> None:
    file = tmp_path / "a.bcast"
    file.write_text(f"{RELAY}check c of {of} {{ {clauses} }}\n", encoding="utf-8")
    check = load_check(str(file), "c", {})
    assert world_line(check, compute(check, {})) == wanted


def test_it_is_the_world_of_the_settings() -> None:
    settings = {"n": "2", "links": "fifo", "crash": "none"}
    check = load_check(str(EAGER), "crash_one", settings)
    assert world_line(check, compute(check, settings)) == (
        "2 processes, no faults, fifo links, p1 broadcasts a"
    )


def test_one_check_tells_its_world_and_several_on_request(capsys: Out, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    assert main(["check", f"{EAGER}::no_fault", "--json", str(report)]) == 0
    wanted = "world    3 processes, no faults, perfect links, p1 broadcasts a\n"
    assert wanted in capsys.readouterr().out
    assert wanted.endswith(only_report(report.read_text())["world"] + "\n")
    assert main(["check", str(EAGER), "--no-explain"]) == 0
    assert "perfect links" not in capsys.readouterr().out
    assert main(["check", str(EAGER), "--no-explain", "-v"]) == 0
    assert capsys.readouterr().out.count("\nworld    ") == 5


def test_a_proof_for_all_sizes_tells_its_world(capsys: Out) -> None:
    assert main(["prove", f"{specs()}/byzantine/echo.bcast::for_every_n"]) == 0
    wanted = "n processes, at most f are Byzantine, authenticated and stubborn links\n"
    assert f"world     {wanted}" in capsys.readouterr().out
