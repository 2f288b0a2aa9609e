"""Calls the hooks, in a process of their own: one that hangs is killed after ten seconds."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from .failures import CannotRun
from .processes import die_with_parent

LIMIT = 10.0
"""Seconds that a call of a hook may take."""
MOST_PORTS = 9
"""Ports that a node may have."""
NEEDED = ("nodes", "command", "ready", "log", "request")
OPTIONAL = ("fire", "frames", "encode", "dialer")
SETTINGS = {
    "OWN_COPIES": True, "LOGGED": ["request", "receive", "indicate", "recover"], "HELD": True,
    "PORTS": 1, "START": 20.0,
}  # fmt: skip
"""What ``hooks.py`` may set, with what it is otherwise."""


class Hooks:
    """The hooks of ``file``, in a child process.

    Raises :class:`CannotRun`: E135 for a hook that is missing or fails, E136 for one that hangs.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        if not file.is_file():
            raise CannotRun("E135", f"there are no hooks: {file}")
        here, there = os.pipe(), os.pipe()
        sys.stdout.flush()
        self._pid = os.fork()
        if not self._pid:
            _serve(file, here[0], there[1], (here[1], there[0]))
        os.close(here[0])
        os.close(there[1])
        self._questions, self._answers = os.fdopen(here[1], "wb"), there[0]
        self._read = b""
        self.has, self.settings = set[str](), dict[str, Any]()
        offered = self._ask("", [])
        self.has, self.settings = set(offered["has"]), offered["settings"]
        for name in NEEDED:
            if name not in self.has:
                raise CannotRun("E135", f"{file.name} has no function `{name}`")
        for name, usual in SETTINGS.items():
            if type(given := self.settings[name]) is not type(usual):
                expected = f"has to be a {type(usual).__name__}, and is {given!r:.80}"
                raise CannotRun("E135", f"{file.name}: {name} {expected}")
        if not 1 <= self.ports <= MOST_PORTS:
            raise CannotRun("E135", f"{file.name}: PORTS has to be from 1 to {MOST_PORTS}")

    @property
    def level(self) -> int:
        """0: bytes; 1: messages are told apart; 2: they stand alone, and can be written anew."""
        return ("frames" in self.has) + ("frames" in self.has and "encode" in self.has)

    @property
    def ports(self) -> int:
        """On how many ports a node listens."""
        return int(self.settings["PORTS"])

    @property
    def held(self) -> bool:
        """Whether messages are held until the run has them arrive."""
        return bool(self.settings["HELD"])

    def _ask(self, name: str, arguments: list[Any]) -> Any:
        self._questions.write(json.dumps([name, arguments]).encode() + b"\n")
        try:
            self._questions.flush()
            answer = json.loads(self._line(name))
        except (BrokenPipeError, ValueError):
            raise CannotRun("E135", f"{self._place(name)} ended the process it ran in") from None
        if "error" in answer:
            raise CannotRun("E135", f"{self.file.name}{answer['error']}")
        return answer["result"]

    def _line(self, name: str) -> bytes:
        until = time.monotonic() + LIMIT
        while b"\n" not in self._read:
            if not select.select([self._answers], [], [], max(0.0, until - time.monotonic()))[0]:
                raise CannotRun("E136", f"{self._place(name)} takes longer than {LIMIT:g} s")
            data = os.read(self._answers, 1 << 16)
            if not data:
                raise ValueError
            self._read += data
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _place(self, name: str) -> str:
        return f"{self.file.name}: {name}()" if name else f"{self.file.name}: its import"

    def _wrong(self, name: str, expected: str, given: object) -> CannotRun:
        said = f"{self._place(name)} must return {expected}, and returned {given!r:.80}"
        return CannotRun("E135", said)

    def nodes(self) -> list[str]:
        """The names of the nodes, in the order of the trace's processes."""
        found = self._ask("nodes", [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self._wrong("nodes", "a list of names", found)
        return found

    def words(self, name: str, *arguments: Any) -> list[str] | None:
        """The command that a hook returns; ``None``: it returns none."""
        found = self._ask(name, list(arguments))
        if found is None:
            return None
        if not isinstance(found, list) or not found:
            raise self._wrong(name, "a command, as a list of words", found)
        return [str(word) for word in found]

    def command(self, name: str, *arguments: Any) -> list[str]:
        """The command that a hook has to return."""
        words = self.words(name, *arguments)
        if words is None:
            raise self._wrong(name, "a command, as a list of words", None)
        return words

    def log(self, node: str) -> str:
        """The log of a node, relative to the folder of the try."""
        found = self._ask("log", [node])
        if not isinstance(found, str) or not found:
            raise self._wrong("log", "the name of a file", found)
        return found

    def frames(self, data: bytes) -> list[tuple[int, str, dict[str, Any]]]:
        """The messages with which ``data`` begins: length in bytes, name, fields."""
        found = self._ask("frames", [{"bytes": base64.b64encode(data).decode()}])
        try:
            read = [(int(size), str(name or ""), dict(fields)) for size, name, fields in found]
        except (TypeError, ValueError):
            raise self._wrong("frames", "a list of (length, name, fields)", found) from None
        if any(size < 1 for size, _, _ in read) or sum(size for size, _, _ in read) > len(data):
            raise self._wrong("frames", f"lengths that {len(data)} bytes have", found)
        return read

    def dialer(self, data: bytes, known: Sequence[str]) -> str | None:
        """Which of the nodes ``known`` has made the connection that begins with ``data``; empty
        text: none of them, and ``None``: ``data`` does not say yet."""
        found = self._ask("dialer", [{"bytes": base64.b64encode(data).decode()}])
        if found is None or (isinstance(found, str) and found in ("", *known)):
            return found
        raise self._wrong("dialer", 'the name of a node, "" or None', found)

    def encode(self, sender: str, name: str, fields: dict[str, str]) -> bytes:
        """A message of ``sender`` as it is on the wire."""
        found = self._ask("encode", [sender, name, fields])
        if not isinstance(found, dict) or "bytes" not in found:
            raise self._wrong("encode", "bytes", found)
        return base64.b64decode(found["bytes"])


def _serve(file: Path, questions: int, answers: int, others: tuple[int, ...]) -> None:
    """Answers questions until there are no more; never returns."""
    die_with_parent()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for its parent
    for each in others:
        os.close(each)
    os.dup2(2, 1)  # what a hook prints is no answer
    module: ModuleType | None = None
    with os.fdopen(questions, "rb") as lines, os.fdopen(answers, "wb") as out:
        for line in lines:
            name, arguments = json.loads(line)
            try:
                module = module or _imported(file)
                answer = {"result": _answer(module, name, arguments)}
            except BaseException as problem:
                answer = {"error": _where(file, name, problem)}
            out.write(json.dumps(answer).encode() + b"\n")
            out.flush()
    os._exit(0)


def _imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hooks", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _answer(module: ModuleType, name: str, arguments: list[Any]) -> Any:
    if not name:
        has = [hook for hook in (*NEEDED, *OPTIONAL) if callable(getattr(module, hook, None))]
        settings = {key: getattr(module, key, value) for key, value in SETTINGS.items()}
        return {"has": has, "settings": settings}
    given = [
        base64.b64decode(each["bytes"]) if isinstance(each, dict) and "bytes" in each else each
        for each in arguments
    ]
    found = getattr(module, name)(*given)
    if isinstance(found, bytes):
        return {"bytes": base64.b64encode(found).decode()}
    json.dumps(found)
    return found


def _where(file: Path, name: str, problem: BaseException) -> str:
    """Returns ``:12: command(): KeyError: 'p9'``, with the last line of ``file`` that ran."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(problem.__traceback__)
        if frame.filename == str(file)
    ]
    number = getattr(problem, "lineno", None) if isinstance(problem, SyntaxError) else None
    at = number or (lines[-1] if lines else None)
    place = f":{at}" if at else ""
    called = f"{name}(): " if name else ""
    return f"{place}: {called}{type(problem).__name__}: {' '.join(str(problem).split())}"
