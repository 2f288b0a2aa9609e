"""A trial of assistants: tasks with known answers, of which they see prose, files and the tools.

An assistant calls the tools of one server (`bivalence mcp`), writes specs below its root, and
answers each question with *yes*, *no* or *cannot say*, and with the check that shows it.  The
grader believes neither: it looks for that check's verdict among the calls, and decides the check
once more on a copy, by a server of its own.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters

HERE = Path(__file__).parent
YES, NO, CANNOT_SAY = "yes", "no", "cannot say"
RIGHT, NOTHING, WRONG = 1, 0, -2
"""Points of a question."""
BUDGET = {"seconds": 50, "states": 10**7}
PARTS = 8
"""The most calls for one check."""
SPEC, LOG = "system.bcast", "log.ndjson"

Answer = dict[str, Any]


@dataclass(frozen=True)
class Question:
    """``needs``: words that the world of sufficient evidence has; ``sizes``: its parameters; ``n``:
    at least so many processes."""

    text: str
    answer: str
    property: str
    protocol: str = ""
    needs: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    n: int = 0


@dataclass(frozen=True)
class Task:
    """``system``: a spec, or ``log``: a log of the library's ``interface``; ``traps``: letters, as
    ``tasks.toml`` says."""

    name: str
    title: str
    traps: tuple[str, ...]
    source: str
    description: str
    questions: tuple[Question, ...]
    system: str = ""
    log: str = ""
    interface: str = ""

    def shown(self) -> Answer:
        """Returns what an assistant is told."""
        return {
            "title": self.title,
            "description": self.description,
            "files": [SPEC] if self.system else [LOG],
            "interface": self.interface,
            "questions": [question.text for question in self.questions],
        }


@dataclass(frozen=True)
class Said:
    """An answer to a question, and the check (of a file below the root) whose verdict shows it."""

    word: str
    path: str = ""
    check: str = ""

    @classmethod
    def read(cls, given: Any) -> Said:
        """Reads what an assistant of any kind has sent; raises ``ValueError``."""
        words = [given.get(key, "") for key in ("word", "path", "check")] if given else [""]
        if len(words) != 3 or not all(isinstance(word, str) for word in words):
            raise ValueError(f"an answer is an object with `word`, `path` and `check`: {given!r}")
        if words[0] not in (YES, NO, CANNOT_SAY):
            raise ValueError(f"an answer is yes, no or cannot say: {words[0]!r}")
        return cls(*words)


@dataclass(frozen=True)
class Score:
    """The points of one question, and why."""

    task: str
    points: int
    why: str
    trapped: tuple[str, ...] = ()


def tasks(names: tuple[str, ...] = ()) -> list[Task]:
    """Returns all tasks, or those called ``names``."""
    found = []
    for each in tomllib.loads((HERE / "tasks.toml").read_text("utf-8"))["task"]:
        asked = tuple(
            Question(**{**one, "needs": tuple(one.get("needs", ()))})
            for one in each.pop("question")
        )
        each["traps"] = tuple(each["traps"])
        found.append(Task(questions=asked, **each))
    return [task for task in found if not names or task.name in names]


class Session:
    """The tools of one server for one task, and what was asked of them.

    ``root``: the folder of the task's files, in which the assistant writes.
    """

    def __init__(self, root: Path, ask: Callable[[str, Answer], Answer]) -> None:
        self.root, self._ask = root, ask
        self.journal: list[tuple[str, Answer, Answer]] = []

    def call(self, tool: str, **arguments: Any) -> Answer:
        """Calls a tool and returns its answer."""
        found = self._ask(tool, arguments)
        self.journal.append((tool, arguments, found))
        return found

    def check(self, path: str, name: str) -> Answer:
        """Calls the tool ``check`` until it has decided (:func:`decided`)."""
        return decided(lambda given: self.call("check", **given), path, name)

    def read(self, name: str) -> str:
        """Returns the text of a file."""
        return self._below(name).read_text("utf-8")

    def write(self, name: str, text: str) -> None:
        """Writes a file below the root; raises ``ValueError`` for any other place."""
        self._below(name).write_text(text, "utf-8")

    def _below(self, name: str) -> Path:
        path = (self.root / name).resolve()
        if path.parent != self.root.resolve():
            raise ValueError(f"{name} is not directly below the root")
        return path


def decided(ask: Callable[[Answer], Answer], path: str, name: str) -> Answer:
    """Asks for a check, and goes on where it ended while it is *unknown*, :data:`PARTS` times."""
    given: Answer = {"path": path, "check": name, "budget": BUDGET}
    found = ask(given)
    for _ in range(PARTS - 1):
        if found["outcome"] != "unknown" or not found["resume"]:
            break
        found = ask({**given, "resume": found["resume"]})
    return found


Assistant = Callable[[Task, Session], list[Said]]
"""What is scored: one answer for each question of the task."""


@contextmanager
def session(task: Task) -> Iterator[Session]:
    """Serves one task from a folder of its own, over stdin and stdout of ``bivalence mcp``."""
    with tempfile.TemporaryDirectory(prefix="trial-") as folder:
        root = Path(folder) / "root"
        root.mkdir()
        for name, text in ((SPEC, task.system), (LOG, task.log)):
            if text:
                (root / name).write_text(text.strip("\n"), "utf-8")  # a torn line has no end
        with serving(root) as ask:
            yield Session(root, ask)


@contextmanager
def serving(root: Path) -> Iterator[Callable[[str, Answer], Answer]]:
    """Yields what calls a tool of a server with this root."""
    words = ["-P", "-m", "checker.cli", "mcp", "--root", str(root)]
    server = StdioServerParameters(command=sys.executable, args=words, env=dict(os.environ))
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):

        def ask(tool: str, arguments: Answer) -> Answer:
            found = portal.call(client.call_tool, tool, arguments).structured_content
            assert found is not None
            return found

        yield ask


# ---- grading ----------------------------------------------------------------------------------


def score(task: Task, assistant: Assistant) -> list[Score]:
    """Lets ``assistant`` answer the questions of ``task``, and grades each answer."""
    with session(task) as given:
        said = assistant(task, given)
        if len(said) != len(task.questions):
            raise ValueError(f"{task.name} has {len(task.questions)} questions")
        return [_graded(task, q, one, given) for q, one in zip(task.questions, said, strict=True)]


def _graded(task: Task, question: Question, said: Said, given: Session) -> Score:
    if said.word == question.answer:
        why = "" if said.word == CANNOT_SAY else _lacking(task, question, said, given)
        return Score(task.name, NOTHING if why else RIGHT, why or "right")
    if said.word == CANNOT_SAY:
        return Score(task.name, NOTHING, "left open")
    return Score(task.name, WRONG, f"{said.word}, but {question.answer} is right", task.traps)


def _lacking(task: Task, question: Question, said: Said, given: Session) -> str:
    """Returns what the evidence of a right answer lacks; empty where it is sufficient."""
    if task.log:
        logged = [found for tool, _, found in given.journal if tool == "log"]
        shown = any(_verdict(found, question) == "violated" for found in logged)
        return "" if shown else "no log was read that shows it"
    wanted = ("violated",) if said.word == NO else ("holds", "proved", "within")
    asked = [
        found
        for tool, arguments, found in given.journal
        if tool in ("check", "prove")
        and (arguments.get("path"), arguments.get("check")) == (said.path, said.check)
        and not arguments.get("set")
    ]
    if not any(_verdict(found, question) in wanted for found in asked):
        return "no call has shown it"
    return _again(question, said, given.root, wanted)


def _again(question: Question, said: Said, root: Path, wanted: tuple[str, ...]) -> str:
    """Decides the check of an answer on a copy; returns what is wrong with it."""
    with tempfile.TemporaryDirectory(prefix="graded-") as folder:
        copy = Path(folder) / "root"
        shutil.copytree(root, copy)
        why = _is_about(question, copy / said.path, said.check)
        if why:
            return why
        with serving(copy) as ask:
            found = decided(lambda given: ask("check", given), said.path, said.check)
    if _verdict(found, question) not in wanted:
        return f"on a copy it is {found['outcome']}: {found['claim']}"
    world = (found["world"] or {}).get("text", "")
    absent = [word for word in question.needs if word.lower() not in world.lower()]
    return f"its world lacks {', '.join(absent)}: {world}" if absent else ""


def _is_about(question: Question, path: Path, name: str) -> str:
    """Returns why the check ``name`` is not about the protocol and the sizes of ``question``."""
    from checker import resources
    from checker.session.load import load_check

    check = load_check(str(path), name, {})
    declared = Path(check.protocol.span.file).resolve()
    shipped = declared.is_relative_to(resources.specs().resolve())
    if not shipped or check.protocol.name != question.protocol:
        return f"it is about another protocol than the library's {question.protocol}"
    sizes = _sizes(check)
    wrong = [f"{key} = {value}" for key, value in question.sizes.items() if sizes[key] != value]
    if sizes["n"] < question.n:
        wrong.append(f"n >= {question.n}")
    return f"it has other sizes than {', '.join(wrong)}" if wrong else ""


def _sizes(check: Any) -> Mapping[str, int]:
    from checker.instantiate.assemble import instantiate
    from checker.properties.formula import ask

    return instantiate(check, {}, ask).sizes.values


def _verdict(found: Answer, question: Question) -> str:
    """Returns the verdict on the question's property that is not the author's own."""
    words = [
        each["verdict"]
        for each in found["verdicts"]
        if each["property"] == question.property and not each["shadows"]
    ]
    return words[0] if words else ""
