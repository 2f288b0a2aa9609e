"""Parses a master's name, and tests whether it is reachable, before Spark is started."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

from checker.diagnostics import Diagnostic, SpecError

PATIENCE = 5.0
"""Seconds in which a master has to accept a connection."""

CONNECT_PORT = 15002
HIDDEN = "…"
"""The replacement of a secret."""
FORMS = "local[N], spark://HOST:PORT, yarn, k8s://https://HOST:PORT, sc://HOST"


_SECRET = re.compile(r"secret|password|token|access[._-]?key|credential", re.IGNORECASE)


def redact_master(master: str) -> str:
    """Returns a master's name without secrets."""
    first, *more = master.split(";")
    return ";".join([first, *(redact_setting(*one.split("=", 1)) for one in more)])


def redact_setting(name: str, value: str = "") -> str:
    """Returns a setting of Spark, as NAME=VALUE, without secrets."""
    return f"{name}={HIDDEN if _SECRET.search(name) else value}"


def is_local(master: str) -> bool:
    """Returns whether everything runs on this machine, in processes that Spark starts itself."""
    return (
        re.fullmatch(r"local(\[(\d+|\*)(, *\d+)?\]|-cluster\[ *\d+ *, *\d+ *, *\d+ *\])?", master)
        is not None
    )


def is_connect(master: str) -> bool:
    """Returns whether the driver is behind Spark Connect."""
    return master.startswith("sc://")


def on_loopback(master: str) -> bool:
    """Returns whether nothing but this machine is involved."""
    if is_local(master):
        return True
    hosts = [host for host, _ in addresses(master)]
    return bool(hosts) and all(h in {"localhost", "::1"} or h.startswith("127.") for h in hosts)


def addresses(master: str) -> list[tuple[str, int]]:
    """Returns the hosts and ports of a master; several where some are on standby.

    There are none for ``local`` and ``yarn``.  Raises :class:`SpecError` (E023) for an invalid
    name.
    """
    if is_local(master) or master == "yarn":
        return []
    try:
        found = list(_parse_addresses(master))
    except ValueError:
        found = []
    if not found:
        message = f"{redact_master(master)!r} is not a Spark master"
        raise SpecError((Diagnostic("E023", message, hint=f"such as {FORMS}"),))
    return found


def _parse_addresses(master: str) -> Iterator[tuple[str, int]]:
    scheme, separator, rest = master.partition("://")
    if not separator:
        return
    if scheme == "spark":
        for place in rest.split(","):
            host, colon, port = place.rpartition(":")
            if not (host and colon):
                raise ValueError(place)
            yield host.strip("[]"), int(port)
    elif scheme == "sc":
        parts = urlsplit(f"//{rest}")
        if parts.hostname:
            yield parts.hostname, parts.port or CONNECT_PORT
    elif scheme == "k8s":
        parts = urlsplit(rest if "://" in rest else f"https://{rest}")
        if parts.hostname and parts.scheme in {"http", "https"}:
            yield parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)


def require_reachable(master: str) -> None:
    """Raises :class:`SpecError` (E023) where ``master`` does not answer within five seconds."""
    if master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            message = "--master yarn needs the cluster's configuration"
            hint = "set HADOOP_CONF_DIR or YARN_CONF_DIR to its folder"
            raise SpecError((Diagnostic("E023", message, hint=hint),))
        return
    reasons: list[str] = []
    for host, port in addresses(master):
        try:
            socket.create_connection((host, port), PATIENCE).close()
            return
        except OSError as problem:
            reasons.append(f"{host}:{port}: {_error_text(problem)}")
    if reasons:
        message = f"no answer from {redact_master(master)} ({'; '.join(reasons)})"
        hint = "check that it is running, the port, and that the network admits this machine"
        raise SpecError((Diagnostic("E023", message, hint=hint),))


def _error_text(problem: OSError) -> str:
    if isinstance(problem, TimeoutError):
        return f"no answer within {PATIENCE:g} s"
    return str(problem.strerror or problem).lower()
