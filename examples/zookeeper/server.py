"""How a ZooKeeper is started, and how it is asked what it does."""

from __future__ import annotations

import contextlib
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

JAR = Path("/usr/share/java/zookeeper.jar")
MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain"


def zookeeper() -> bool:
    """Returns whether ZooKeeper and a Java are installed."""
    return JAR.exists() and shutil.which("java") is not None


def configured(
    folder: Path, number: int, port: int, ensemble: Mapping[int, tuple[int, int]], more: str = ""
) -> list[str]:
    """Returns the command of server ``number``, whose state is in ``folder``, a new one.

    ``port``: for clients; ``ensemble``: where it reaches each server, by number, as ports of the
    loopback interface: that of a leader for its followers, and that for elections; ``more``:
    lines of its configuration.
    """
    folder.mkdir(exist_ok=True)
    (folder / "myid").write_text(f"{number}\n", encoding="utf-8")
    servers = "".join(
        f"server.{each}=127.0.0.1:{leader}:{election}\n"
        for each, (leader, election) in ensemble.items()
    )
    config = folder / "zoo.cfg"
    config.write_text(
        f"dataDir={folder}\nclientPort={port}\nclientPortAddress=127.0.0.1\n"
        f"initLimit=20\nsyncLimit=10\nadmin.enableServer=false\n{more}{servers}",
        encoding="utf-8",
    )
    return ["java", "-Xmx64m", "-XX:+UseSerialGC", "-cp", str(JAR), MAIN, str(config)]


def mode_of(port: int) -> str:
    """Returns what the server says that it does whose clients connect to ``port`` (leader,
    follower); nothing: it does not serve."""
    with contextlib.suppress(OSError), contextlib.closing(socket.socket()) as asking:
        asking.settimeout(2)
        asking.connect(("127.0.0.1", port))
        asking.sendall(b"srvr")
        said = b"".join(iter(lambda: asking.recv(4096), b"")).decode()
        return next((line[6:] for line in said.splitlines() if line.startswith("Mode: ")), "")
    return ""
