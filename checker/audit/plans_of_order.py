"""Plans of properties about the order of deliveries: FIFO, causal, total.

What they are is in Cachin, Guerraoui and Rodrigues, 2011; how definitions of total order differ in
Defago, Schiper and Urban, ACM Computing Surveys 2004.
"""

from __future__ import annotations

import itertools
from typing import Any

import pyarrow as pa

from checker.audit.cycles import order_graph
from checker.audit.relations import Relation, col, either
from checker.audit.tables import UNKNOWN, VIOLATED, Findings, Tables

# ---- FIFO ---------------------------------------------------------------------------------------


def _ranks(tables: Tables) -> Relation:
    """Returns what was requested, with its number among the requests of its process."""
    return tables.made.window(("process",), "pos", rank=("number", "pos")).select(
        "entry", "pos", "rank", sender=col("process")
    )


def fifo_order(tables: Tables) -> Findings:
    """A correct process delivers an entry, and has not delivered the one requested before it.

    Along the deliveries from one sender their numbers have to be 1, 2, 3, ...  The first one that
    is not has jumped over the number that follows the greatest so far, which was therefore not
    delivered before; those that come back later were jumped over, too.
    """
    ranks = _ranks(tables).keep()
    mine = tables.about(
        tables.firsts.select("process", "entry", "pos"), "correct", "sure", "complete"
    )
    of_sender = mine.where(col("correct")).join(ranks.select("entry", "sender", "rank"), "entry")
    seen = of_sender.window(("process", "sender"), "pos", highest=("greatest_before", "rank"))
    seen = seen.keep()
    next_one = col("highest").otherwise(0) + 1
    jumps = seen.where(col("rank") > next_one).select(
        "process", "entry", "pos", "sender", "sure", "complete", rank=next_one
    )
    over = jumps.join(ranks.select("sender", "rank", entry2=col("entry")), "sender", "rank")
    yield "skipped", _never_before(tables, over)
    back = seen.where(col("rank") < col("highest")).select(
        "process", "sender", "sure", entry2=col("entry"), pos2=col("pos"), rank=col("highest")
    )
    known = ranks.select("sender", "rank", "entry")
    passed = back.join(known, "sender", "rank").join(
        tables.firsts.select("process", "entry", "pos"), "process", "entry"
    )
    said = either(col("sure"), VIOLATED, UNKNOWN)
    columns = "process", "entry", "pos", "entry2", "pos2"
    yield "delivered after its successor", passed.select(*columns, verdict=said)


def _placed(tables: Tables, pairs: Relation) -> Relation:
    """Returns ``pairs`` of an ``entry`` delivered by ``process`` at ``pos`` and an ``entry2`` that
    should have been before, with where that is delivered, ``pos2``."""
    there = tables.firsts.select("process", pos2=col("pos"), entry2=col("entry"))
    return pairs.join(there, "process", "entry2", how="left")


def _never_before(tables: Tables, pairs: Relation) -> Relation:
    """Returns those of ``pairs`` of which ``entry2`` is never delivered."""
    never = _placed(tables, pairs).where(col("pos2").is_null())
    said = either(col("sure") & col("complete"), VIOLATED, UNKNOWN)
    return never.select("process", "entry", "pos", "entry2", "pos2", verdict=said)


# ---- causal -------------------------------------------------------------------------------------


def causal_order(tables: Tables) -> Findings:
    """A process delivers an entry, and has not delivered before what may have caused it.

    Direct causes suffice: what a process requested last before, and what it has delivered since.
    If all processes deliver those first, then by induction also what caused them.
    """
    ranks = _ranks(tables).keep()
    causes = _own_cause(ranks).union(_delivered_causes(tables, ranks))
    firsts = tables.about(tables.firsts.select("process", "entry", "pos"), "complete")
    pairs = firsts.join(causes, "entry").select(
        "process", "entry", "pos", "entry2", "complete", sure=True
    )
    pairs = pairs.keep()
    yield "its cause was skipped", _never_before(tables, pairs)
    late = _placed(tables, pairs).where(col("pos2") > col("pos"))
    columns = "process", "entry", "pos", "entry2", "pos2"
    yield "delivered before its cause", late.select(*columns, verdict=VIOLATED)


