"""A stand-in for the pipeline: files are not read, and each check's report is made by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from checker.diagnostics import Diagnostic, SpecError
from checker.options import Options
from checker.witness.answer import Progress
from checker.witness.trace import Trace
from checker.witness.verdict import PropertyVerdict, Report, Word


class Pipeline(ModuleType):
    """Checks by name; what is called ``raises …`` raises, and every call is remembered."""

    Options = Options

    def __init__(self, reports: dict[str, Report | Exception]) -> None:
        super().__init__("checker.pipeline")
        self.reports = reports
        self.asked: list[Options] = []
        self.progress: Progress | None = None

    def checks_in(self, path: str) -> list[str]:
        if "wrong" in Path(path).read_text():
            raise SpecError((Diagnostic("P001", "this can't be read"),))
        return list(self.reports)

    def is_parametric(self, path: str, name: str, settings: object) -> bool:
        return False

    def run_check(
        self,
        path: str,
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

    def replay_trace(self, trace: Trace, base_folder: str | None = None) -> Trace:
        return trace

    def dump(self, path: str, name: str, options: Options) -> str:
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
