"""A client of etcd over its gateway of JSON and HTTP, with Python's standard library."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
from collections.abc import Iterator
from typing import Any

TIMEOUT = 5.0
"""Seconds that a member may take for an answer."""
PREFIX = "log/"
UNREACHABLE = (OSError, http.client.HTTPException, ValueError)
"""What is raised where a member is down, goes down, or has no leader."""


def put(port: int, name: str, value: str) -> int:
    """Writes ``value`` at ``name``, and returns its revision."""
    body = _ask(port, "/v3/kv/put", {"key": _b64(PREFIX + name), "value": _b64(value)})
    return int(body["header"]["revision"])


def get(port: int, name: str, serializable: bool) -> str | None:
    """Returns what is written at ``name``: as the member that is asked has it, if the read is
    ``serializable``, and otherwise as a majority has."""
    body = _ask(port, "/v3/kv/range", {"key": _b64(PREFIX + name), "serializable": serializable})
    found = body.get("kvs", ())
    return base64.b64decode(found[0]["value"]).decode() if found else None


def member_and_leader(port: int) -> tuple[str, str]:
    """Returns the numbers of a member and of the leader that it knows: empty if it knows none."""
    status = _ask(port, "/v3/maintenance/status", {})
    leader = status.get("leader", "0")
    return status["header"]["member_id"], "" if leader == "0" else leader


@contextlib.contextmanager
def unheard_put(port: int, name: str, value: str) -> Iterator[None]:
    """Sends the request to write ``value``; goes away at the end without its answer.

    Who goes away at once has asked nothing: etcd gives up what nobody waits for.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    request = {"key": _b64(PREFIX + name), "value": _b64(value)}
    connection.request("POST", "/v3/kv/put", json.dumps(request))
    try:
        yield
    finally:
        connection.close()


def put_if_new(port: int, name: str, value: str) -> int:
    """Writes ``value`` unless ``name`` is there; returns the revision at which it was written, by
    this request or by an earlier one."""
    key = _b64(PREFIX + name)
    asked = {
        "compare": [{"key": key, "target": "CREATE", "create_revision": "0"}],
        "success": [{"request_put": {"key": key, "value": _b64(value)}}],
        "failure": [{"request_range": {"key": key}}],
    }
    body = _ask(port, "/v3/kv/txn", asked)
    if body.get("succeeded"):
        return int(body["header"]["revision"])
    return int(body["responses"][0]["response_range"]["kvs"][0]["mod_revision"])


def watch(port: int, revision: int) -> Iterator[tuple[int, str]]:
    """Yields what is written from ``revision`` on: revisions and values, as one member tells."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    asked = {
        "key": _b64(PREFIX),
        "range_end": _b64(PREFIX[:-1] + chr(ord(PREFIX[-1]) + 1)),
        "start_revision": str(revision),
    }
    try:
        connection.request("POST", "/v3/watch", json.dumps({"create_request": asked}))
        response = connection.getresponse()
        while line := response.readline():
            for event in json.loads(line)["result"].get("events", ()):
                value = base64.b64decode(event["kv"]["value"]).decode()
                yield int(event["kv"]["mod_revision"]), value
    finally:
        connection.close()


def leads(port: int) -> bool:
    """Returns whether the member says that it leads; ``False`` where it is down."""
    try:
        status = _ask(port, "/v3/maintenance/status", {})
    except UNREACHABLE:
        return False
    return status.get("leader", "0") == status["header"]["member_id"]


def _ask(port: int, path: str, body: dict[str, Any]) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    try:
        connection.request("POST", path, json.dumps(body))
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise ConnectionError(text.decode(errors="replace"))
        found: dict[str, Any] = json.loads(text)
        return found
    finally:
        connection.close()


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
