"""What the tools answer: an outcome of each kind, and what its claim says first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checker.assist.answer import fitted, text_of
from checker.assist.condense import answer_of_check
from checker.assist.judged import judged_copy
from checker.assist.look import print_checks
from checker.cli.main import main
from tests.assist.calls import CRASH, HONEST, RELAY, SILENT, Caller, require_valid, weakened


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.bcast").write_text(text, encoding="utf-8")


def test_outcomes_of_checks(call: Caller, folder: Path) -> None:
    """Each outcome that a check can have, with what is said of it."""
    _write(folder, relay=RELAY + HONEST + CRASH + SILENT, wrong=RELAY + "check")

    honest = call("check", path="relay.bcast", check="honest")
    assert (honest["outcome"], honest["as_expected"]) == ("holds", True)
    assert honest["claim"].startswith("Nothing fails in this world")
    assert honest["world"] == {
        "text": "3 processes, no faults, perfect links, p1 broadcasts a", "n": 3, "honest": True,
    }  # fmt: skip
    assert [each["tool"] for each in honest["next"]] == ["check", "check", "mutate"]
    judging, lossy, _ = (each["arguments"] for each in honest["next"])
    assert judging["judge"] == "ReliableBroadcast" and lossy["set"] == {"links": "lossy"}
    assert "validity" in honest["next"][0]["because"]
    judged = call.raw("check", judging)
    assert judged["outcome"] == "holds"
    assert [each["arguments"].get("judge") for each in judged["next"]] == [None, None]

    crash = call("check", path="relay.bcast", check="crash")
    assert (crash["outcome"], crash["as_expected"]) == ("violated", False)
    assert crash["run"]["essential"] == ["the crash of p1"]
    assert crash["next"][0]["arguments"]["handle"] == crash["run"]["handle"]
    assert not crash["world"]["honest"]

    worse = call("check", path="relay.bcast", check="honest", set={"crash": "1"})
    assert worse["outcome"] == "violated"

    silent = call("check", path="relay.bcast", check="silent")
    assert (silent["outcome"], silent["as_expected"]) == ("vacuous", False)
    assert silent["next"][0]["tool"] == "look"

    missing = call("check", path="relay.bcast", check="none")
    assert (missing["outcome"], missing["problems"][0]["code"]) == ("unusable", "E002")
    assert missing["problems"][0]["hint"]

    wrong = call("check", path="wrong.bcast", check="none")
    assert wrong["outcome"] == "unusable"
    assert wrong["problems"][0]["file"] == "wrong.bcast"
    assert wrong["problems"][0]["line"] == 7


UNTESTED = """
check idle of Relay {
  n = 3  f = 0  faults byzantine <= f  clients { p1 broadcasts a }  prove agreement
}
check sure of Relay {
  n = 3  clients { p1 broadcasts a }
  property sure : always forall p in Proc: p in Proc
  prove sure  allow unused
}
"""


def test_a_claim_names_what_was_not_tested(call: Caller, folder: Path) -> None:
    """A fault that is allowed and never happens, and a property that nothing could violate."""
    _write(folder, relay=RELAY + UNTESTED)
    idle = call("check", path="relay.bcast", check="idle")
    assert idle["outcome"] == "holds"
    assert "Not tested: a lie that is allowed and never happens." in idle["claim"]
    assert idle["not_asked"][0] == {
        "what": "a lie that is allowed and never happens", "because": "", "clause": "",
    }  # fmt: skip
    sure = call("check", path="relay.bcast", check="sure")
    assert (sure["outcome"], sure["as_expected"]) == ("vacuous", False)
    assert sure["verdicts"][0]["why"].startswith("no run could violate sure: ")


LEFT_OUT = """protocol Counter {
  state seen : 0..2 = 0
  upon condition seen < 2 { seen += 1 }
  property rises : eventually forall p in Proc: p.seen == 2
  property small : always forall p in Proc: p.seen <= 1
}
variant Stops of Counter { replace seen < 2 with seen < 1 }
check original of Counter { n = 1  expect rises holds  expect small violated }
check changed of Stops { n = 1  prove small }
"""


def test_a_property_that_a_variant_is_not_asked_is_told(call: Caller, folder: Path) -> None:
    _write(folder, counter=LEFT_OUT)
    found = call("check", path="counter.bcast", check="changed")
    assert found["outcome"] == "holds"
    assert found["claim"].endswith("No check asks rises of Stops.")
    assert "No check asks rises of Stops." in call("look", path="counter.bcast")["claim"]
    both = call("check", path="counter.bcast", check="original")
    assert "No check" not in both["claim"]


def test_an_unknown_search_goes_on(call: Caller, folder: Path) -> None:
    same = {"path": "consensus/paxos", "check": "crash_and_loss"}

    first = call("check", **same, budget={"seconds": 30, "states": 500})
    assert (first["outcome"], first["as_expected"]) == ("unknown", False)
    assert first["search"]["stopped"]
    following = first["next"][0]["arguments"]
    assert following["resume"] == first["resume"]
    other = {**following, "check": "anything_goes"}
    assert (call.raw("check", other))["problems"][0]["code"] == "A001"
    second = call.raw("check", following)
    assert second["outcome"] == "holds"
    assert second["search"]["states"] > first["search"]["states"]


@pytest.mark.every
@pytest.mark.parametrize("how", ["protocol", "interface", "import"])
def test_a_property_of_the_author_does_not_replace_the_library_s(
    call: Caller, folder: Path, how: str
) -> None:
    """The author's says nothing, under the library's name; the library's is violated."""
    own = weakened()
    if how == "interface":
        interface = """\
interface ReliableBroadcast {
  request broadcast(m: Msg)
  indication deliver(p: Proc, m: Msg)
  property agreement : always forall p in Proc: p in Proc
}
"""
        own = interface + RELAY
    files = {"own": own + CRASH}
    if how == "import":
        files = {"base": own, "own": 'import "base.bcast"\n' + CRASH}
    _write(folder, **files)

    found = call("check", path="own.bcast", check="crash")
    assert found["outcome"] == "violated"
    assert found["as_expected"] is False
    assert found["claim"].startswith("agreement is the author's own")
    verdicts = {v["property"]: v for v in found["verdicts"]}
    assert verdicts["agreement (library)"]["verdict"] == "violated"
    assert verdicts["agreement"]["shadows"] == "ReliableBroadcast"
    assert found["run"] is not None
    looked = call("look", path="own.bcast")
    assert "the author's own" in looked["claim"]


