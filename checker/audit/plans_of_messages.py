"""Plans of properties that are about one message at a time: was it requested, who delivered it.

A plan takes :class:`~checker.audit.tables.Tables`, and yields findings: a kind, and a relation with
``verdict``, ``process``, ``entry``, ``pos`` (or some of these), and for what else it is about
``process2``, ``entry2``, ``pos2``.  C. Cachin, R. Guerraoui, L. Rodrigues: Introduction to Reliable
and Secure Distributed Programming, 2011, has the definitions; an entry delivered by a process and
missed by another is found by counting, so that one shuffle of the events answers all of them.
"""

from __future__ import annotations

from checker.audit.plans_of_requests import LINE, requested_first, requests_and_indications
from checker.audit.relations import Relation, col, either
from checker.audit.tables import VIOLATED, Findings, Tables, verdict


def no_duplication(tables: Tables) -> Findings:
    """A process delivers the same twice."""
    again = tables.numbered.where(col("number") > 1)
    yield "duplicate", again.select("process", "entry", "pos", "pos2", verdict=VIOLATED)


def single_delivery(tables: Tables) -> Findings:
    """Something is handed out twice, to the same process or to two."""
    yield from no_duplication(tables)
    owners = tables.firsts.group("entry", least=("min", "process"), most=("max", "process"))
    shared = owners.where(col("least") != col("most"))
    yield (
        "delivered to two",
        shared.select("entry", process=col("least"), process2=col("most"), verdict=VIOLATED),
    )


def no_creation(tables: Tables) -> Findings:
    """Something is delivered that its sender did not request, or can have requested only
    afterwards."""
    created = tables.firsts.join(tables.requests, "entry", how="anti")
    if "sender" in tables.engine.columns:
        known = tables.processes.select("complete", sender=col("process"))
        created = created.join(known, "sender")
        whole = col("complete")
    else:
        created = tables.about(created, "run").join(tables.runs.select("run", "whole"), "run")
        whole = col("whole")
    yield (
        "created",
        created.select("process", "entry", "pos", verdict=verdict(whole, col("pos") == col("pos"))),
    )
    yield from requested_first(tables, requests_and_indications(tables), "entry")


def asked_of_correct(tables: Tables) -> Relation:
    """Returns what correct processes requested, the first time each."""
    sure = tables.requests.where(col("made"))
    numbered = sure.window(("process", "entry"), "pos", number=("number", "pos"))
    first = numbered.where(col("number") == 1).select("process", "entry", "message", "pos")
    known = tables.about(first, "run", "correct", "sure", "delivers", "complete", "late_from")
    return known.where(col("correct"))


def validity_of_own(tables: Tables) -> Findings:
    """A correct process requests something, and does not deliver it itself."""
    own = asked_of_correct(tables).where(col("delivers"))
    missing = own.join(tables.firsts, "process", "entry", how="anti")
    yield "never delivered", _missing(tables, missing, col("sure"), col("pos") < col("late_from"))


def validity_for_all(tables: Tables) -> Findings:
    """A correct process requests something, and a correct process does not deliver it."""
    asked = asked_of_correct(tables).select(
        "entry", "run", "sure", early=col("pos") < col("late_from")
    )
    asked = asked.group("entry", run=("min", "run"), sure=("max", "sure"), early=("max", "early"))
    reached = deliverers(tables).select("entry", "reached")
    yield "never delivered", _missing_at_some(tables, asked.join(reached, "entry", how="left"))


def agreement(tables: Tables) -> Findings:
    """A correct process delivers something, and another correct one does not."""
    delivered = deliverers(tables).where(col("by_correct"))
    some = delivered.select("entry", "run", "reached", sure=col("by_sure"), early=col("early"))
    yield "not delivered by all", _missing_at_some(tables, some)


def uniform_agreement(tables: Tables) -> Findings:
    """Any process delivers something, and a correct one does not."""
    some = deliverers(tables).select("entry", "run", "reached", sure=True, early=col("any_early"))
    yield "not delivered by all", _missing_at_some(tables, some)


def deliverers(tables: Tables) -> Relation:
    """Returns of each delivered entry how many correct processes that it is for ``reached`` it,
    and whether one that is correct, one that is so for sure, and one ``early`` are among them."""
    known = tables.about(
        tables.firsts.select("process", "entry", "pos"),
        *("run", "correct", "sure", "delivers", "late_from"),
    )
    in_time = col("pos") < col("late_from")
    each = known.select(
        "entry",
        "run",
        reached=either(col("correct") & col("delivers"), 1, 0),
        by_correct=col("correct"),
        by_sure=col("sure"),
        early=col("correct") & in_time,
        any_early=in_time,
    )
    flags = {name: ("max", name) for name in ("by_correct", "by_sure", "early", "any_early")}
    return each.group("entry", run=("min", "run"), reached=("sum", "reached"), **flags)  # type: ignore[arg-type]


