"""Three servers of PySyncObj; the leader is killed, and another one elected: held to specs.

`python examples/pysyncobj/story.py` prints a line; `python examples/pysyncobj/story.py leader_dies`
prints whole reports, with the run that explains the logs.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.loopback import PATIENCE, first, free_ports  # noqa: E402
from examples.telling import Story, tell  # noqa: E402

NAMES = ("p1", "p2", "p3")


def leaders(folder: Path) -> list[str]:
    """Returns the servers whose last line says that they lead."""
    found = []
    for name in NAMES:
        path = folder / f"{name}.ndjson"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        states = [row["state"] for row in map(json.loads, lines) if "state" in row]
        if states and states[-1]["phase"] == "leader":
            found.append(name)
    return found


def wait_for_leader(folder: Path, without: str = "") -> str:
    """Waits until a server other than ``without`` leads, and returns it."""
    others = [name for name in NAMES if name != without]
    return first(others, lambda name: name in leaders(folder), "no server was elected")


def run(folder: Path, seconds: float) -> None:
    """Makes the run."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = zip(NAMES, free_ports(len(NAMES)), strict=True)
    addresses = {name: f"127.0.0.1:{port}" for name, port in ports}
    names = json.dumps({address: name for name, address in addresses.items()})
    servers: dict[str, subprocess.Popen[bytes]] = {}
    try:
        for name, address in addresses.items():
            command = [sys.executable, str(HERE / "node.py"), address]
            command += [str(folder / f"{name}.ndjson"), "--names", names, "--adds", "2"]
            servers[name] = subprocess.Popen(command)
        killed = wait_for_leader(folder)
        time.sleep(seconds)
        servers[killed].send_signal(signal.SIGUSR1)
        wait_for_leader(folder, without=killed)
        time.sleep(seconds)
    finally:
        for server in servers.values():
            server.send_signal(signal.SIGTERM)
        for server in servers.values():
            server.wait(timeout=PATIENCE)


def play(_name: str, folder: Path) -> None:
    """Plays the scene."""
    run(folder / "logs", 1.0)


RAFT = f"{HERE / 'replication.bcast'}::of_raft"
KEEPS_ITS_TERM = f"{HERE / 'replication.bcast'}::keeps_its_term"
NAMES_FILE = HERE / "names.toml"
SCENES = ("leader_dies",)
STORY = Story(SCENES, play, specs=(RAFT, KEEPS_ITS_TERM), names=str(NAMES_FILE))

if __name__ == "__main__":
    sys.exit(tell(STORY))