def test_judge_asks_what_the_check_does_not(call: Caller, folder: Path) -> None:
    text = RELAY + CRASH.replace("prove agreement", "prove validity")
    _write(folder, relay=text)

    alone = call("check", path="relay.bcast", check="crash")
    assert alone["outcome"] == "holds"
    judged = call("check", path="relay.bcast", check="crash", judge="ReliableBroadcast")
    assert judged["outcome"] == "violated"
    other = call("check", path="relay.bcast", check="crash", judge="Nonsense")
    assert other["problems"][0]["code"] == "A001"


def test_a_judged_copy_is_edited_at_places_of_the_tree(tmp_path: Path) -> None:
    """Comments that look like declarations, and braces in them, change nothing."""
    check = CRASH.replace("Relay {", "Relay // {\n{").replace("agreement", "validity")
    text = weakened() + "// property agreement : nothing\n" + check
    (tmp_path / "own.bcast").write_text(text, encoding="utf-8")
    (tmp_path / "other.bcast").write_text("protocol", encoding="utf-8")
    declared = {"check": "crash", "hides": {"agreement": "R"}, "properties": ["validity"]}
    found = judged_copy(tmp_path, "own.bcast", "crash", {"checks": [declared]}, None)
    assert found == (["agreement"], "judged/own.bcast")
    copy = (tmp_path / "judged" / "own.bcast").read_text(encoding="utf-8")
    assert copy == text.replace(
        "  property agreement", "  property agreement_of_the_author"
    ).replace("validity }", "validity \n  prove agreement\n}")
    assert (tmp_path / "judged" / "other.bcast").read_text(encoding="utf-8") == "protocol"


def digests(file: Path, text: str, capsysbinary: pytest.CaptureFixture[bytes]) -> dict[str, str]:
    """What `look` says of the only check in a file with this text."""
    file.write_text(text, encoding="utf-8")
    assert print_checks(str(file)) == 0
    (declared,) = json.loads(capsysbinary.readouterr().out)["checks"]
    return dict(declared["digests"])


