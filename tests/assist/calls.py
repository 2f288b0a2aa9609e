"""Calls of the tools for tests: a server in memory, with files below a root of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client

from checker.assist import answer as answers
from checker.assist.server import make_server

ANSWERS = Draft202012Validator(answers.schema())
BUDGET = {"seconds": 30, "states": 200_000}
RELAY = """\
protocol Relay implements ReliableBroadcast {
  uses beb : BestEffortBroadcast
  message DATA(m: Msg)
  upon request broadcast(m) { beb.broadcast(DATA(m)) }
  upon beb.deliver(p, DATA(m)) { deliver(p, m) }
}
"""
HONEST = "check honest of Relay { n = 3 clients { p1 broadcasts a } prove agreement }\n"
CRASH = """\
check crash of Relay { n = 3 faults crash <= 1 clients { p1 broadcasts a } prove agreement }
"""
SILENT = "check silent of Relay { n = 3 faults crash <= 1 prove agreement }\n"
WEAK = "  property agreement : always forall p in Proc: p in Proc\n}\n"


def weakened(text: str = RELAY) -> str:
    """Returns the protocol with an agreement of its own that says nothing."""
    return text.rstrip().removesuffix("}") + WEAK


class Caller:
    """Calls tools of one server from outside of its thread; every answer is checked against the
    schema."""

    def __init__(self, client: Client, portal: BlockingPortal) -> None:
        self.client, self.portal = client, portal

    def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        if tool not in ("look", "library"):
            arguments.setdefault("budget", BUDGET)
        return self.raw(tool, arguments)

    def raw(self, tool: str, arguments: Any) -> dict[str, Any]:
        """Calls a tool with these very arguments."""
        result = self.portal.call(self.client.call_tool, tool, arguments)
        found = result.structured_content
        assert found is not None
        require_valid(found, result.is_error, result.content[0].text)
        return found


def require_valid(found: dict[str, Any], refused: bool, text: str) -> None:
    """Fails unless an answer is what its schema says, small, and agrees with its text."""
    ANSWERS.validate(found)
    assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()) <= 8_000
    assert text.startswith(f"{found['outcome']}: ")
    assert found["claim"][:200] in text
    assert len(text.encode()) <= 1_000
    codes = [problem["code"] for problem in found["problems"]]
    assert refused == any(code.startswith("A") and code != "A008" for code in codes), codes
    assert "Traceback" not in text
    if refused:
        assert found["outcome"] == "unusable"


@contextmanager
def served(root: Path) -> Iterator[Caller]:
    """Yields a caller of a server whose root is ``root``, which has ended behind the block."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(make_server(root))) as client,
    ):
        yield Caller(client, portal)
