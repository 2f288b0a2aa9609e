"""Keeps the runs that answers name, and shows them."""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any

import msgspec

from checker.assist import arguments as given
from checker.assist.answer import Answer, Next
from checker.assist.commands import Commands
from checker.assist.condense import shown
from checker.assist.refusals import ARGUMENTS, HANDLE, Refused
from checker.records import replace

TRACE = "trace.json"
FILES = "files"
"""The file that names the folder in which the run was found."""
PAGE = 12
"""Steps that are shown at a time."""


def keep(commands: Commands, folder: Path, trace: dict[str, Any]) -> str:
    """Keeps a run that was found in ``folder``; returns its handle."""
    handle = secrets.token_hex(8)
    own = commands.folder / handle
    own.mkdir(mode=0o700)
    (own / TRACE).write_text(json.dumps(trace), encoding="utf-8")
    (own / FILES).write_text(folder.name, encoding="utf-8")
    return handle


async def answer(commands: Commands, asked: given.Run) -> Answer:
    """Returns what is to be shown of a run; raises :class:`Refused` (A001, A004)."""
    own = commands.known(asked.handle)
    if not (own / TRACE).is_file():
        raise Refused(HANDLE, "this handle is not that of a run", "answers have it in `run.handle`")
    trace = json.loads((own / TRACE).read_text(encoding="utf-8"))
    run = shown(trace, asked.handle)
    last = run.steps
    step = asked.step if asked.step is not None else (1 if asked.show == "steps" else last)
    if step > last:
        raise Refused(ARGUMENTS, f"the run has no step {step}", f"steps are 0 to {last}")
    if asked.process is not None and asked.process not in trace["processes"]:
        hint = f"the processes are {', '.join(trace['processes'])}"
        raise Refused(ARGUMENTS, "no such process in this run", hint)
    claim = f"{trace['property'] or 'A run'} of check {trace['check']}: {last} steps."
    found = Answer("shown", claim, run=run)
    if asked.show == "story":
        return found
    if asked.show == "steps":
        return _steps(found, trace, step, asked)
    if asked.show == "why_not" and asked.event is None:
        raise Refused(ARGUMENTS, "`why_not` needs an `event`", "such as `p2 receives DATA(a)`")
    lines = await _explored(commands, own, asked, step)
    return replace(
        found, run=replace(run, story=()), lines=tuple(lines), claim=f"{claim} At {step}:"
    )


def _steps(found: Answer, trace: dict[str, Any], begin: int, asked: given.Run) -> Answer:
    lines, process = [], asked.process
    some = [s for s in trace["steps"] if process is None or s["process"] == process]
    some = [s for s in some if s["number"] >= begin and s["number"]]
    for step in some[:PAGE]:
        lines.append(f"{step['number']}. {step['headline']}")
        changed = [c for c in step["changes"] if not c["quiet"]]
        lines += [
            f"   {c['title']}{' of ' + c['process'] if c['process'] else ''}: "
            f"{c['before']} -> {c['after']}"
            for c in changed
        ]
    assert found.run is not None
    run = replace(found.run, story=())
    if len(some) <= PAGE:
        return replace(found, run=run, lines=tuple(lines))
    more = {**msgspec.to_builtins(asked), "step": some[PAGE]["number"]}
    more = {name: value for name, value in more.items() if value is not None}
    following = Next("run", more, "the steps that follow")
    left = {"steps": len(some) - PAGE}
    return replace(found, run=run, lines=tuple(lines), next=(following,), left_out=left)


async def _explored(commands: Commands, own: Path, asked: given.Run, step: int) -> list[str]:
    """Returns the lines that stepping prints at ``step`` of a run."""
    folder = commands.known((own / FILES).read_text(encoding="utf-8"))
    event = asked.event or ""
    command = {
        "next": "show",
        "state": f"state {asked.process or ''}".strip(),
        "why_not": f"why not {event}",
    }[asked.show]
    words = ["explore", f"--from={own / TRACE}@{step}", "--no-diagram", "-q"]
    output = await commands.run(words, folder, asked.budget.seconds, f"{command}\nquit\n")
    if output.killed:
        return ["nothing was found in time"]
    said = output.out.decode("utf-8", "replace")
    parts = re.split(r"^> .*$", said, flags=re.MULTILINE)
    lines = (parts[1] if len(parts) > 1 else output.err).splitlines()
    return [line.rstrip() for line in lines if line.strip()]
