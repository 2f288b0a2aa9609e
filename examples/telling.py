"""How a story is told: its scenes are played, and their logs are audited.

`python examples/NAME/story.py` plays all scenes and prints a line for each; with the name of a
scene it plays that one and prints the whole report, with pictures of what happened; `--keep FOLDER`
keeps the logs.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.audit.audit import Audit, Request
from checker.audit.audit import audit as ask
from checker.audit.manifest import read_manifest
from checker.cli.main import main as command
from checker.conform.conform_log import Asked, conform
from checker.engines.options import Options
from checker.logs.read_mapping import read_mapping
from checker.results.conformance import Conformance
from checker.results.verdict import Word


@dataclass(frozen=True)
class Story:
    """``play`` plays a scene in a folder, and its logs are in the folder's ``logs`` then.

    ``interface``: whose properties are asked of the logs of each of the ``scenes``; ``over``: what
    else; ``clients``: processes that nothing is meant to be delivered to; ``crashed``: those that
    are killed for good; ``specs``: checks to which the logs are held (`FILE::CHECK`), with the
    mapping in the file ``names``.
    """

    scenes: Sequence[str]
    play: Callable[[str, Path], None]
    interface: str = ""
    over: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    crashed: tuple[str, ...] = ()
    specs: tuple[str, ...] = ()
    names: str | None = None


def tell(story: Story, arguments: Sequence[str] | None = None) -> int:
    """Tells a story as the command line says; returns the exit code of the last audit."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scene", nargs="*", choices=[[], *story.scenes])
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the logs in it")
    asked = parser.parse_args(arguments)
    for scene in asked.scene or story.scenes:
        if asked.keep is not None and (asked.keep / scene).exists():
            parser.error(f"{asked.keep / scene} exists: a log is not written twice")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))  # and what was started ends, too
    code = 0
    for scene in asked.scene or story.scenes:
        with _folder(asked.keep, scene) as folder:
            (folder / "logs").mkdir(parents=True)
            story.play(scene, folder)
            code = _whole(story, folder) if asked.scene else _line(story, folder, scene)
    return code


@contextlib.contextmanager
def _folder(keep: Path | None, scene: str) -> Iterator[Path]:
    if keep is not None:
        yield keep / scene
        return
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def _whole(story: Story, folder: Path) -> int:
    """Prints the reports with their pictures; returns the exit code of the last."""
    logs, code = str(folder / "logs"), 0
    for spec in story.specs:
        code = command(["conform", spec, logs, *(["--map", story.names] if story.names else [])])
    if story.interface:
        asked = ["--as", story.interface, "--manifest", _manifest(story, folder)]
        code = command(["audit", logs, *asked, *(f"--over={each}" for each in story.over)])
    return code


def _line(story: Story, folder: Path, scene: str) -> int:
    """Prints a line; returns the exit code of the audit, or else of the last spec."""
    said, code = [], 0
    for spec in story.specs:
        held = conformance(story, spec, folder)
        said.append(f"{spec.rpartition('::')[2]} {conforms(held)}")
        code = held.exit_code
    if story.interface:
        found = audited(story, folder).report
        said += [f"{verdict.property} {verdict.label()}" for verdict in found.verdicts]
        code = found.exit_code
    print(f"{scene}: {', '.join(said)}", flush=True)
    return code


def conforms(held: Conformance) -> str:
    """Returns the verdict in words."""
    words = {Word.HOLDS: "conforms", Word.VIOLATED: "does not conform"}
    return words.get(held.word, held.word.value)


def conformance(story: Story, spec: str, folder: Path) -> Conformance:
    """Returns whether the logs of a scene in ``folder`` are those of a run of ``spec``."""
    file, _, check = spec.rpartition("::")
    logs = sorted(str(log) for log in (folder / "logs").glob("*.ndjson"))
    mapping = read_mapping(story.names or None)
    return conform(Asked(file, check, Options(), mapping), logs)


def audited(story: Story, folder: Path) -> Audit:
    """Returns what the audit of a scene in ``folder`` has found."""
    manifest = read_manifest(_manifest(story, folder))
    return ask(Request((str(folder / "logs"),), story.interface, story.over, manifest=manifest))


def _manifest(story: Story, folder: Path) -> str:
    file = folder / "manifest.toml"
    silent = "".join(f"[processes.{name}]\ndelivers = false\n" for name in story.clients)
    down = "".join(f"[processes.{name}]\ncrashed = true\n" for name in story.crashed)
    file.write_text(silent + down, encoding="utf-8")
    return str(file)
