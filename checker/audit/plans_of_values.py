"""Plans of properties about values on which the processes of a run agree, and about positions in a
log that all processes share: consensus, atomic commit, one broadcast of a Byzantine world, logs
with offsets."""

from __future__ import annotations

from checker.audit.columns import Kind
from checker.audit.plans_of_messages import asked_of_correct
from checker.audit.plans_of_requests import LINE, requested_first, requests_and_indications
from checker.audit.relations import Expr, Relation, col, either
from checker.audit.tables import OK, UNKNOWN, VIOLATED, Findings, Tables, verdict

_CERTAIN = col("pos") == col("pos")


def _indicated(tables: Tables) -> Relation:
    return tables.about(
        tables.firsts.select("process", "entry", "message", "pos"), "run", "correct", "sure"
    )


def one_at_each(tables: Tables) -> Findings:
    """A process decides twice."""
    yield from _second(tables.deliveries)


def one_at_each_correct(tables: Tables) -> Findings:
    """A correct process delivers, or decides, twice."""
    known = tables.about(tables.deliveries, "sure").where(col("sure"))
    yield from _second(known)


def _second(indications: Relation) -> Findings:
    line = indications.select("process", "entry", "pos").window(
        ("process",),
        "pos",
        number=("number", "pos"),
        pos2=("previous", "pos"),
        entry2=("previous", "entry"),
    )
    again = line.where(col("number") > 1)
    columns = "process", "entry", "pos", "entry2", "pos2"
    yield "a second one", again.select(*columns, verdict=VIOLATED)


def same_at_all(tables: Tables) -> Findings:
    """Two processes decide differently."""
    yield (
        "decided differently",
        _differ(_indicated(tables).select("process", "entry", "run", sure=True)),
    )


def same_at_correct(tables: Tables) -> Findings:
    """Two correct processes decide, or deliver, differently."""
    yield "decided differently", _differ(_indicated(tables).where(col("correct")))


def _differ(decided: Relation) -> Relation:
    """Returns two different entries for each run that has such."""
    bounds = decided.group("run", entry=("min", "entry"), entry2=("max", "entry"))
    runs = bounds.where(col("entry") != col("entry2"))
    one = decided.select("entry", "process", "sure").group(
        "entry", process=("min", "process"), sure=("max", "sure")
    )
    other = one.select(entry2=col("entry"), process2=col("process"), sure2=col("sure"))
    pairs = runs.join(one, "entry").join(other, "entry2")
    said = either(col("sure") & col("sure2"), VIOLATED, UNKNOWN)
    return pairs.select("process", "entry", "process2", "entry2", verdict=said)


def some_at_each(tables: Tables) -> Findings:
    """A correct process never decides."""
    correct = tables.processes.where(col("correct") & col("delivers"))
    silent = correct.join(tables.firsts, "process", how="anti")
    yield (
        "never decided",
        silent.select("process", verdict=verdict(col("complete"), col("had_time"))),
    )


def some_at_all_or_none(tables: Tables) -> Findings:
    """A correct process delivers a message, and another delivers none."""
    in_time = col("pos") < col("late_from")
    delivered = tables.about(tables.firsts, "run", "correct", "sure", "late_from")
    some = delivered.where(col("correct")).select("run", "sure", early=in_time)
    of_run = some.group("run", sure=("max", "sure"), early=("max", "early"))
    correct = tables.processes.where(col("correct") & col("delivers"))
    silent = correct.join(tables.firsts, "process", how="anti").select("process", "run", "complete")
    found = silent.join(of_run, "run")
    yield (
        "never delivered",
        found.select("process", verdict=verdict(col("complete") & col("sure"), col("early"))),
    )


def integrity_of_correct(tables: Tables) -> Findings:
    """A correct process delivers something of a correct sender that did not request it, or can have
    requested it only afterwards."""
    created = tables.about(tables.firsts, "correct").where(col("correct"))
    created = created.select("process", "entry", "pos", "sender")
    created = created.join(tables.requests, "entry", how="anti")
    known = tables.processes.where(col("sure")).select("complete", sender=col("process"))
    found = created.join(known, "sender")
    yield (
        "created",
        found.select("process", "entry", "pos", verdict=verdict(col("complete"), _CERTAIN)),
    )
    right = tables.processes.where(col("sure"))
    events = requests_and_indications(tables, "sender")
    events = events.join(right.select("process"), "process", how="semi")
    events = events.join(right.select(sender=col("process")), "sender", how="semi")
    yield from requested_first(tables, events.select(*LINE), "entry")


