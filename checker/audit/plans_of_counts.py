"""Plans of properties that count: at most, at least, exactly once; calls and returns; payloads."""

from __future__ import annotations

from collections.abc import Callable

from checker.audit.plans_of_messages import asked_of_correct, never, no_duplication
from checker.audit.relations import Relation, col
from checker.audit.tables import VIOLATED, Findings, Tables, verdict

Plan = Callable[[Tables], Findings]


def once(times: str, over: str) -> Plan:
    """Returns the plan of ``exactly_once over effects``, or of another such."""
    plans: list[Plan] = []
    if times != "at_least_once":
        plans.append(no_duplication if over == "deliveries" else _at_most(over))
    if times != "at_most_once":
        plans.append(_at_least(over))

    def plan(tables: Tables) -> Findings:
        for each in plans:
            yield from each(tables)

    return plan


def _happened(tables: Tables, over: str) -> Relation:
    if over == "deliveries":
        return tables.firsts
    return tables.performed if over == "processings" else tables.effects


def _at_most(over: str) -> Plan:
    def plan(tables: Tables) -> Findings:
        """Something is performed, or has its effect, twice, by whomever."""
        happened = _happened(tables, over)
        counted = happened.group(
            "message", times=("count", ""), least=("min", "process"), most=("max", "process")
        )
        twice = counted.where(col("times") > 1)
        same = twice.where(col("least") == col("most")).select("message")
        by_one = happened.join(same, "message", how="semi").window(
            ("message",), "pos", number=("number", "pos"), pos2=("previous", "pos")
        )
        kind = "performed twice" if over == "processings" else "had its effect twice"
        yield (
            kind,
            by_one.where(col("number") > 1).select(
                "process", "entry", "pos", "pos2", verdict=VIOLATED
            ),
        )
        by_two = twice.where(col("least") != col("most"))
        yield (
            f"{kind}, by two",
            by_two.select("message", process=col("least"), process2=col("most"), verdict=VIOLATED),
        )

    return plan


def _at_least(over: str) -> Plan:
    kind = "lost" if over == "deliveries" else "never performed"

    def plan(tables: Tables) -> Findings:
        """What a correct process requests never happens, to whomever."""
        yield kind, never(tables, _happened(tables, over), asked_of_correct(tables))

    return plan


def operations_return(tables: Tables) -> Findings:
    """A correct process has called more often than it was answered."""
    calls = tables.requests.where(col("made")).select("process", call=1, answer=0, pos=col("pos"))
    answers = tables.deliveries.select("process", call=0, answer=1, pos=col("pos"))
    counted = calls.union(answers).group(
        "process", calls=("sum", "call"), answers=("sum", "answer"), pos=("max", "pos")
    )
    known = tables.about(counted, "correct", "sure", "complete", "late_from")
    waiting = known.where(col("correct") & (col("calls") > col("answers")))
    certain = col("sure") & col("complete")
    yield (
        "never answered",
        waiting.select("process", verdict=verdict(certain, col("pos") < col("late_from"))),
    )


def same_payload(tables: Tables) -> Findings:
    """What is delivered has another payload than what was requested."""
    hashed = tables.events.where(~col("payload_hash").is_null())
    bounds = hashed.select("entry", "payload_hash").group(
        "entry", least=("min", "payload_hash"), most=("max", "payload_hash")
    )
    differ = bounds.where(col("least") != col("most"))
    yield "another payload", differ.select("entry", verdict=VIOLATED)