def _own_cause(ranks: Relation) -> Relation:
    own = ranks.window(("sender",), "pos", entry2=("previous", "entry"))
    return own.where(~col("entry2").is_null()).select("entry", "entry2")


def _delivered_causes(tables: Tables, ranks: Relation) -> Relation:
    """Returns of each entry what its sender had delivered since its request before that."""
    known = tables.firsts.select("process", "entry", "pos").join(ranks, "entry", how="semi")
    asked = ranks.select("entry", "pos", "rank", process=col("sender"))
    line = known.select("process", "entry", "pos", rank=0).union(
        asked.select("process", "entry", "pos", "rank")
    )
    line = line.window(("process",), "pos", highest=("greatest_before", "rank"))
    before = line.where(col("rank") == 0).select(
        sender=col("process"), entry2=col("entry"), rank=col("highest").otherwise(0) + 1
    )
    caused = before.join(ranks.select("entry", "sender", "rank"), "sender", "rank")
    return caused.where(col("entry") != col("entry2")).select("entry", "entry2")


# ---- total --------------------------------------------------------------------------------------


def total_order(tables: Tables) -> Findings:
    """Two correct processes deliver two entries in different orders."""
    mine = tables.about(_lines(tables), "run", "correct", "sure")
    yield from _pairwise(tables, mine.where(col("correct")))


def uniform_total_order(tables: Tables) -> Findings:
    """Two processes deliver two entries in different orders."""
    yield from _pairwise(tables, _uniform(tables))


def _lines(tables: Tables) -> Relation:
    columns = [n for n in ("process", "entry", "pos", "partition") if n in _columns(tables)]
    return tables.firsts.select(*columns)


def _columns(tables: Tables) -> frozenset[str]:
    return tables.engine.columns | {"process", "entry", "pos"}


def _uniform(tables: Tables) -> Relation:
    return tables.about(_lines(tables), "run").select(*_of_lines(tables), sure=True)


def _of_lines(tables: Tables) -> tuple[str, ...]:
    return tuple(
        n
        for n in ("process", "entry", "pos", "run", "partition")
        if n in _columns(tables) | {"run"}
    )


def _line(tables: Tables) -> tuple[str, ...]:
    """Returns what one order is within: a process, and a partition where there are any."""
    return ("process", "partition") if "partition" in tables.engine.columns else ("process",)


def _pairwise(tables: Tables, lines: Relation) -> Findings:
    """Yields inversions between a pivot and each other process, for as many pivots as needed.

    Where the positions of the pivot increase along every other log, no two of its entries are
    inverted anywhere.  Then only entries that the pivot lacks can be, and only at processes that
    have some of those; each of these but one is a pivot, too.
    """
    lines = lines.keep()
    first = _pivots(tables, lines, 0)
    yield "delivered in another order", _inversions(tables, lines, first)
    left = lines.join(_of(lines, first), "entry", how="anti")
    shared = left.group("entry", times=("count", "")).where(col("times") > 1)
    rest = left.join(shared, "entry", how="semi").keep()
    most = max(tables.by_size(rest), key=len, default=[])
    for turn in range(len(most) - 1):  # the last one has been compared with all others
        again = _pivots(tables, rest, turn)
        yield "delivered in another order", _inversions(tables, lines, again)


def _pivots(tables: Tables, lines: Relation, turn: int) -> Relation:
    """Returns the table of the processes that are pivots, one of each run: the one with the most
    deliveries of ``lines``, the next one in the next turn."""
    of_runs = tables.by_size(lines)
    return tables.engine.processes_table([each[turn] for each in of_runs if turn < len(each)])