def _missing_at_some(tables: Tables, asked: Relation) -> Relation:
    """Returns which correct processes have not delivered what is ``asked``: its ``entry`` and
    ``run``, by how many it is ``reached``, ``sure`` and ``early``."""
    wanted = asked.join(tables.runs.select("run", "wanted"), "run")
    few = wanted.where(col("reached").otherwise(0) < col("wanted")).select(
        "entry", "run", "sure", "early"
    )
    everybody = tables.processes.where(col("correct") & col("delivers"))
    pairs = few.join(everybody.select("process", "run", "complete"), "run")
    there = tables.firsts.select("process", "entry").join(few, "entry", how="semi")
    missing = pairs.join(there, "process", "entry", how="anti")
    return _missing(tables, missing, col("sure"), col("early"))


def _missing(tables: Tables, missing: Relation, sure: object, early: object) -> Relation:
    """Returns findings: what ``process`` lacks, unless its log is not ``complete``, or says that it
    may have happened."""
    marked = missing.join(tables.uncertain, "process", "entry", how="left")
    certain = col("times").is_null() & col("complete") & sure
    return marked.select("process", "entry", verdict=verdict(certain, early))  # type: ignore[arg-type]


# ---- links and queues ---------------------------------------------------------------------------


def _sent(tables: Tables) -> Relation:
    """Returns what correct processes sent to correct ones: ``process`` is the receiver."""
    sure = tables.requests.where(col("made") & ~col("to_process").is_null())
    first = sure.group("process", "to_process", "entry", pos=("min", "pos"))
    of_sender = tables.about(first, "correct", "sure", "late_from").where(col("correct"))
    sent = of_sender.select(
        "entry", "sure", early=col("pos") < col("late_from"), process=col("to_process")
    )
    return tables.about(sent, "correct", "complete").where(col("correct"))


def reliable_delivery(tables: Tables) -> Findings:
    """Something sent to a correct process is not delivered by it."""
    missing = _sent(tables).join(tables.firsts, "process", "entry", how="anti")
    yield "never delivered", _missing(tables, missing, col("sure"), col("early"))


def stubborn_delivery(tables: Tables) -> Findings:
    """Something sent to a correct process is not delivered by it twice."""
    again = tables.numbered.where(col("number") == 2)
    missing = _sent(tables).join(again, "process", "entry", how="anti")
    yield "not delivered again", _missing(tables, missing, col("sure"), col("early"))


def no_creation_on_links(tables: Tables) -> Findings:
    """Something is delivered that was not sent to the process, or can have been only
    afterwards."""
    sent = tables.requests.select("entry", process=col("to_process"))
    created = tables.firsts.join(sent, "process", "entry", how="anti")
    known = tables.processes.select("complete", sender=col("process"))
    found = created.join(known, "sender")
    yield (
        "created",
        found.select(
            "process", "entry", "pos", verdict=verdict(col("complete"), col("pos") == col("pos"))
        ),
    )
    events = requests_and_indications(tables, "to_process")
    to = either(col("asks"), col("to_process"), col("process"))
    sent_first = events.select(*LINE, to_process=to).where(~col("to_process").is_null())
    yield from requested_first(tables, sent_first, "entry", "to_process")


def handed_to_some(tables: Tables) -> Findings:
    """Something that a correct process requests is delivered by none."""
    yield "lost", never(tables, tables.firsts, asked_of_correct(tables))


def never(tables: Tables, happened: Relation, asked: Relation) -> Relation:
    """Returns what of ``asked`` has not ``happened`` to any process, by messages."""
    lost = asked.join(happened, "message", how="anti")
    known = lost.join(tables.runs.select("run", "whole"), "run")
    certain = col("whole") & col("sure")
    return known.select(
        "process", "entry", "pos", verdict=verdict(certain, col("pos") < col("late_from"))
    )


def requested_by_some(tables: Tables) -> Findings:
    """A message is delivered, or a value decided, that no process requested, or one can have
    requested only afterwards."""
    created = tables.firsts.join(tables.requests, "message", how="anti")
    known = tables.about(created, "run").join(tables.runs.select("run", "whole"), "run")
    certain = verdict(col("whole"), col("pos") == col("pos"))
    yield "created", known.select("process", "entry", "pos", verdict=certain)
    yield from requested_first(tables, requests_and_indications(tables, "message"), "message")
