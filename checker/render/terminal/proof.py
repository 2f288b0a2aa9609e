"""Renders proofs in a report: the automaton, the assumption on sizes, the queries to z3."""

from __future__ import annotations

from collections.abc import Iterator

from checker.diagnostics.english import count
from checker.results.proof import Proof, Weakened
from checker.results.verdict import Report, Word


def proof_rows(report: Report) -> Iterator[tuple[str, str]]:
    """Yields rows about the proof of a report that has one."""
    proof = report.proof
    if proof is None:
        return
    yield "asked", _queries_text(proof)
    yield from (("method", method) for method in proof.methods)
    if proof.automaton is not None:
        size = proof.automaton
        parts = (
            count(size.locations, "location"),
            count(size.rules, "rule"),
            f"{count(size.guards, 'guard')} over counts",
        )
        yield "automaton", ", ".join(parts)
    yield "scope", _scope(report, proof)
    yield from (("proof", said) for said in _certificates(report))
    yield from (("sizes", said) for said in _sizes(report, proof))
    yield from (("proposed", said) for said in proof.proposals)


def _certificates(report: Report) -> Iterator[str]:
    """Yields the certificates of properties, equal ones together; none that was shown before."""
    names: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        if verdict.certificate and verdict.certificate not in verdict.reason:
            names.setdefault(verdict.certificate, []).append(verdict.property)
    for certificate, of in names.items():
        yield f"{', '.join(of)}: {certificate}"


def _queries_text(proof: Proof) -> str:
    return f"{count(proof.queries, 'query')} to z3, {proof.seconds:.2f} s"


def _scope(report: Report, proof: Proof) -> str:
    words = {verdict.word for verdict in report.verdicts}
    done = "PROVED" if words == {Word.PROVED} else "asked"
    if proof.scope:
        return f"{done} for {proof.scope}"
    sizes = ", ".join(f"{name}={value}" for name, value in report.parameters.items())
    return f"{done} for {sizes}, whatever the depth" if sizes else f"{done}, whatever the depth"


def _sizes(report: Report, proof: Proof) -> Iterator[str]:
    """Yields whether the assumption on sizes suffices, and whether a weaker one would."""
    if proof.sufficient is not None:
        enough = "is enough" if proof.sufficient else _enough_for(report)
        yield f"{proof.condition or 'no assumption'} {enough}{' and tight' * proof.tight}"
    yield from (_weaker_text(weaker) for weaker in proof.weakened)


def _enough_for(report: Report) -> str:
    """Names the properties for which the assumption suffices, where it does not for all."""
    held = [v.property for v in report.verdicts if v.word is Word.PROVED]
    failed = [v.property for v in report.verdicts if v.word is Word.VIOLATED]
    missed = f"NOT enough for {', '.join(failed)}" if failed else "NOT enough"
    return f"is enough for {', '.join(held)}, {missed}" if held else f"is {missed}"


def _weaker_text(weaker: Weakened) -> str:
    condition = weaker.condition or "nothing assumed"
    if weaker.property:
        numbers = ", ".join(f"{name}={value}" for name, value in weaker.numbers.items())
        return f"with {condition}: {weaker.property} fails ({numbers})"
    if weaker.reason:
        return f"with {condition}: not known, {weaker.reason}"
    return f"with {condition}: still proved"
