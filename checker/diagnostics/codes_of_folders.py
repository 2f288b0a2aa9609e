"""Diagnostic codes of the folders in which runs are kept."""

from __future__ import annotations

from checker.diagnostics.entry import Entry

FOLDERS = {
    "E010": Entry(
        "a run is kept there already",
        "The folder that `--checkpoint` names holds a run. `--resume` goes on with it; a new run "
        "wants a folder of its own, or that one deleted.",
    ),
    "E011": Entry(
        "a folder with other things in it",
        "A run is kept in a folder in which there is nothing else. The folder that `--checkpoint` "
        "names has files in it that are none of a run's.",
    ),
    "E012": Entry(
        "no run to go on with",
        "The folder that `--resume` names holds no run, or one whose `run.json` is damaged or "
        "of a format that this version of the tool does not read.",
    ),
    "E013": Entry(
        "what is explored has changed",
        "A run goes on only with the very system that it was begun with: the same spec, check, "
        "settings and options, and the same version of the tool. Limits, the number of threads, "
        "the engine and its machines may be others.",
    ),
    "E014": Entry(
        "a folder that can't be used",
        "The folder of a run can't be made, read or written: the path is wrong, a permission is "
        "missing, the disk is full. What was committed there before is as it was.",
    ),
    "E015": Entry(
        "another run works there",
        "One run at a time works in a folder. The one that is there has to end first.",
    ),
    "E016": Entry(
        "no checkpoints with this engine",
        "The reference engine keeps no runs; `native` and `spark` do, and give the same answers.",
    ),
    "E017": Entry(
        "a cache folder that is not yours alone",
        "What is parsed and compiled is kept in a folder of the user's cache, and what is found "
        "there the next time is run. So a folder that belongs to another user, or that others may "
        "write to, is not used: the run is as ever, but everything is made again.",
    ),
}
