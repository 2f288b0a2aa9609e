"""Judges many random worlds by both: ``python -m tests.world.sweep --worlds 1000``."""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from checker.diagnostics import SpecError
from tests.world.abbreviating import abbreviated
from tests.world.compare import compared
from tests.world.drawing import spec_of
from tests.world.features import FEATURES, closed, covered, covering, pairs, together
from tests.world.judge import TooMany


def feature_sets(seed: int) -> list[frozenset[str]]:
    """A covering of all pairs, drawn anew for each seed; some triples are in it, too."""
    draw = random.Random(seed)
    return covering(draw, draw.choice((3, 4, 5)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the first seed of coverings")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--modes", default="native", help="separated by commas")
    parser.add_argument("--turns", action="store_true", help="each world in one of the modes")
    parser.add_argument("--most", type=int, default=2000, help="states of a world")
    parser.add_argument("--only", default="", help="features that each world has, with commas")
    parser.add_argument("--without", default="", help="features that no world has")
    parser.add_argument("--abbreviated", action="store_true", help="written with definitions")
    parser.add_argument("--keep", default="", help="a folder for what disagrees")
    args = parser.parse_args()
    only, without = (set(filter(None, a.split(","))) for a in (args.only, args.without))
    assert only | without <= set(FEATURES), (only | without) - set(FEATURES)
    seen, told = Counter[str](), set[frozenset[str]]()
    start, seed = time.monotonic(), args.first
    with tempfile.TemporaryDirectory() as folder:
        while sum(seen.values()) < args.worlds and time.monotonic() - start < args.seconds:
            for position, features in enumerate(feature_sets(seed)):
                if sum(seen.values()) >= args.worlds or time.monotonic() - start > args.seconds:
                    break
                features = closed(features | only)
                if features & without or not together(features):
                    continue
                outcome = _one(features, seed * 1000 + position, Path(folder), args)
                seen[outcome] += 1
                if sum(seen.values()) % 500 == 0:
                    print(dict(seen), f"seed {seed}", flush=True)
                if outcome in ("agreed", "DISAGREED"):
                    told |= covered(features)
            seed += 1
    wanted = set(pairs())
    print(dict(seen), f"pairs {len(told & wanted)} of {len(wanted)}", f"next seed {seed}")


def _one(features: frozenset[str], seed: int, folder: Path, args: argparse.Namespace) -> str:
    """What came of one world, in a word."""
    spec = spec_of(features, seed)
    spec = abbreviated(spec, seed) if args.abbreviated else spec
    name, modes = f"{seed}", tuple(args.modes.split(","))
    if args.turns:
        modes = (modes[seed % len(modes)],)
    try:
        found = compared(spec, folder / f"{name}.bcast", modes, args.most)
    except TooMany:
        return "too many"
    except RecursionError:
        return "endless"
    except SpecError as refused:
        print(seed, sorted(features), "refused:", refused.diagnostics[0].code, flush=True)
        print("   ", refused.diagnostics[0].message, flush=True)
        return "refused"
    except Exception as fault:
        print(seed, sorted(features), "FAULT", type(fault).__name__, str(fault)[:300], flush=True)
        return "fault"
    if not found:
        return "agreed"
    print(seed, sorted(features), flush=True)
    for each in found:
        print(
            "   ", each.question, each.mode, "defined", each.defined, "said", each.said, flush=True
        )
    if args.keep:
        Path(args.keep).mkdir(exist_ok=True)
        (folder / f"{name}.bcast").rename(Path(args.keep) / f"{name}.bcast")
    return "DISAGREED"


if __name__ == "__main__":
    main()
