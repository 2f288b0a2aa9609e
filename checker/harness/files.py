"""The folder of a harness: the schedule of its trace, the hooks, and what plays them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from checker.diagnostics import Diagnostic, SpecError
from checker.diagnostics.visible import visible
from checker.engines.python_children import command
from checker.harness.runtime import acts
from checker.harness.schedule import schedule
from checker.results.trace import Trace
from checker.session.trace_header import settings_of
from checker.words.steps import headline

MARK = "schedule.py"
"""The file that marks a folder as a harness."""
HOOKS = "hooks.py"
IMPORT = re.compile(r"^\s*import\b", re.MULTILINE)
LINEARIZABLE = r"\blinearizable\s+as\s+(\w+)"
RUN = '''\
"""Makes the counterexample in `schedule.py` happen, with the hooks in `hooks.py`.

    python run.py --plan     what can be forced, what is awaited, what is beyond reach
    python run.py            try it, ten times at most (--tries N)
    python run.py --help     more options

Exit codes: 1 it happened; 3 it did not; 2 the harness can't run as it is set up.
"""

import sys
from pathlib import Path

from harness.run import main

if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent))
'''


def write_harness(trace: Trace, folder: Path) -> list[str]:
    """Writes the harness of ``trace`` to ``folder``; returns the names of the files to look at.

    Existing hooks are kept; otherwise a template is written.
    Raises :class:`SpecError`: E113 where nothing can be driven, E114 where the folder has
    something else in it; and ``OSError``.
    """
    steps = schedule(trace)
    if folder.exists() and not (folder / MARK).exists() and any(folder.iterdir()):
        message = f"{folder} has files in it, and is not a harness"
        raise SpecError((Diagnostic("E114", message, hint="name a new folder"),))
    (folder / "harness").mkdir(parents=True, exist_ok=True)
    runtime = resources.files("checker.harness.runtime")
    for file in sorted(runtime.iterdir(), key=lambda each: each.name):
        if file.name.endswith(".py"):
            _write(folder / "harness" / file.name, file.read_text("utf-8"))
    spec = _spec(trace, folder)
    _write(folder / MARK, _schedule_text(trace, steps, spec))
    _write(folder / "run.py", RUN)
    if not (folder / HOOKS).exists():
        template = resources.files("checker.harness").joinpath("template_of_hooks.py")
        _write(folder / HOOKS, template.read_text("utf-8"))
    return [MARK, HOOKS, "run.py"]


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def _spec(trace: Trace, folder: Path) -> str:
    """Returns the spec to which logs are held: a copy of the recorded text, where that stands
    alone, and otherwise the file that it was."""
    own = [source for source in trace.header.sources if not source.shipped]
    if len(own) == 1 and not IMPORT.search(own[0].text):
        _write(folder / "spec.bcast", own[0].text)
        return "spec.bcast"
    return str(Path(trace.header.file).resolve())


def _interface(trace: Trace, spec: str) -> str:
    """Returns whose property was violated, as `audit` is asked for it; empty where it can't be."""
    origin = trace.origin
    if origin is None or origin.kind not in ("interface", "protocol"):
        return ""
    return origin.name if origin.library else f"{spec}::{origin.name}"


def _object(trace: Trace, spec: str) -> str:
    """Returns the object as which the property demands that histories are linearizable, as `judge`
    is asked for it; empty where the property is another one."""
    name = re.escape(trace.property_name)
    declared = re.compile(rf"\bproperty\s+{name}\b(?:(?!\bproperty\b).)*?{LINEARIZABLE}", re.DOTALL)
    texts = [source.text for source in trace.header.sources]
    found = [each for each in map(declared.search, texts) if each is not None]
    shown = re.search(LINEARIZABLE, trace.property_name) or (found[0] if found else None)
    if shown is None:
        return ""
    own = any(
        re.search(rf"^object\s+{shown[1]}\b", source.text, re.MULTILINE)
        for source in trace.header.sources
        if not source.shipped
    )
    return f"{spec}::{shown[1]}" if own else shown[1]


