"""How a harness drives RabbitMQ, at level 0: bytes pass, unless a link is cut.

The broker is a node, and so are its clients: what they send it goes through proxies.  It has a port
for them, one for other brokers, and one for Erlang's port mapper.
"""

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OWN_COPIES = False
LOGGED = ["request", "indicate"]
HELD = False
PORTS = 3
START = 120.0
PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
BROKER, CLIENT, WORKERS = "b1", "c1", ["w1", "w2"]
brokers = {}
"""Where each node reaches the broker."""


def nodes():
    return [BROKER, CLIENT, *WORKERS]


def command(node, port, ports):
    brokers[node] = ports[BROKER]
    if node == CLIENT:
        return ["sleep", "infinity"]  # its requests are programs of their own
    if node == BROKER:
        script = [f"export {name}={value}" for name, value in environment(port).items()]
        script += ["echo '[].' > plugins", f"exec nice {PROGRAM}"]
        return ["sh", "-c", "; ".join(script)]
    how = "--automatic" if os.environ.get("RABBITMQ_ACKS") == "automatic" else "--manual"
    after = WORKERS[0] if node == WORKERS[1] else ""  # the first one to ask is served first
    return python("consume.py", ports[BROKER], log(node), how, f"--after={after}")


def environment(port):
    return {
        "HOME": '"$PWD"',
        "ERL_CRASH_DUMP": '"$PWD/erl_crash.dump"',
        "ERL_EPMD_PORT": port + 2,
        "ERL_EPMD_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODENAME": f"harness{port}@localhost",
        "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
        "RABBITMQ_NODE_PORT": port,
        "RABBITMQ_DIST_PORT": port + 1,
        "RABBITMQ_MNESIA_BASE": '"$PWD/state"',
        "RABBITMQ_LOG_BASE": '"$PWD/said"',
        "RABBITMQ_PID_FILE": '"$PWD/pid"',
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_CONFIG_FILE": '"$PWD/none"',
        "RABBITMQ_ENABLED_PLUGINS_FILE": '"$PWD/plugins"',
        "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
            "'+S 1:1 -kernel inet_dist_use_interface {127,0,0,1}'"
        ),
    }


def ready(node, port):
    if node == BROKER:
        return python("submit.py", port)
    return ["test", "-e", f"{node}.consumes"] if node in WORKERS else ["true"]


def log(node):
    return f"{node}.ndjson"


def request(node, port, name, values):
    assert (node, name) == (CLIENT, "submit"), (node, name)
    return python("submit.py", brokers[node], *values, "--log", log(node))


def python(program, *words):
    path = f"PYTHONPATH={HERE.parents[1]}"
    return ["env", path, sys.executable, str(HERE / program), *map(str, words)]
