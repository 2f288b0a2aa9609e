"""The codes of all diagnostics: S syntax, N names and types, C checks, R runtime errors, E
settings, engines and files, T what can't be proved for every number of processes.
"""

from __future__ import annotations

from checker.diagnostics.codes_of_checks import CHECKS
from checker.diagnostics.codes_of_clusters import CLUSTERS
from checker.diagnostics.codes_of_folders import FOLDERS
from checker.diagnostics.codes_of_fragment import FRAGMENT
from checker.diagnostics.codes_of_specs import NAMES, SYNTAX
from checker.diagnostics.entry import Entry

RUN = {
    "R001": Entry(
        "a value outside of its range",
        "During the run a number left its range. Nothing wraps and nothing is cut: the run ends "
        "here, and its trace is shown. Either the range is too small, or the protocol counts "
        "further than was thought.",
    ),
    "R002": Entry(
        "a capacity is reached",
        "A seq, a bag or a link was given more than its declared capacity. The run ends here.",
    ),
    "R003": Entry(
        "no such entry",
        "A seq was asked for an entry behind its end, or a map for a key that it does not have.",
    ),
    "R004": Entry(
        "nothing there",
        "`get` of `none`, `head`, `last` or `tail` of an empty seq, `min` or `max` of an empty "
        "set, or a division by zero.",
    ),
    "R005": Entry(
        "a loop that does not end",
        "A `while` loop came back to a state in which it had been before, so it would go on for "
        "ever.",
    ),
    "R006": Entry(
        "calls that do not end",
        "A handler called a layer, and what that did entered the same handler again and again: the "
        "calls go round.",
    ),
}
SETTINGS = {
    "E001": Entry(
        "a file that can't be read",
        """
        The file is not there, is too large, is not UTF-8 text, or is no regular file called
        `….bcast`.

        Nothing else is read as a spec, so that the line of an error can't show what is in other
        files.
        """,
    ),
    "E002": Entry(
        "no such check",
        "The file has no check of this name, or no check at all.",
    ),
    "E003": Entry(
        "a parameter with an impossible value",
        "The numbers of the check do not go together: no processes, more faults than processes, an "
        "empty range, a process that is not there.",
    ),
    "E005": Entry(
        "a trace of another version",
        "The trace was written by a version of the tool whose format this one does not read. The "
        "document names that version: it can show the trace. Or check the spec again with this "
        "one, and use the trace that it writes.",
    ),
    "E006": Entry(
        "not a trace file",
        "The file is not a trace that the tool has written.",
    ),
    "E007": Entry(
        "the engine can't take this",
        "The engine that was asked for does not support something that the check needs. Another "
        "engine, or the default, does.",
    ),
    "E008": Entry(
        "an unknown engine or value of an option",
        "The option has no such value; those that it has are listed.",
    ),
    "E009": Entry(
        "a trace that the spec does not follow",
        "The steps of the trace are not a run of the spec as it is now. The message says where "
        "it no longer fits, and the likeliest reason: - a file of the spec has changed since, or "
        "is gone (a trace has the SHA-256 of each), - the document was edited after it was "
        "written, - another version of the tool wrote it. `bivalence view` shows the trace all "
        "the same, from the document alone, and with `--source` the spec as it was. `bivalence "
        "check` finds the runs of the spec as it is.",
    ),
    "E030": Entry(
        "a world that can't be set so",
        "A setting replaces a clause of the check's world (`--set links=fifo`, `--set "
        "crash=2`), and this value is none that the clause can have.",
    ),
    "E031": Entry(
        "a grid that can't be read",
        "An axis of a grid is a name, `=` and its values: a range `3..5` or `1..9/2`, a list "
        "`{perfect, fifo}`, or one value. Commas separate axes; each axis is there once, and is "
        "not set by `--set` too.",
    ),
    "E032": Entry(
        "a grid with too many cells",
        "The product of the axes has more cells than anybody could wait for. Several sweeps "
        "over parts of it can be run one after another.",
    ),
    "E035": Entry(
        "a folder for tables that is not empty",
        "Tables are written to a folder in which there is nothing else, so that none of them is "
        "mixed up with others. The folder that `--states-out` names has something in it.",
    ),
    "E036": Entry(
        "tables that can't be written",
        "The folder that `--states-out` names can't be made, or no file can be written to it.",
    ),
    "E037": Entry(
        "no tables from this engine",
        "Tables are made of the states that an engine keeps. The reference engine keeps none: "
        "`native` and `spark` do.",
    ),
    "E040": Entry(
        "a file that is no scenario",
        "A scenario that was saved begins with `of FILE::CHECK`, the spec seen from the folder of "
        "the scenario. What the check was set to comes next, each on a line: `set n = 4`, `fine "
        "steps`. Then there is one clause `scenario NAME { … }`, as a check has it.",
    ),
    "E041": Entry(
        "no solver",
        "Proofs, and `--engine symbolic`, are made with z3, which is installed with the tool as "
        "`z3-solver`. Here it is missing, or can't be loaded. Everything else works without it: "
        "`bivalence check` explores.",
    ),
}

CODES: dict[str, Entry] = {
    **SYNTAX,
    **NAMES,
    **CHECKS,
    **RUN,
    **SETTINGS,
    **FOLDERS,
    **CLUSTERS,
    **FRAGMENT,
}
"""Every code that a diagnostic can have."""


def page(code: str) -> str:
    """Returns the page about ``code`` (in any case): explanation, example, message, in Markdown.

    Raises ``KeyError`` where there is no such code.
    """
    from checker import resources

    known = code.strip().upper()
    if known not in CODES:
        raise KeyError(code)
    return (resources.pages() / f"{known}.md").read_text(encoding="utf-8")
