"""A stand-in for the pipeline: files are not read, and each check's report is made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.options import Options
from checker.results.answer import Progress
from checker.results.trace import Trace
from checker.results.verdict import PropertyVerdict, Report, Word


@dataclass(frozen=True)
class ModuleOfSpec:
    """The typed module of a file: no checks, so none that warns of anything."""

    checks: tuple[object, ...] = ()


@dataclass(frozen=True)
class Spec:
    """A file that is not read, and its checks; as a string it is its path."""

    path: str
    names: list[str] = field(hash=False)
    module: ModuleOfSpec = field(default_factory=lambda: ModuleOfSpec(), compare=False)

    def __str__(self) -> str:
        return self.path

    def difference(self, name: str) -> list[str]:
        return []


class Pipeline(ModuleType):
    """Checks by name; what is called ``raises …`` raises, and every call is remembered."""

    def __init__(self, reports: dict[str, Report | Exception]) -> None:
        super().__init__("checker.session.pipeline")
        vars(self)["Options"] = Options
        self.reports = reports
        self.asked: list[Options] = []
        self.progress: Progress | None = None

    def read_spec(self, path: str | Spec) -> Spec:
        if isinstance(path, Spec):
            return path
        if "wrong" in Path(path).read_text():
            raise SpecError((Diagnostic("P001", "this can't be read"),))
        return Spec(path, list(self.reports))

    def is_parametric(self, spec: Spec, name: str, settings: object) -> bool:
        return False

    def run_check(
        self,
        spec: Spec,
        name: str,
        options: Options,
        listener: Callable[[Progress], None] | None = None,
    ) -> Report:
        self.asked.append(options)
        if listener is not None and self.progress is not None:
            listener(self.progress)
        found = self.reports[name]
        if isinstance(found, BaseException):
            raise found
        return found

    def replay_trace(self, trace: Trace) -> Trace:
        return trace

    def dump(self, spec: Spec, name: str, options: Options) -> str:
        return f"system {name} with {options.settings}"


def held(name: str = "validity", word: Word = Word.HOLDS, **more: object) -> Report:
    verdict = PropertyVerdict(name, "what is sent arrives", word, None, "in every state")
    return Report(
        "a.bcast",
        "one",
        {"n": 3},
        "native",
        False,
        (verdict,),
        exhaustive=True,
        **more,  # type: ignore[arg-type]
    )
