"""Freezes all that the tool shows: ``python -m tests.picture OUT``.

Writes a tree of plain files, one for each subject and view, so that ``diff -r`` of two trees says
whether a change of the code has changed anything that is shown.  Subjects are the checks of the
library that are violated, random worlds, random logs of both kinds, and the questions of chance,
valence and sweeps.  The same code writes the same bytes, in whatever folder: while a command runs,
the clock stands still (durations are 0, and no budget of seconds is used up); each subject is asked
in a new folder, by relative names; the tool's version and the bytes of memory are written as ``#``;
the scripts and styles of pages are files in ``parts``, named by their digests, as they are the same
on many pages.  Everything goes through the command line, in one process for
each subject.

Checks that take more than ten seconds by the manifest are left out, and runs of those that take
more than a tenth of a second are not explained; neither are runs whose explanation exceeds a limit
of processor time.  ``left_out.txt`` names them all.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from tests.picture.running import frozen
from tests.picture.subjects import SLOW, checks, subjects


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, help="a new folder")
    parser.add_argument("--worlds", type=int, default=2000, help="random worlds")
    parser.add_argument("--only", default="", help="subjects in whose folder's name this is")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    args = parser.parse_args()
    out: Path = args.out.resolve()
    out.mkdir(parents=True)
    asked = [each for each in subjects(args.worlds) if args.only in each.path]
    left = [f"{each.path}: left out, slow" for each in checks(SLOW) if args.only in each.path]
    shown, files, longest = Counter[str](), 0, list[tuple[float, str]]()
    for each in frozen(asked, out, args.jobs):
        longest.append((each.seconds, each.subject.path))
        shown[each.subject.kind] += each.files > 0
        files += each.files
        if each.ended:
            left.append(f"{each.subject.path}: left out, too long")
        elif not each.subject.explained:
            left.append(f"{each.subject.path}: not explained")
    (out / "left_out.txt").write_text("".join(f"{each}\n" for each in sorted(left)), "utf-8")
    print(f"{files} files of {len(asked)} subjects; shown: {dict(shown)}; see left_out.txt")
    print("the longest:", *(f"{path} {s:.0f} s" for s, path in sorted(longest)[-10:][::-1]))


if __name__ == "__main__":
    main()
