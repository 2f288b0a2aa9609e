"""Plans say the same as SQL, by another engine, as the plain definitions say."""

from __future__ import annotations

from pathlib import Path

import pytest

from checker.audit import audit as auditing
from tests.audit import test_group_plans, test_plans
from tests.audit.sql_engine import SqlEngine


@pytest.fixture(autouse=True)
def as_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "ArrowEngine", SqlEngine)


@pytest.mark.parametrize("interface", test_plans.INTERFACES)
def test_plans_of_interfaces(interface: str, tmp_path: Path) -> None:
    for seed in (20, 21, 22):
        test_plans.compare(interface, 25, seed, tmp_path)


@pytest.mark.parametrize("interface", test_group_plans.INTERFACES)
def test_plans_of_groups(interface: str, tmp_path: Path) -> None:
    test_group_plans.compare(interface, 20, 40, tmp_path)