@pytest.mark.every
@pytest.mark.parametrize(
    ("text", "changed"),
    [
        (RELAY + CRASH.replace("crash <= 1", "crash <= 0"), {"world"}),
        (
            RELAY + CRASH.replace("agreement }", "agreement expect agreement violated }"),
            {"expected"},
        ),
        (weakened() + CRASH, {"agreement"}),
        (RELAY + CRASH.replace("agreement", "validity"), {"agreement", "validity"}),
        (RELAY.replace("deliver(p, m)", "") + CRASH, {"protocol"}),
        (RELAY + CRASH.replace("prove", "allow unused  prove"), {"world"}),
    ],
    ids=["world", "expected", "property", "gone", "protocol", "unused"],
)
def test_digests_tell_what_has_changed(
    text: str, changed: set[str], tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "relay.bcast"
    before = digests(file, RELAY + CRASH, capsysbinary)
    now = digests(file, text, capsysbinary)
    assert {name for name in {**before, **now} if before.get(name) != now.get(name)} == changed


LIMITED = """
protocol Limited(most: Nat = 2) {
  state x : 0..9 = 0
  upon condition x < most { x := x + 1 }
  upon condition x > 8 as overflows { x := 0 }
  property small : always forall p in Proc: p.x <= most
}
check one of Limited { n = 1  MOST  allow unused  prove small }
"""


def test_parameters_are_of_the_world(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    file = tmp_path / "limited.bcast"
    two, five = (
        digests(file, LIMITED.replace("MOST", most), capsysbinary) for most in ("", "most = 5")
    )
    assert {name for name in two if two[name] != five[name]} == {"world"}


def test_a_claim_has_the_parameters_and_what_never_happened(tmp_path: Path) -> None:
    file, out = tmp_path / "limited.bcast", tmp_path / "out.json"
    for most, reduce, said in (
        ("most = 5", "none", "overflows (line 5) never ran."),
        ("most = 3", "auto", "Not seen in this search, whose reductions may hide it"),
    ):
        file.write_text(LIMITED.replace("MOST", most), encoding="utf-8")
        words = ["check", str(file), "--reduce", reduce, "--json", str(out), "-q"]
        assert main(words) == 0
        answer = answer_of_check(json.loads(out.read_text("utf-8")), {})
        assert f", {most}: small holds." in answer.claim
        assert said in answer.claim


def test_a_baseline_tells_what_has_changed(call: Caller, folder: Path) -> None:
    _write(folder, relay=RELAY + CRASH)
    (declared,) = (call("look", path="relay.bcast"))["checks"]
    same = {"path": "relay.bcast", "check": "crash", "baseline": declared["digests"]}
    assert not (call("check", **same))["problems"]
    worse = RELAY + CRASH.replace("crash <= 1", "crash <= 0").replace("agreement", "validity")
    _write(folder, relay=worse)
    found = call("check", **same)
    assert found["claim"].startswith("Not what it was: agreement is gone, world has changed.")
    said = [p["message"] for p in found["problems"] if p["code"] == "A008"]
    assert said == ["agreement is gone", "world has changed"]


def test_a_run_is_shown_in_parts(call: Caller, folder: Path) -> None:
    _write(folder, relay=RELAY + CRASH)

    handle = (call("check", path="relay.bcast", check="crash"))["run"]["handle"]
    (folder / "relay.bcast").unlink()  # a run is of the files as they were
    shows: dict[str, dict[str, Any]] = {
        "story": {}, "steps": {"step": 2}, "state": {"step": 0}, "next": {},
        "why_not": {"event": "p1 broadcasts a"},
    }  # fmt: skip
    found = {}
    for show, more in shows.items():
        found[show] = call("run", handle=handle, show=show, **more)
        assert found[show]["outcome"] == "shown"
    assert found["story"]["run"]["story"][0].startswith("Agreement fails")
    assert found["steps"]["lines"][0].startswith("2. ")
    assert any("receives" in line for line in found["next"]["lines"])
    assert found["why_not"]["lines"]
    for wrong in ({"step": 99}, {"process": "p9"}, {"show": "why_not"}):
        refused = call("run", **{"handle": handle, "show": "state", **wrong})
        assert refused["problems"][0]["code"] == "A001"
    unknown = call("run", handle="0" * 16, show="story")
    assert unknown["problems"][0]["code"] == "A004"


BOUNDED = """\
protocol Counter {
  state seen : 0..9 = 0
  upon condition seen < 9 { seen += 1 }
  upon condition seen == 9 { let k = 1  seen := [1, 2][seen] }
  property small : always forall p in Proc: p.seen <= 9
}
check bounded of Counter { n = 1  bound p.seen <= 3  prove small  allow unused }
check fails of Counter { n = 1  prove small }
"""


def test_outcomes_within_and_error(call: Caller, folder: Path) -> None:
    """What holds within a bound, or whose run meets an error, is no success."""
    _write(folder, counter=BOUNDED)
    within = call("check", path="counter.bcast", check="bounded")
    assert (within["outcome"], within["as_expected"]) == ("within", False)
    assert within["verdicts"][0]["verdict"] == "within"
    fails = call("check", path="counter.bcast", check="fails")
    assert (fails["outcome"], fails["as_expected"]) == ("error", False)
    assert fails["run"]["handle"]


def answered(folder: Path, *words: str) -> dict[str, Any]:
    """The answer about what a command reports that no tool calls with these options."""
    out = folder / "report.json"
    assert main([*words, "--json", str(out), "-q"]) == 3
    found = fitted(answer_of_check(json.loads(out.read_text("utf-8")), {}))
    require_valid(found, False, text_of(found))
    return found


def test_outcome_bounded(folder: Path) -> None:
    """What holds in runs of so many steps is told with the number of steps."""
    text = BOUNDED.replace("upon condition seen == 9", "upon condition seen > 9")
    _write(folder, counter=text)
    path = f"{folder / 'counter.bcast'}::fails"
    found = answered(folder, "check", path, "--engine", "symbolic", "--depth", "3")
    assert (found["outcome"], found["as_expected"]) == ("bounded", False)
    assert [each["verdict"] for each in found["verdicts"]] == ["bounded"]
    assert found["claim"].endswith("The search ended early: the depth limit of 3 was reached.")
    assert not found["search"]["exhaustive"]


def test_outcome_pending(folder: Path) -> None:
    """The worst verdict is of what may still come, behind the end of a log."""
    log = folder / "log.ndjson"
    rows = [
        '{"process": "p1", "pos": 1, "kind": "broadcast", "msg": "a"}',
        '{"process": "p1", "pos": 2, "kind": "deliver", "sender": "p1", "msg": "a"}',
        '{"process": "p2", "pos": 1, "kind": "start"}',
    ]
    log.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = answered(folder, "audit", str(log), "--as=ReliableBroadcast", "--grace", "9rows")
    assert (found["outcome"], found["as_expected"]) == ("pending", False)
    words = {each["property"]: each["verdict"] for each in found["verdicts"]}
    assert (words["agreement"], words["validity"]) == ("pending", "holds")
    assert found["claim"].startswith("agreement is pending; ")
    assert found["next"] == []


@pytest.mark.slow
def test_proofs_and_mutants(call: Caller, folder: Path) -> None:
    _write(folder, relay=RELAY + CRASH + HONEST)
    proved = call("prove", path="relay.bcast", check="honest")
    assert proved["outcome"] in ("proved", "unknown")
    mutated = call("mutate", path="relay.bcast", check="honest")
    assert mutated["outcome"] in ("holds", "violated", "unknown")
    assert "small changes" in mutated["claim"]


def test_other_tools(call: Caller, folder: Path) -> None:
    """Walks, logs and the library."""
    _write(folder, relay=RELAY + CRASH + HONEST)
    rows = [
        '{"process": "p1", "pos": 1, "kind": "broadcast", "msg": "a"}',
        '{"process": "p1", "pos": 2, "kind": "deliver", "sender": "p1", "msg": "a"}',
        '{"process": "p1", "pos": 3, "kind": "deliver", "sender": "p1", "msg": "a"}',
    ]
    (folder / "log.ndjson").write_text("\n".join(rows) + "\n", encoding="utf-8")

    walked = call("simulate", path="relay.bcast", check="crash", seed=1, walks=200)
    assert walked["outcome"] == "violated"
    assert (call("simulate", path="relay.bcast", check="honest", seed=1, walks=20))[
        "outcome"
    ] == "unknown"
    logged = call("log", logs=["log.ndjson"], interface="ReliableBroadcast")
    assert logged["outcome"] == "violated"
    words = {each["property"]: each["verdict"] for each in logged["verdicts"]}
    assert words["no_duplication"] == "violated" and words["no_creation"] == "holds"
    (folder / "log.ndjson").write_text("\n".join(rows[:2]) + "\n", encoding="utf-8")
    kept = call("log", logs=["log.ndjson"], interface="ReliableBroadcast")
    words = {each["property"]: each["verdict"] for each in kept["verdicts"]}
    assert words["no_duplication"] == "holds"
    (folder / "log.ndjson").write_text('{"process": "p1", "kind": "deliver"}\n', encoding="utf-8")
    unread = call("log", logs=["log.ndjson"], interface="ReliableBroadcast")
    assert (unread["outcome"], unread["problems"][0]["code"]) == ("unusable", "E081")
    both = call("log", logs=["log.ndjson"], interface="A", path="relay.bcast")
    assert both["problems"][0]["code"] == "A001"
    assert "broadcast/eager_reliable" in str((call("library", query="eager"))["lines"])
    assert (call("library", code="N003"))["lines"]
    whole = call("library", query="broadcast/eager_reliable", kind="spec")
    assert any("protocol EagerReliableBroadcast" in line for line in whole["lines"])