def _notes(trace: Trace, steps: tuple[acts.Act, ...]) -> Iterator[str]:
    """Yields the parts of the trace that a schedule can't express."""
    recovering = {act.process for act in steps if isinstance(act, acts.Recover)}
    cut = [act for act in steps if isinstance(act, acts.Crash) and act.cut]
    for act in cut:
        if act.process in recovering:
            yield (
                f"{act.process} is killed after step {act.number}, not inside it: its disk may be"
                " ahead of the trace's when it recovers"
            )
    if trace.loop is not None and not trace.ends:
        first = trace.loop + 1
        last = trace.every_step[-1].number
        yield f"the trace repeats steps {first} to {last} forever; they are played once"


def _schedule_text(trace: Trace, steps: tuple[acts.Act, ...], spec: str) -> str:
    settings, _ = settings_of(trace.header)
    asked = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    byzantine = [fate.process for fate in trace.fates if fate.faulty == "byzantine"]
    kinds = sorted({type(act).__name__ for act in steps} | {"Line", "Message", "Sends"})
    values = {
        "SPEC": (f"{spec}::{trace.header.check}", "the check that has this run"),
        "SETTINGS": (asked, "of the check, as on the command line"),
        "PROPERTY": (trace.property_name, "what is violated"),
        "INTERFACE": (_interface(trace, spec), "whose property that is, for `audit`"),
        "OBJECT": (_object(trace, spec), "as which the history is linearizable, for `judge`"),
        "BIVALENCE": ([*command()], "the tool that judges the logs"),
        "PROCESSES": ([*trace.processes], ""),
        "PUPPETS": (byzantine, "not started: the harness speaks for them"),
        "ENDS": (trace.ends, "whether all that is still held is released after the last step"),
        "NOTES": ([*_notes(trace, steps)], ""),
    }
    lines = [
        '"""What the harness makes happen, in order.',
        "",
        f"{visible(' '.join(trace.sentence.split()))}",
        "",
        "Edit it freely: leave out a step, or wait for fewer lines.",
        '"""',
        "",
        f"from harness.acts import {', '.join(kinds)}",
        "",
    ]
    for name, (value, comment) in values.items():
        lines.append(f"{name} = {_shown(value)}{f'  # {comment}' if comment else ''}")
    lines += ["", "STEPS = ["]
    titles = {step.number: headline(step) for step in trace.every_step}
    told = 0
    for act in steps:
        if act.number != told:
            lines.append(f"    # {act.number}. {visible(titles[act.number])}")
            told = act.number
        lines += [f"    {line}" for line in _act_text(act)]
    return "\n".join([*lines, "]", ""])


def _act_text(act: acts.Act) -> Iterator[str]:
    """Yields the lines of an act: what it is, then what is waited for."""
    kind = type(act).__name__
    given = [str(act.number), _shown(act.process)]
    late = list[str]()
    for name in act.__dataclass_fields__:
        value = getattr(act, name)
        if name in ("number", "process") or (not value and name != "taken"):
            continue
        if name == "taken" and value:
            continue
        target = late if name in ("lines", "sends", "beyond") else given
        target.append(f"{name}={_shown(value)}")
    if not late:
        yield f"{kind}({', '.join(given)}),"
        return
    yield f"{kind}({', '.join(given)},"
    yield from (f"    {each}," for each in late)
    yield "),"


def _shown(value: object) -> str:
    """Returns a value as Python writes it, with double quotes."""
    match value:
        case str():
            quoted = repr(visible(value))
            return quoted if '"' in value else f'"{quoted[1:-1]}"'.replace("\\'", "'")
        case acts.Message():
            return f"Message({_shown(value.name)}, {_shown(value.fields)})"
        case acts.Sends():
            return f"Sends({_shown(value.message)}, to={_shown(value.to)})"
        case acts.Line():
            rest = f", {_shown(value.values)}" if value.values else ""
            return f"Line({_shown(value.kind)}, {_shown(value.name)}{rest})"
        case dict():
            return "{" + ", ".join(f"{_shown(k)}: {_shown(v)}" for k, v in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(_shown, value)) + "]"
    return repr(value)
