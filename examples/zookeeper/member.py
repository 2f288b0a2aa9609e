"""A server of ZooKeeper with links of its own: it becomes the program of `java`.

    python member.py NODE PORT PORTS

Followers reach a leader at its PORT, others reach it in elections at PORT + 1, and clients at
PORT + 2.  PORTS, as JSON, has where this member reaches each leader, through a proxy; elections
have no proxies.  The first member leads: it has the greatest number, and those that it does not
need for a majority start when it leads.
"""

from __future__ import annotations

import json
import os
import sys
import time
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from examples.zookeeper.server import configured, mode_of, zookeeper  # noqa: E402

MORE = "tickTime=2000\nlocalSessionsEnabled=true\n"
"""With local sessions a client can connect to a member that is cut off from its leader."""


def main() -> None:
    """Waits for the ports of the others, and for the leader; starts the server in its place."""
    if not zookeeper():
        sys.exit("ZooKeeper or a Java is missing: apt install zookeeper")
    if find_spec("kazoo") is None:
        sys.exit("kazoo, for the clients, is missing: pip install '.[examples]'")
    node, port, known = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3])
    names = sorted({node, *known})
    own = Path(f"{node}.port")
    own.with_suffix(".new").write_text(str(port), encoding="utf-8")
    own.with_suffix(".new").rename(own)
    listening = {name: port_of(name) for name in names}
    while names.index(node) > len(names) // 2 and mode_of(listening[names[0]] + 2) != "leader":
        time.sleep(0.05)
    numbers = {name: len(names) - at for at, name in enumerate(names)}
    ensemble = {
        numbers[name]: (port if name == node else known[name], listening[name] + 1)
        for name in names
    }
    folder = Path(f"{node}.zookeeper").resolve()
    command = configured(folder, numbers[node], port + 2, ensemble, MORE)
    os.execvp(command[0], command)


def port_of(name: str) -> int:
    """Waits until a member has said at which port it listens; returns it."""
    while not (said := Path(f"{name}.port")).exists():
        time.sleep(0.05)
    return int(said.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