def unanimous_value(tables: Tables) -> Findings:
    """All correct processes propose the same, and a correct one decides something else."""
    proposed = tables.about(tables.made, "run", "sure").where(col("sure"))
    each = proposed.group("run", "process", least=("min", "entry"), most=("max", "entry"))
    of_run = each.group(
        "run", times=("count", ""), entry2=("min", "least"), greatest=("max", "most")
    )
    same = of_run.join(tables.runs, "run").where(
        (col("entry2") == col("greatest")) & (col("times") == col("right"))
    )
    decided = _indicated(tables).where(col("sure"))
    other = decided.join(same.select("run", "entry2", "whole"), "run").where(
        col("entry") != col("entry2")
    )
    said = either(col("whole"), VIOLATED, UNKNOWN)
    yield "another value", other.select("process", "entry", "pos", "entry2", verdict=said)


# ---- atomic commit ------------------------------------------------------------------------------


def _votes(tables: Tables, of: Relation, vote: int) -> Relation:
    """Returns those rows ``of`` events that are about the value ``vote``."""
    named = tables.engine.messages_called(str(vote))
    return of.join(named, "message", how="semi")


def abort_with_reason(tables: Tables) -> Findings:
    """A process aborts though all voted yes and none crashed, or before any of that can have
    happened.

    Who crashed as the manifest says may have at any time.
    """
    no = tables.about(_votes(tables, tables.requests, 0), "run").select("run")
    down = tables.processes.where(col("crashed")).select("run")
    aborted = _votes(tables, _indicated(tables), 0)
    wrong = aborted.join(no, "run", how="anti").join(down, "run", how="anti")
    known = wrong.join(tables.runs.select("run", "whole"), "run")
    said = either(col("whole"), VIOLATED, UNKNOWN)
    yield "aborted without a reason", known.select("process", "entry", "pos", verdict=said)
    crashes = tables.events.where(col("kind") == int(Kind.CRASH))
    unseen = tables.processes.where(col("crashed")).join(crashes, "process", how="anti")
    votes = tables.about(_votes(tables, requests_and_indications(tables, "message"), 0), "run")
    down = tables.about(crashes, "run").select("process", "pos", "entry", "run", asks=True)
    reasons = votes.select(*LINE, "run").union(down.select(*LINE[:-1], "run", placed=True))
    open_ = reasons.join(unseen.select("run"), "run", how="anti")
    yield from requested_first(tables, open_, "run")


def commit_unanimous(tables: Tables) -> Findings:
    """A process commits though one voted no."""
    no = tables.about(_votes(tables, tables.requests.where(col("made")), 0), "run")
    no = no.group("run", process2=("min", "process"), pos2=("min", "pos"))
    committed = _votes(tables, _indicated(tables), 1).join(no, "run")
    columns = "process", "entry", "pos", "process2"
    yield "committed against a no", committed.select(*columns, verdict=VIOLATED)


# ---- logs with offsets --------------------------------------------------------------------------


def _at_offsets(tables: Tables) -> tuple[Relation, tuple[str, ...]]:
    """Returns indications with offsets, and what one log is: a run, or a partition of it."""
    partition = ("partition",) if "partition" in tables.engine.columns else ()
    rows = tables.about(tables.deliveries.where(~col("offset").is_null()), "run", "complete")
    return rows, ("run", *partition)


def _acknowledged(tables: Tables) -> Relation:
    """Returns appends that were acknowledged, with their offsets."""
    sure = tables.requests.where(col("made") & ~col("offset").is_null())
    return tables.about(sure, "run")


def _known(tables: Tables) -> tuple[Relation, tuple[str, ...]]:
    """Returns entries at offsets, as they were learned or acknowledged, and what one log is."""
    rows, log = _at_offsets(tables)
    columns = *log, "offset", "entry"
    return rows.select(*columns).union(_acknowledged(tables).select(*columns)), log


