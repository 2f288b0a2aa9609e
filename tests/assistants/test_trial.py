"""The trial of assistants: its tasks are answerable, and the scripts that take short cuts fail."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.assistants.__main__ import main, summary
from tests.assistants.baselines import FAILING, GIVEN, Command, reference
from tests.assistants.trial import (
    CANNOT_SAY,
    HERE,
    NO,
    NOTHING,
    RIGHT,
    SPEC,
    WRONG,
    YES,
    Said,
    Score,
    Session,
    Task,
    score,
    session,
    tasks,
)
from tests.selection import first_by_default

NAMES = [task.name for task in tasks()]
QUICK = ("torn-log",)


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def points(task: Task, assistant: Callable[[Task, Session], list[Said]]) -> list[int]:
    return [one.points for one in score(task, assistant)]


def one_task(name: str) -> Task:
    (task,) = tasks((name,))
    return task


def test_every_task_has_a_source_a_trap_and_a_reference() -> None:
    found = tasks()
    assert len(found) == len(set(NAMES)) == 28
    assert {trap for task in found for trap in task.traps} == set("HVWUFNXCBI")
    checks = tomllib.loads((HERE / "reference.toml").read_text("utf-8"))
    for task in found:
        assert task.source and task.description and task.questions
        assert bool(task.system) != bool(task.log)
        if task.system:
            assert len(checks[task.name]) == len(task.questions)
        answers = {question.answer for question in task.questions}
        assert NO in answers, "a script that always says yes fails everywhere"
        assert not {"answer", "traps", "source"} & task.shown().keys(), "it is not told"


@pytest.mark.parametrize("name", QUICK)
def test_the_reference_is_right(name: str) -> None:
    task = one_task(name)
    assert points(task, reference) == [RIGHT] * len(task.questions)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name not in QUICK])
def test_the_reference_is_right_of_all(name: str) -> None:
    task = one_task(name)
    assert points(task, reference) == [RIGHT] * len(task.questions)


@pytest.mark.parametrize("script", first_by_default(sorted(FAILING), 2))
def test_short_cuts_spring_traps(script: str) -> None:
    """The given check is honest, or weaker than its name, so each of them says yes."""
    found = score(one_task("best-effort-as-reliable"), FAILING[script])
    assert any(one.points == WRONG and one.trapped for one in found)
    assert not any(one.points == RIGHT for one in found)


TOLD = {
    "checked-lock": "a process that pauses while clocks go on",
    "room-for-everybody": "no run could violate room",
    "variant-without-relay": "a process that crashes",
    "no-crash-at-this-size": "a crash that is allowed and never happens",
}


@pytest.mark.parametrize("name", first_by_default(sorted(TOLD), 2))
def test_the_first_answer_warns(name: str) -> None:
    """Whoever reads the answer about the given check learns what it leaves out."""
    with session(one_task(name)) as given:
        found = given.check(SPEC, GIVEN)
    assert TOLD[name] in json.dumps(found)


@pytest.mark.slow
@pytest.mark.parametrize("script", FAILING)
def test_short_cuts_fail(script: str) -> None:
    found = [one for task in tasks() for one in score(task, FAILING[script])]
    wrong = sum(one.points == WRONG for one in found)
    assert wrong >= len(found) // 2, summary(found)
    assert sum(one.points for one in found) < 0


def test_a_right_word_without_evidence_earns_nothing() -> None:
    task = one_task("best-effort-as-reliable")
    assert points(task, lambda *_: [Said(NO)]) == [NOTHING]
    assert points(task, lambda *_: [Said(CANNOT_SAY)]) == [NOTHING]


@pytest.mark.slow
def test_evidence_of_something_else_earns_nothing() -> None:
    """The check that was asked is of a kinder world; the protocol is another's under the same
    name."""
    task = one_task("best-effort-as-reliable")

    def lossy(_: Task, given: Session) -> list[Said]:
        text = 'import "broadcast/best_effort"\ncheck c of BasicBroadcast { n = 3  links lossy'
        given.write("c.bcast", f"{text}  clients {{ p1 broadcasts a }}  prove agreement }}\n")
        assert given.check("c.bcast", "c")["outcome"] == "violated"
        return [Said(NO, "c.bcast", "c")]

    (found,) = score(task, lossy)
    assert (found.points, "lacks crash" in found.why) == (NOTHING, True)

    def mine(_: Task, given: Session) -> list[Said]:
        text = """protocol BasicBroadcast implements ReliableBroadcast {
          message M(m: Msg)
          upon request broadcast(m) { send M(m) to all }
          upon receive M(m) from p { deliver(p, m) }
        }
        check c of BasicBroadcast {
          n = 3  faults crash <= 1  clients { p1 broadcasts a }  prove agreement
        }
        """
        given.write("c.bcast", text)
        assert given.check("c.bcast", "c")["outcome"] == "violated"
        return [Said(NO, "c.bcast", "c")]

    (found,) = score(task, mine)
    assert (found.points, "another protocol" in found.why) == (NOTHING, True)


@pytest.mark.slow
def test_a_verdict_is_not_believed_where_the_file_was_changed_afterwards() -> None:
    task = one_task("best-effort-as-reliable")

    def changed(task: Task, given: Session) -> list[Said]:
        said = reference(task, given)
        text = given.read("answer.bcast")
        given.write("answer.bcast", text.replace("faults crash <= 1", ""))
        return said

    (found,) = score(task, changed)
    assert (found.points, found.why.startswith("on a copy it is holds")) == (NOTHING, True)


@pytest.mark.slow
def test_any_program_can_be_scored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It asks with lines of JSON, and gets one for each."""
    body = "faults crash <= 1  n = 3  clients { p1 broadcasts a }  prove agreement"
    text = f'import "broadcast/best_effort"\ncheck c of BasicBroadcast {{ {body} }}\n'
    asked = [
        {"read": SPEC},
        {"write": "../out.bcast", "text": ""},
        {"tool": "look"},
        {"write": "c.bcast", "text": text},
        {"tool": "check", "arguments": {
            "path": "c.bcast", "check": "c", "budget": {"seconds": 50, "states": 10**6},
        }},
    ]  # fmt: skip
    seen, program = tmp_path / "seen.jsonl", tmp_path / "assistant.py"
    program.write_text(
        f"""import json, sys
seen = [json.loads(sys.stdin.readline())]
for line in {asked!r}:
    print(json.dumps(line), flush=True)
    seen.append(json.loads(sys.stdin.readline()))
print(json.dumps({{"answers": [{{"word": "no", "path": "c.bcast", "check": "c"}}]}}))
open({str(seen)!r}, "w").write(json.dumps(seen))
"""
    )
    words = ["--task", "best-effort-as-reliable", sys.executable, str(program)]
    assert main(words) == 0
    assert "1 of 1 right, 0 wrong, 1 points; traps sprung: none" in capsys.readouterr().out
    task, text, outside, unfinished, written, found = json.loads(seen.read_text())
    assert task["task"]["questions"] and "Writing a spec" in task["skill"]
    assert "check given" in text["text"]
    assert "root" in outside["error"] and "tool" in unfinished["error"]
    assert written == {"written": "c.bcast"} and found["outcome"] == "violated"


def test_a_program_that_ends_early_leaves_everything_open() -> None:
    task = one_task("best-effort-as-reliable")
    assert points(task, Command([sys.executable, "-c", "pass"])) == [NOTHING]


def test_answers_of_programs_are_read_strictly() -> None:
    assert Said.read({"word": YES}) == Said(YES)
    for wrong in ({}, {"word": "maybe"}, {"word": YES, "path": 1}, {"answer": YES}):
        with pytest.raises(ValueError, match="an answer is"):
            Said.read(wrong)


def test_the_sums_count_traps() -> None:
    found = [
        Score("a", RIGHT, ""),
        Score("b", WRONG, "", ("H", "N")),
        Score("c", WRONG, "", ("H",)),
    ]
    assert summary(found) == "1 of 3 right, 2 wrong, -3 points; traps sprung: H 2, N 1"