def _of(lines: Relation, pivots: Relation) -> Relation:
    """Returns what the pivots deliver: ``entry``, ``pivot``, ``rank``."""
    return lines.join(pivots, "process", how="semi").select(
        "entry", pivot=col("process"), rank=col("pos"), pivot_sure=col("sure")
    )


def _inversions(tables: Tables, lines: Relation, pivots: Relation) -> Relation:
    """Returns deliveries that come after one that the pivot delivers later."""
    ranks = _of(lines, pivots)
    others = lines.join(pivots, "process", how="anti").join(ranks, "entry")
    seen = others.window(_line(tables), "pos", highest=("greatest_before", "rank"))
    found = seen.where(col("rank") < col("highest"))
    later = ranks.select("pivot", highest=col("rank"), entry2=col("entry"))
    sure = col("sure") & col("pivot_sure")
    return found.join(later, "pivot", "highest").select(
        *("process", "entry", "pos", "entry2"),
        process2=col("pivot"),
        pos2=col("rank"),
        verdict=either(sure, VIOLATED, UNKNOWN),
    )


def global_order(tables: Tables) -> Findings:
    """No one order agrees with those of all processes, though those of any two may agree.

    The order of the pivot is one chain, from which another log may deviate by itself.  The entries
    that it lacks, with their neighbours in each log, are a small graph; where no log deviates, a
    cycle of all is one in that graph and the chain.
    """
    lines = _uniform(tables).keep()
    pivots = _pivots(tables, lines, 0)
    yield "delivered in another order", _inversions(tables, lines, pivots)
    ranks = _of(lines, pivots)
    of_runs = lines.join(pivots, "process", how="semi").group("run", pivot=("min", "process"))
    placed = lines.join(ranks.select("entry", "rank"), "entry", how="left").join(of_runs, "run")
    line = placed.select(
        *_line(tables), "entry", "pos", "rank", "pivot", lacks=col("rank").is_null()
    )
    seen = line.window(
        _line(tables), "pos", highest=("greatest_before", "rank"), before=("previous", "lacks")
    )
    near = tables.engine.rows(seen.where(col("lacks") | col("before").otherwise(False)))
    order = [(name, "ascending") for name in ("pivot", *_line(tables), "pos")]
    by_run = itertools.groupby(near.sort_by(order).to_pylist(), lambda row: row["pivot"])
    for _, rows in by_run:
        cycle = order_graph(rows, _line(tables)).smallest_cycle()
        if cycle is not None:
            yield "a cycle of orders", _told(tables, ranks, cycle)


def _told(tables: Tables, ranks: Relation, cycle: list[tuple[Any, Any, Any]]) -> pa.Table:
    """Returns findings, one for each edge: ``process`` delivers ``entry2`` before ``entry``."""
    places = {node for edge in cycle for node in edge[:2] if node[0] != "entry"}
    known = {("entry", node[1]): node[1] for edge in cycle for node in edge[:2]}
    for place in places:
        at = ranks.where(col("rank") == place[1]).join(
            tables.engine.processes_table([place[0]]).select(pivot=col("process")), "pivot"
        )
        known[place] = tables.engine.rows(at).to_pylist()[0]["entry"]
    rows = [
        {
            "process": process,
            "entry2": known[one],
            "entry": known[other],
            "verdict": VIOLATED,
            "circle": 0,
        }
        for one, other, process in cycle
    ]
    return pa.Table.from_pylist(rows)


def prefix_order(tables: Tables) -> Findings:
    """What one process delivers is no prefix of what another does: they differ at some place."""
    known = tables.about(tables.deliveries.select("process", "entry", "pos"), "run", "complete")
    placed = known.where(col("complete")).window(("process",), "pos", number=("number", "pos"))
    places = placed.group(
        "run", "number", entry=("min", "entry"), entry2=("max", "entry"), process=("min", "process")
    )
    differ = places.where(col("entry") != col("entry2"))
    first = differ.group("run", number=("min", "number"))
    yield (
        "another entry at one place",
        differ.join(first, "run", "number").select("entry", "entry2", verdict=VIOLATED),
    )
