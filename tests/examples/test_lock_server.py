"""Logs of a lock server, in the format of a public example: right ones conform, and a wrong line is
named."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.logs.read_mapping import read_mapping
from checker.results.conformance import Conformance
from checker.results.verdict import Word

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "lock_server"
PUBLIC = FOLDER.parents[2] / "shared" / "data" / "traces" / "lock-server"


def line(what: str, client: int, kind: str, number: int, result: str, stands: str) -> str:
    return (
        f"2026-01-01 00:00:00.{number:06d} [main] INFO  StructuredLogger - : MessageType={what}, "
        f"ClientID={client}, LockID=0, TransactionType={kind}, TransactionID={number}, "
        f"Result={result}, LockStatus={stands}, Message=null"
    )


def log_of(seed: int, requests: int) -> list[str]:
    """Returns the log of a right server: two lines for each request."""
    draw, holder, found = random.Random(seed), None, []
    for number in range(requests):
        client, kind = draw.randrange(3), draw.choice(("LOCK", "RELEASE"))
        succeeds = holder == (None if kind == "LOCK" else client)
        if succeeds:
            holder = client if kind == "LOCK" else None
        stands = "FREE" if holder is None else "LOCKED"
        found.append(line("REQUEST", client, kind, number, "null", "null"))
        answer = "SUCCESS" if succeeds else "FAIL"
        found.append(line("RESPONSE", client, kind, number, answer, stands))
    return found


def judged(lines: list[str], folder: Path) -> Conformance:
    log = folder / "server.log"
    log.write_text("the server begins\n" + "".join(f"{each}\n" for each in lines), encoding="utf-8")
    spec, names = str(FOLDER / "lock_server.bcast"), read_mapping(str(FOLDER / "names.toml"))
    return conform(Asked(spec, "server", Options(), names), [str(log)])


def test_a_right_log_conforms(tmp_path: Path) -> None:
    assert judged(log_of(1, 40), tmp_path).word is Word.HOLDS


def other_result(text: str) -> str:
    """The answer is the other one."""
    if "SUCCESS" in text:
        return text.replace("SUCCESS", "FAIL")
    return text.replace("FAIL", "SUCCESS")


def other_state(text: str) -> str:
    """The lock stands the other way after it."""
    if "LOCKED" in text:
        return text.replace("LOCKED", "FREE")
    return text.replace("FREE", "LOCKED")


def another_number(text: str) -> str:
    """It has the number of another request."""
    return text.replace("TransactionID=", "TransactionID=1")


def twice(text: str) -> str:
    """It is given a second time."""
    return f"{text}\n{text}"


@pytest.mark.parametrize("change", [other_result, other_state, another_number, twice])
def test_a_wrong_answer_is_named(change: Callable[[str], str], tmp_path: Path) -> None:
    lines = log_of(2, 30)
    at = random.Random(change.__name__).randrange(15) * 2 + 1  # an answer
    lines[at] = change(lines[at])
    report = judged(lines, tmp_path)
    assert report.word is Word.VIOLATED
    assert report.obstacles[0].line.number == at + 2 + (change is twice)  # after the first line


@pytest.mark.slow
@pytest.mark.skipif(not PUBLIC.is_dir(), reason="the public logs are not here")
@pytest.mark.parametrize(("name", "number"), [("happy", 0), ("error", 1876)])
def test_the_public_logs(name: str, number: int) -> None:
    spec, names = str(FOLDER / "lock_server.bcast"), read_mapping(str(FOLDER / "names.toml"))
    log = str(PUBLIC / f"lock_server_log_10000_1_{name}.txt.gz")
    report = conform(Asked(spec, "server", Options(), names), [log])
    assert report.word is (Word.VIOLATED if number else Word.HOLDS)
    assert [each.line.number for each in report.obstacles[:1]] == [number] * bool(number)
