"""The table of budgets, in a process of its own: what runs away there takes nobody else along."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TABLE = Path(__file__).with_name("test_budgets.py")


def test_budgets_bind_in_every_phase() -> None:
    outside = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TABLE)]
    ended = subprocess.run(command, capture_output=True, text=True, env=outside, check=False)
    assert ended.returncode == 0, ended.stdout[-5000:]
