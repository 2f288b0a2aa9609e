"""The eight tools."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from checker.assist import arguments as given
from checker.assist import library, recorded_runs
from checker.assist.answer import (
    MOST,
    ROOM,
    SUCCESSES,
    Answer,
    Declared,
    Next,
    Problem,
    Unasked,
    worst,
)  # fmt: skip
from checker.assist.commands import Commands, Output
from checker.assist.condense import (
    answer_of_check,
    answer_of_log,
    answer_of_mutation,
    claim_of,
    next_of,
    problems_of,
    unproved,
    unusable,
)  # fmt: skip
from checker.assist.judged import judged_copy
from checker.assist.refusals import ARGUMENTS, BASELINE, INTERNAL, Refused
from checker.assist.snapshot import Root
from checker.diagnostics.english import count
from checker.records import replace

SEARCH, EXPLAIN = 0.85, 0.10
"""The parts of the time that a search and its explanation get."""
MEMORY = "4G"
LOOK = given.Budget(seconds=20, states=1)
"""What reading a spec may cost."""
CALL = "call.json"
"""The file that holds the arguments of a call whose search can be resumed."""
KEPT = "search"
"""The folder of such a search."""


class Tools:
    """The tools of one server, for the files below ``root``."""

    def __init__(self, root: Root, commands: Commands) -> None:
        self._root, self._commands = root, commands

    async def call(self, tool: str, arguments: Any) -> Answer:
        """Returns the answer of a tool; raises :class:`Refused`."""
        asked = given.arguments_of(tool, arguments)
        answer: Answer = await getattr(self, f"_{tool}")(asked)
        return answer

    def note(self, text: str) -> None:
        """Adds a text to the server's log."""
        with open(self._commands.log, "a", encoding="utf-8", errors="replace") as log:
            log.write(f"{text}\n")

    # ---- reading ----------------------------------------------------------------------------

    async def _look(self, asked: given.Look) -> Answer:
        folder = self._commands.new_folder()
        document = await self._declared(self._root.spec(asked.path, folder), folder)
        problems = problems_of(document)
        if not document["checks"]:
            return unusable(problems or (Problem("", "the file has no check"),))
        checks = tuple(
            Declared(**{name: each[name] for name in Declared.__struct_fields__})
            for each in document["checks"]
        )
        if asked.offset and asked.offset >= len(checks):
            many = count(len(checks), "check")
            raise Refused(ARGUMENTS, f"the file has {many}", f"`offset` is below {len(checks)}")
        missing = {u["clause"]: u for each in document["checks"] for u in each["not_asked"]}
        hidden = sorted({name for each in document["checks"] for name in each["hides"]})
        claim = f"{count(len(checks), 'check')} declared; nothing was run."
        if hidden:
            claim = f"{', '.join(hidden)}: the author's own, not the library's. {claim}"
        shown = list(checks[asked.offset : asked.offset + MOST["checks"]])
        while len(shown) > 1 and len(msgspec.json.encode(shown)) > ROOM:
            shown.pop()
        end = asked.offset + len(shown)
        more = Next("look", {"path": asked.path, "offset": end}, "the checks that follow")
        open_ = dict.fromkeys(unproved(each) for each in document["checks"] if each["unproved"])
        claim = " ".join((claim, *(f"{said}." for said in open_)))
        return Answer(
            "shown", claim, checks=tuple(shown), problems=problems,
            next=(more,) if end < len(checks) else (),
            left_out={"checks": len(checks) - end} if end < len(checks) else {},
            not_asked=tuple(
                Unasked(u["what"], u["excluded"], u["clause"]) for u in missing.values()
            ),
        )  # fmt: skip

    async def _declared(self, path: str, folder: Path) -> dict[str, Any]:
        output = await self._commands.run(["look", path], folder, LOOK.seconds)
        found: dict[str, Any] = _document(output, {"checks": [], "diagnostics": []})
        return found

    async def _library(self, asked: given.Library) -> Answer:
        return library.answer(asked)

    # ---- deciding ---------------------------------------------------------------------------

    async def _check(self, asked: given.Check) -> Answer:
        if asked.resume is not None:
            return await self._resume(asked)
        folder = self._commands.new_folder()
        path = self._root.spec(asked.path, folder)
        words = _check_words(asked, path)
        kept = folder / KEPT
        answer = await self._search([*words, f"--checkpoint={KEPT}"], folder, asked.budget)
        if answer.outcome == "unknown" and kept.is_dir():
            call = {"path": path, "asked": msgspec.to_builtins(asked)}
            (folder / CALL).write_text(json.dumps(call), encoding="utf-8")
            answer = replace(answer, resume=folder.name)
        answer = await self._judged(answer, asked, path, folder)
        answer = await self._compared(answer, asked, path, folder)
        return await self._with_next(answer, asked, path, folder)

    async def _with_next(
        self, answer: Answer, asked: given.Check, path: str, folder: Path
    ) -> Answer:
        """Returns ``answer`` with the calls that it suggests; the claim names properties that the
        protocol declares and nobody asks."""
        judges: dict[str, list[str]] = {}
        if answer.outcome in SUCCESSES and asked.judge is None and not asked.only:
            document = await self._declared(path, folder)
            about = next(c for c in document["checks"] if c["check"] == asked.check)
            judges = about["judges"]
            if about["unproved"]:
                said = f"{answer.claim} {unproved(about)}."
                answer = replace(answer, claim=said)
        return replace(answer, next=next_of(answer, msgspec.to_builtins(asked), judges))

    async def _resume(self, asked: given.Check) -> Answer:
        """Continues an earlier search, of the files as they were then."""
        folder = self._commands.known(asked.resume or "")
        try:
            call = json.loads((folder / CALL).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise Refused(
                ARGUMENTS, "`resume` names no search that can be resumed", "check again"
            ) from None
        first = msgspec.convert(call["asked"], given.Check)
        if (first.path, first.check) != (asked.path, asked.check):
            raise Refused(ARGUMENTS, "`resume` is of another check", f"check {first.check}")
        same = replace(first, budget=asked.budget)
        words = [*_check_words(same, call["path"]), f"--resume={KEPT}", "--keep"]
        answer = await self._search(words, folder, asked.budget)
        if answer.outcome == "unknown" and (folder / KEPT).is_dir():
            answer = replace(answer, resume=folder.name)
        answer = await self._judged(answer, same, call["path"], folder)
        return await self._with_next(answer, same, call["path"], folder)

    async def _search(self, words: list[str], folder: Path, budget: given.Budget) -> Answer:
        output = await self._commands.run(words, folder, budget.seconds)
        document = _document(output, None)
        if document is None:
            return _no_report(output)
        return answer_of_check(document, self._keep_runs(document, folder))

    def _keep_runs(self, document: dict[str, Any], folder: Path) -> dict[str, str]:
        """Keeps the runs of a document; returns their handles by property."""
        handles = {}
        for report in document["reports"]:
            for verdict in report["verdicts"]:
                if verdict.get("trace"):
                    handles[verdict["property"]] = recorded_runs.keep(
                        self._commands, folder, verdict["trace"]
                    )
        return handles

    async def _compared(
        self, answer: Answer, asked: given.Check, path: str, folder: Path
    ) -> Answer:
        """Returns ``answer`` with the differences from the baseline."""
        if not asked.baseline:
            return answer
        document = await self._declared(path, folder)
        digests = {c["check"]: c["digests"] for c in document["checks"]}
        now: dict[str, str] = digests.get(asked.check, {})
        gone = [f"{name} is gone" for name in asked.baseline if name not in now]
        changed = [f"{n} has changed" for n, d in asked.baseline.items() if now.get(n, d) != d]
        told = tuple(
            Problem(BASELINE, said, hint="say so with the result") for said in (*gone, *changed)
        )
        if not told:
            return answer
        claim = f"Not what it was: {', '.join(p.message for p in told)}. {answer.claim}"
        return replace(answer, claim=claim, problems=(*told, *answer.problems))

    async def _judged(self, answer: Answer, asked: given.Check, path: str, folder: Path) -> Answer:
        """Returns an answer with the verdicts of the library's properties that the file replaces,
        or that ``judge`` asks; the worse verdict counts."""
        hidden = {v.property for v in answer.verdicts if v.shadows}
        if (not hidden and asked.judge is None) or answer.outcome == "unusable":
            return answer
        document = await self._declared(path, folder)
        judged = judged_copy(folder, path, asked.check, document, asked.judge)
        if judged is None:
            problem = Problem(ARGUMENTS, f"the library has no interface {asked.judge}")
            raise Refused(problem.code, problem.message, "`library` with kind interface lists them")
        names, where = judged
        words = [*_check_words(replace(asked, only=sorted(names)), where)]
        other = await self._search(words, folder, asked.budget)
        if other.outcome == "unusable":
            said = tuple(
                replace(p, message=f"the library's properties can't be asked: {p.message}")
                for p in other.problems
            )
            unknown = worst([answer.outcome, "unknown"])
            return replace(answer, outcome=unknown, problems=(*said, *answer.problems))
        more = tuple(
            replace(v, property=f"{v.property} (library)", expected="holds") for v in other.verdicts
        )
        joined = replace(
            answer,
            outcome=worst([answer.outcome, other.outcome]),
            as_expected=answer.as_expected and all(v.verdict in ("holds", "proved") for v in more),
            verdicts=(*more, *answer.verdicts),
            run=other.run or answer.run,
        )
        return replace(joined, claim=claim_of(joined))

    async def _prove(self, asked: given.Prove) -> Answer:
        folder = self._commands.new_folder()
        path = self._root.spec(asked.path, folder)
        words = ["prove", f"{path}::{asked.check}", "--json=-", "-q", "--no-tight"]
        words += [f"--budget={asked.budget.seconds * SEARCH}"]
        words += ["--all-n"] if asked.all_n else [f"--method={asked.method}"]
        answer = await self._search(words, folder, asked.budget)
        return replace(answer, next=next_of(answer, msgspec.to_builtins(asked)))

    async def _simulate(self, asked: given.Simulate) -> Answer:
        folder = self._commands.new_folder()
        path = self._root.spec(asked.path, folder)
        words = ["simulate", f"{path}::{asked.check}", "--json=-", "-q", "--threads=1"]
        words += [f"--seed={asked.seed}", f"--walks={asked.walks}", f"--memory={MEMORY}"]
        words += _times(asked.budget)
        words += [] if asked.after is None else [f"--after={asked.after}"]
        answer = await self._search(words, folder, asked.budget)
        return replace(answer, next=next_of(answer, msgspec.to_builtins(asked)))

    async def _mutate(self, asked: given.Mutate) -> Answer:
        folder = self._commands.new_folder()
        path = self._root.spec(asked.path, folder)
        words = ["mutate", f"{path}::{asked.check}", "--json=-", "-q", "--jobs=1"]
        words += [f"--timeout={max(0.5, asked.budget.seconds / 20)}", f"--memory={MEMORY}"]
        output = await self._commands.run(words, folder, asked.budget.seconds)
        document = _document(output, None)
        return _no_report(output) if document is None else answer_of_mutation(document)

    async def _log(self, asked: given.Log) -> Answer:
        by_check = asked.path is not None and asked.check is not None
        if by_check == (asked.interface is not None) or (asked.path is None) != (
            asked.check is None
        ):
            raise Refused(ARGUMENTS, "name `path` and `check`, or `interface`", "one of the two")
        folder = self._commands.new_folder()
        logs = [self._root.file(log, folder) for log in asked.logs]
        words = ["--json=-", "-q", f"--memory={MEMORY}"]
        words += [f"--timeout={asked.budget.seconds * SEARCH}"]
        if asked.mapping is not None:
            words.append(f"--mapping={self._root.file(asked.mapping, folder)}")
        if by_check:
            path = self._root.spec(asked.path or "", folder)
            words += [f"--max-states={asked.budget.states}", "--jobs=1"]
            words = ["conform", f"{path}::{asked.check}", *logs, *words]
        else:
            words = ["audit", *logs, f"--as={asked.interface}", *words]
        output = await self._commands.run(words, folder, asked.budget.seconds)
        document = _document(output, None)
        if document is None:
            return _no_report(output)
        if by_check:
            return answer_of_log(document)
        return answer_of_check(document, self._keep_runs(document, folder))

    # ---- runs -------------------------------------------------------------------------------

    async def _run(self, asked: given.Run) -> Answer:
        return await recorded_runs.answer(self._commands, asked)


def _check_words(asked: given.Check, path: str) -> list[str]:
    words = ["check", f"{path}::{asked.check}", "--json=-", "-q", "--threads=1"]
    words += [f"--max-states={asked.budget.states}", f"--memory={MEMORY}", *_times(asked.budget)]
    words += [f"--set={name}={value}" for name, value in asked.set.items()]
    return words + [f"--only={name}" for name in asked.only]


def _times(budget: given.Budget) -> list[str]:
    return [f"--timeout={budget.seconds * SEARCH}", f"--explain={budget.seconds * EXPLAIN}"]


def _document(output: Output, otherwise: Any) -> Any:
    """Returns the document that a command wrote; ``otherwise`` if it wrote none."""
    try:
        found = json.loads(output.out)
    except (ValueError, RecursionError):
        return otherwise
    return found if isinstance(found, Mapping) and "diagnostics" in found else otherwise


def _no_report(output: Output) -> Answer:
    """Returns the answer where a command has written no document."""
    if output.late or output.killed or "unknown" in output.err or "memory" in output.err:
        return Answer("unknown", "Nothing was decided in time: the command was ended.")
    usage = re.search(r"^(?:Usage|usage)?.*?[Ee]rror: (.*)$", output.err, re.MULTILINE)
    if usage is None:
        raise Refused(INTERNAL, "the command ended without a report")
    return unusable((Problem(ARGUMENTS, usage[1]),))


def new_number() -> str:
    """Returns the number of an internal error, by which the server's log has it."""
    return secrets.token_hex(4)
