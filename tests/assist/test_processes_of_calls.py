"""No process outlives its call or its server, and calls at once answer as calls in turn."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from checker.assist.commands import Commands, Output
from checker.assist.condense import answer_of_check, answer_of_log, answer_of_mutation
from checker.assist.refusals import Refused
from checker.assist.tools import _no_report
from checker.processes import descendants
from tests.assist.calls import CRASH, HONEST, RELAY, Caller, require_valid

SLOW = {
    "path": "broadcast/eager_reliable", "check": "two_senders", "only": ["no_creation"],
    "set": {"n": "7", "links": "lossy"}, "budget": {"seconds": 50, "states": 100_000_000},
}  # fmt: skip
"""A search that needs more than its time."""


def marked(mark: str) -> list[int]:
    """The living processes whose environment has ``mark``."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                found += [] if state == "Z" else [int(folder.name)]
        except OSError:
            continue
    return found


def wait_until(condition: Callable[[], bool], tries: int = 400) -> bool:
    """Whether ``condition`` comes true; each try gives way to other processes."""
    for _ in range(tries):
        if condition():
            return True
        time.sleep(0.05)
    return condition()


@asynccontextmanager
async def over_stdio(root: Path, cache: Path) -> AsyncIterator[Client]:
    words = ["-P", "-m", "checker.cli", "mcp", "--root", str(root)]
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    async with Client(
        StdioServerParameters(command=sys.executable, args=words, env=environment)
    ) as client:
        yield client


def test_the_command_serves_over_stdio(tmp_path: Path) -> None:
    """Answers are those of the server in memory; nothing is left at the end, no folder either."""
    root, cache = tmp_path / "root", tmp_path / "cache"
    root.mkdir()
    cache.mkdir()
    (root / "relay.bcast").write_text(RELAY + CRASH, encoding="utf-8")

    async def run() -> None:
        async with over_stdio(root, cache) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [
                "look", "check", "prove", "simulate", "run", "log", "mutate", "library",
            ]  # fmt: skip
            given = {
                "path": "relay.bcast",
                "check": "crash",
                "budget": {"seconds": 40, "states": 10**6},
            }
            result = await client.call_tool("check", given)
            require_valid(result.structured_content, result.is_error, result.content[0].text)
            assert result.structured_content["outcome"] == "violated"
            skill = await client.read_resource("bivalence://skill")
            assert "Writing a spec" in skill.contents[0].text
            spec = await client.read_resource("bivalence://specs/broadcast/eager_reliable")
            assert "protocol EagerReliableBroadcast" in spec.contents[0].text
            for wrong in ("bivalence://../secret", "file:///etc/passwd"):
                with pytest.raises(Exception, match="no such resource"):
                    await client.read_resource(wrong)
            prompts = [each.name for each in (await client.list_prompts()).prompts]
            assert prompts == ["from_code", "from_description", "from_tla", "review"]
            assert marked(str(cache))

    anyio.run(run)
    assert wait_until(lambda: not marked(str(cache)))
    assert not [*cache.rglob("session-*")]
    assert [path.name for path in root.iterdir()] == ["relay.bcast"]


@pytest.mark.every
@pytest.mark.parametrize("how", ["cancelled", "killed"])
def test_nothing_outlives_a_call(tmp_path: Path, how: str) -> None:
    """The call is cancelled, or its server killed, while its command searches."""
    cache = tmp_path / "cache"
    cache.mkdir()

    def working() -> bool:
        return any("check" in _words(process) for process in marked(str(cache)))

    async def run() -> None:
        async with over_stdio(tmp_path, cache) as client:
            async with anyio.create_task_group() as calls:

                async def call() -> None:
                    with suppress(MCPError):  # the server is gone
                        await client.call_tool("check", SLOW)

                calls.start_soon(call)
                assert await anyio.to_thread.run_sync(wait_until, working)
                if how == "cancelled":
                    calls.cancel_scope.cancel()
                else:
                    server = next(p for p in descendants(os.getpid()) if "mcp" in _words(p))
                    for each in [server, *descendants(server)]:
                        if "mcp" in _words(each):
                            os.kill(each, signal.SIGKILL)
                    assert await anyio.to_thread.run_sync(
                        wait_until, lambda: not marked(str(cache))
                    )
                    calls.cancel_scope.cancel()
            if how == "cancelled":
                assert await anyio.to_thread.run_sync(wait_until, lambda: not working())
                result = await client.call_tool("library", {"code": "N003"})
                assert not result.is_error

    anyio.run(run)
    assert wait_until(lambda: not marked(str(cache)))


def _words(process: int) -> list[str]:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return []


def test_a_command_that_is_late_is_unknown(call: Caller, folder: Path) -> None:
    found = call("check", **{**SLOW, "budget": {"seconds": 2, "states": 100_000_000}})
    assert found["outcome"] == "unknown"
    assert found["as_expected"] is not True


def test_a_command_that_is_told_to_end_before_it_listens_is_unknown(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """The signal ends it while it is still importing, so it writes nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("checker.assist.commands.LATE", 0)

    async def run() -> Output:
        commands = Commands()
        found = await commands.run(["diagnostic", "N003"], commands.new_folder(), 0)
        commands.close()
        return found

    found = anyio.run(run)
    assert found.late and not found.out
    assert _no_report(found).outcome == "unknown"


def test_a_command_that_had_no_time_to_begin_is_unknown() -> None:
    document = {"reports": [], "diagnostics": [], "exit_code": 3}
    for condense in (lambda d: answer_of_check(d, {}), answer_of_log, answer_of_mutation):
        assert condense(document).outcome == "unknown"
        assert condense({**document, "exit_code": 2}).outcome == "unknown"
        wrong = {"code": "S001", "message": "m", "file": "f", "line": 1, "column": 1}
        said = [{**wrong, "hint": "", "expected": ""}]
        assert condense({**document, "diagnostics": said, "exit_code": 2}).outcome == "unusable"


def test_calls_at_once_answer_as_calls_in_turn(call: Caller, folder: Path) -> None:
    (folder / "relay.bcast").write_text(RELAY + CRASH + HONEST, encoding="utf-8")
    budget = {"seconds": 50, "states": 100_000}
    given = [{"path": "relay.bcast", "check": c, "budget": budget} for c in ("crash", "honest")] * 2

    async def at_once() -> list[Any]:
        found: list[Any] = [None] * len(given)

        async def one(number: int) -> None:
            found[number] = await call.client.call_tool("check", given[number])

        async with anyio.create_task_group() as calls:
            for number in range(len(given)):
                calls.start_soon(one, number)
        return [each.structured_content for each in found]

    together = call.portal.call(at_once)
    in_turn = [call.raw("check", each) for each in given[:2]] * 2
    assert [_essence(each) for each in together] == [_essence(each) for each in in_turn]


def _essence(found: dict[str, Any]) -> Any:
    verdicts = [(v["property"], v["verdict"]) for v in found["verdicts"]]
    return found["outcome"], found["claim"], verdicts, found["search"]["states"]


def test_more_calls_than_can_wait_are_refused(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    codes: list[str] = []

    async def run() -> None:
        commands = Commands()
        monkeypatch.setattr(commands, "_free", anyio.CapacityLimiter(1))

        async def one() -> None:
            try:
                await commands.run(["diagnostic", "N003"], commands.new_folder(), 30)
            except Refused as why:
                codes.append(why.code)

        async with anyio.create_task_group() as calls:
            for _ in range(11):
                calls.start_soon(one)
        commands.close()

    anyio.run(run)
    assert codes == ["A005", "A005"]
