"""A client: asks the node that listens on a port for the broadcast of a message."""

from __future__ import annotations

import json
import socket
import sys

if __name__ == "__main__":
    port, message = sys.argv[1:]
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        connection.sendall(json.dumps({"broadcast": message}).encode() + b"\n")
