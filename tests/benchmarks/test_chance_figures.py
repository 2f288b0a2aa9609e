"""The benchmark of chance: small cases of it work, and a wrong value ends it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from benchmarks.chance import CASES, answers, table
from benchmarks.comparing import WrongAnswer
from checker.records import replace


def test_the_smallest_case() -> None:
    done = list(answers(CASES[0]))
    assert [one.exact for one in done] == ["49/128", "13/120", "75", "48"]
    assert "13/120" in table(done).text()


def test_a_wrong_value_ends_it() -> None:
    name, _, ask = CASES[0].questions[0]
    wrong = replace(CASES[0], questions=((name, Fraction(1, 3), ask),))
    with pytest.raises(WrongAnswer, match="not in the interval"):
        list(answers(wrong))
