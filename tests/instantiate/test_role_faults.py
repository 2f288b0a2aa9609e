"""Bounds of the faults of single roles."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.diagnostics import SpecError
from checker.engines.options import Options
from checker.instantiate.assemble import instantiate
from checker.language.load import load_text
from checker.properties.formula import ask
from checker.results.verdict import Report, Word
from checker.session.pipeline import run_check

LOG = """
protocol Log {
  message PUT
  message ACK
  role client(2) {
    state acks : Nat max 4 = 0
    upon init { send PUT to broker }
    upon receive ACK when acks < 4 { acks := acks + 1 }
  }
  role broker(2) {
    state got : Nat max 4 = 0
    upon receive PUT from c when got < 2 { got := got + 1  send ACK to c }
  }
  property a_broker_stays : always exists b in broker: not FAILED(b)
  property a_client_stays : always exists c in client: not FAILED(c)
  property clients_stay : always forall c in client: not FAILED(c)
  property brokers_stay : always forall b in broker: not FAILED(b)
}
check c of Log {
  faults FAULTS
  links authenticated
  prove a_broker_stays, a_client_stays, clients_stay, brokers_stay
  allow unused
}
"""


def log(faults: str, failed: str = "crashed") -> str:
    return LOG.replace("FAULTS", faults).replace("FAILED", failed)


def report(folder: Path, text: str, **more: object) -> Report:
    path = folder / "log.bcast"
    path.write_text(text, encoding="utf-8")
    return run_check(str(path), "c", Options(**more))  # type: ignore[arg-type]


def held(found: Report) -> str:
    """For each property whether it holds, in order."""
    words = [verdict.word for verdict in found.verdicts]
    assert set(words) <= {Word.HOLDS, Word.VIOLATED}
    return "".join("-+"[word is Word.HOLDS] for word in words)


@pytest.mark.parametrize("engine", ["reference", "native"])
@pytest.mark.parametrize(
    ("faults", "failed", "holds"),
    [
        ("crash <= 1", "crashed", "++--"),
        ("crash <= 1 of broker", "crashed", "+++-"),
        ("crash <= 1 of client", "crashed", "++-+"),
        ("crash <= 2 of broker", "crashed", "-++-"),
        ("crash <= 1 of client, crash <= 1 of broker", "crashed", "++--"),
        ("crash <= 3, crash <= 1 of broker", "crashed", "+---"),
        ("crash <= 2, crash <= 0 of broker", "crashed", "+--+"),
        ("crash <= 1 of broker, recover", "crashed", "+++-"),
        ("crash <= 2 of client, recover of broker", "crashed", "+--+"),
        ("omission <= 1 of broker", "faulty", "+++-"),
        ("omission <= 2, omission <= 1 of client", "faulty", "-+--"),
        ("byzantine <= 1 of client", "faulty", "++-+"),
        ("byzantine <= 2, byzantine <= 1 of broker", "faulty", "+---"),
        ("crash <= 1 of broker, byzantine <= 1 of client", "crashed", "+++-"),
    ],
)
def test_only_members_of_the_role_fail(
    engine: str, faults: str, failed: str, holds: str, tmp_path: Path
) -> None:
    assert held(report(tmp_path, log(faults, failed), engine=engine)) == holds


@pytest.mark.parametrize("kind", ["crash", "omission", "byzantine"])
@pytest.mark.parametrize("bound", [1, 2])
def test_bounds_of_roles_that_limit_nothing_change_nothing(
    kind: str, bound: int, tmp_path: Path
) -> None:
    """The bound of all together is what limits: the systems have the same states."""
    alone = report(tmp_path, log(f"{kind} <= {bound}"), reduce="none")
    both = log(f"{kind} <= {bound}, {kind} <= 2 of client, {kind} <= 2 of broker")
    assert report(tmp_path, both, reduce="none").distinct_states == alone.distinct_states


def test_states_of_two_roles_are_those_of_each_together(tmp_path: Path) -> None:
    """With one crash at most: what has crashed is nobody, a client or a broker."""
    counts = {}
    for faults in ("crash <= 1", "crash <= 1 of client", "crash <= 1 of broker", "crash <= 0"):
        counts[faults] = report(tmp_path, log(faults), reduce="none").distinct_states
    nobody, clients, brokers = (counts[f] for f in list(counts)[::-1][:1] + list(counts)[1:3])
    assert counts["crash <= 1"] == clients + brokers - nobody


def test_members_of_a_role_are_still_interchangeable(tmp_path: Path) -> None:
    for faults in ("crash <= 1 of broker", "crash <= 1 of broker, crash <= 2"):
        found = report(tmp_path, log(faults), reduce="symmetry", audit=True)
        assert "symmetry" in found.reduced.used
        assert found.audit is not None and found.audit.complete


def test_who_does_not_come_back_is_not_correct(tmp_path: Path) -> None:
    """Of a process that is down for good nothing is asked; one that recovers may be correct."""
    text = log("crash <= 1 of broker, RECOVER").replace(
        "  property a_broker_stays",
        "  property up : always forall p in Proc: correct(p) => not crashed(p)\n"
        "  property a_broker_stays",
    )
    text = text.replace("prove a", "prove up, a")
    for recover, word in (
        ("recover", Word.VIOLATED), ("recover of broker", Word.VIOLATED),
        ("recover of client", Word.HOLDS),
    ):  # fmt: skip
        found = report(tmp_path, text.replace("RECOVER", recover), engine="reference")
        assert found.verdicts[0].word is word


def test_the_report_says_who_fails(tmp_path: Path) -> None:
    found = report(tmp_path, log("crash <= 1 of broker, recover of broker"))
    assert "only processes of role `broker` have crash faults" in found.notes
    assert "only processes of role `broker` recover" in found.notes


def test_bounds_of_roles_can_be_set(tmp_path: Path) -> None:
    settings = {"crash": "1 of client"}
    assert held(report(tmp_path, log("crash <= 2 of broker"), settings=settings)) == "++-+"
    assert held(report(tmp_path, log("crash <= 2 of broker"), settings={"crash": "1"})) == "++--"


def refused(faults: str) -> list[str]:
    def made() -> None:
        (check,) = load_text(log(faults), "log.bcast").checks
        instantiate(check, {}, ask)

    with pytest.raises(SpecError) as raised:
        made()
    return [f"{d.code} {d.message}" for d in raised.value.diagnostics]


def test_what_can_not_be() -> None:
    assert refused("crash <= 1 of brokers") == ["C005 no role is called `brokers`"]
    assert refused("crash <= 1 of broker, crash <= 2 of broker") == [
        "C009 duplicate `crash` of `broker`"
    ]
    assert refused("crash <= 3 of broker") == [
        "E003 crash <= 3 is impossible with 2 of role `broker`"
    ]
    assert refused("partition of broker") == [
        "C032 `partition` applies to all processes, not to a role"
    ]
    assert refused("crash of broker") == ["C010 `crash` needs a bound"]
    assert refused("crash <= 1, recover of broker, recover") == ["C009 duplicate `recover`"]