def one_value_per_offset(tables: Tables) -> Findings:
    """Two different entries were learned or acknowledged at one position."""
    known, log = _known(tables)
    bounds = known.group(*log, "offset", entry=("min", "entry"), entry2=("max", "entry"))
    differ = bounds.where(col("entry") != col("entry2"))
    yield (
        "different entries at one position",
        differ.select("offset", "entry", "entry2", verdict=VIOLATED),
    )


def no_gaps(tables: Tables) -> Findings:
    """A process learns an entry and has not learned the one at the position before it; or twice."""
    rows, log = _at_offsets(tables)
    line = ("process", *log[1:])
    again = rows.window(
        (*line, "offset", "entry"), "pos", number=("number", "pos"), pos2=("previous", "pos")
    )
    yield (
        "learned again",
        again.where(col("number") > 1).select(
            "process", "entry", "offset", "pos", "pos2", verdict=VIOLATED
        ),
    )
    known, _ = _known(tables)
    rows = _without_control(tables, rows, log)
    seen = rows.window(line, "pos", highest=("greatest_before", "place"))
    jumps = seen.where(col("place") > col("highest").otherwise(-1) + 1)
    certain: Expr = col("complete")
    if len(log) > 1:  # in a partition a marker may have a position that no log knows
        held = _without_control(tables, known, log).group(*log, "place", times=("count", ""))
        held = held.window(log, "place", held_before=("previous", "place"))
        jumps = jumps.join(held.select(*log, "place", "held_before"), *log, "place", how="left")
        certain = certain & (col("held_before").otherwise(-1) > col("highest").otherwise(-1))
    said = either(certain, VIOLATED, UNKNOWN)
    yield "skipped a position", jumps.select("process", "entry", "offset", "pos", verdict=said)


def _without_control(tables: Tables, rows: Relation, log: tuple[str, ...]) -> Relation:
    """Returns ``rows`` at offsets with their ``place``: the offset less the control records that
    the log has below it."""
    marks = tables.events.where(
        (col("kind") == int(Kind.CONTROL)) & ~col("offset").is_null() & (col("status") == OK)
    )
    marks = tables.about(marks, "run").group(*log, "offset", times=("count", ""))
    marks = marks.window(log, "offset", below=("number", "offset"))
    places = rows.group(*log, "offset", times=("count", "")).select(*log, "offset", below=0)
    both = places.union(marks.select(*log, "offset", "below"))
    seen = both.window(log, "offset", less=("greatest_before", "below")).where(col("below") == 0)
    places = seen.select(*log, "offset", place=col("offset") - col("less").otherwise(0))
    return rows.join(places, *log, "offset")


def appended_is_learned(tables: Tables) -> Findings:
    """A correct process appends something, and a correct process never learns it."""
    asked = asked_of_correct(tables).select(
        "message", "entry", "run", "sure", early=col("pos") < col("late_from")
    )
    everybody = tables.processes.where(col("correct") & col("delivers"))
    learned = tables.about(tables.firsts, "run", "correct", "delivers")
    learned = learned.where(col("correct") & col("delivers"))
    once = learned.group("process", "message", times=("count", ""))
    counts = once.group("message", reached=("count", ""))
    few = asked.join(counts, "message", how="left").join(tables.runs, "run")
    few = few.where(col("reached").otherwise(0) < col("wanted"))
    pairs = few.select("message", "entry", "run", "sure", "early").join(
        everybody.select("process", "run", "complete"), "run"
    )
    missing = pairs.join(
        tables.firsts.select("process", "message"), "process", "message", how="anti"
    )
    certain = col("complete") & col("sure")
    yield (
        "never learned",
        missing.select("process", "entry", verdict=verdict(certain, col("early"))),
    )


def acknowledged_is_read(tables: Tables) -> Findings:
    """An append was acknowledged at an offset below the greatest that a process has read, and the
    process has not read it."""
    rows, log = _at_offsets(tables)
    acknowledged = _acknowledged(tables).select(
        *log, "message", "entry", "offset", process2=col("process")
    )
    bounds = rows.group("process", "complete", *log, greatest=("max", "offset"))
    passed = acknowledged.join(bounds, *log).where(col("offset") < col("greatest"))
    read = tables.firsts.select("process", "message")
    lost = passed.join(read, "process", "message", how="anti")
    said = either(col("complete"), VIOLATED, UNKNOWN)
    columns = "process", "entry", "offset", "process2"
    yield "acknowledged and never read", lost.select(*columns, verdict=said)
