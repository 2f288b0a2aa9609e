"""A certificate that is wrong somewhere is refused."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from fractions import Fraction

import pytest

from checker.chance.certificate import Certificate, WrongCertificateError, check_probability
from checker.chance.exact import exact_probability
from checker.chance.graph import ProcessGraph
from checker.chance.objective import Kind, Objective
from checker.chance.probability import probability
from checker.records import replace
from tests.chance.models import Choice, Model, explore


def gamble() -> Model:
    """Wait forever, or gamble: win or lose with one half each, or toss again."""

    def choices(state: str) -> list[Choice]:
        return {
            "start": [{"start": 1}, {"toss": 1}],
            "toss": [{"won": 1, "lost": 1, "start": 2}],
            "won": [],
            "lost": [],
        }[state]

    return explore(["start"], choices)


def _certificate() -> tuple[Model, Objective, Certificate]:
    model = gamble()
    objective = Objective(Kind.EVENTUALLY, model.where(lambda s: s == "won"))
    found = probability(ProcessGraph(model.process), objective, largest=True)
    exact = exact_probability(found, objective)
    assert exact.value == Fraction(1, 2)
    return model, objective, exact.certificate


def _changed(values: dict[int, Fraction]) -> Callable[[Certificate], Certificate]:
    def change(certificate: Certificate) -> Certificate:
        now = [values.get(s, value) for s, value in enumerate(certificate.values)]
        return replace(certificate, values=now)

    return change


def _waiting(certificate: Certificate) -> Certificate:
    """A spurious solution: the value 1 of waiting forever, with the choice to wait."""
    values = [Fraction(1), Fraction(3, 4), Fraction(1), Fraction(0)]
    return replace(certificate, values=values, choices=array("q", [0, 2, -1, -1]))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (_changed({0: Fraction(3, 4), 1: Fraction(5, 8)}), "another value"),
        (_changed({0: Fraction(1, 3), 1: Fraction(1, 3)}), "better|another value"),
        (_changed({2: Fraction(1, 2)}), "given|another value"),
        (_changed({3: Fraction(-1, 2)}), "negative|another value"),
        (_waiting, "does not lead on"),
        (lambda c: replace(c, rank=[5] * 4), "does not lead on"),
        (lambda c: replace(c, choices=array("q", [-1] * 4)), "no choice"),
        (lambda c: replace(c, final={3: Fraction(1)}), "other states"),
    ],
)
def test_a_wrong_certificate_is_refused(
    wrong: Callable[[Certificate], Certificate], said: str
) -> None:
    model, objective, certificate = _certificate()
    check_probability(model.process, objective, True, certificate)
    with pytest.raises(WrongCertificateError, match=said):
        check_probability(model.process, objective, True, wrong(certificate))
