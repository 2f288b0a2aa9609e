"""Stepping through a check of which the valence of all states is known."""

from __future__ import annotations

from checker.instantiate.instantiated import Instantiated
from checker.results.answer import State
from checker.results.trace import Header, StillOpen
from checker.session.trace_header import header_of
from checker.simulate.prepared_check import PreparedCheck
from checker.valence.compute import Computed


def prepared(computed: Computed) -> PreparedCheck:
    """Returns the check, prepared for stepping, with the system whose states have a valence."""
    question = computed.question

    def header(made: Instantiated) -> Header:
        return header_of(question.path, question.check, made, question.options)

    options = question.options
    return PreparedCheck(
        question.check, options.settings, header, fine=options.fine_steps, made=computed.made
    )


def still_open(computed: Computed, state: State) -> str:
    """Returns what can still be decided in a state: ``{0,1}``."""
    return str(StillOpen(computed.open(state)))
