"""The handshake by which two tasks of a run authenticate one another on a new connection.

    the one who is called   32 random bytes
    the caller              32 random bytes, its number, and its proof
    the one who is called   its proof

A proof (HMAC-SHA-256 with the run's token) covers all messages so far, the caller and the callee,
and the *room*: the set of tasks.  So messages that were recorded elsewhere or earlier prove
nothing, nor do those of a task of an earlier attempt.  All messages have a fixed length, and the
handshake has to be complete in a few seconds: an attacker learns nothing and costs nothing.

Both then have a key for each direction, derived from the token and from all messages so far, which
no other process and no other connection has: all further messages are *sealed* with it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
import time

from msgspec import Struct

SECONDS = 5.0
"""The time limit of a handshake in seconds."""
NONCE, NUMBER, PROOF = 32, 4, 32
"""Sizes in bytes."""


class MessageAuthenticator:
    """Signs the messages of one direction of a connection, or checks them, in order: HMAC-SHA-256
    of a message and its number, so that none can be changed, repeated, left out or sent back."""

    def __init__(self, key: bytes) -> None:
        self._keyed = hmac.new(key, digestmod="sha256")
        self._count = 0

    def next(self, message: bytes) -> bytes:
        """Returns the signature of the next message."""
        signing = self._keyed.copy()
        signing.update(self._count.to_bytes(8, "big"))
        signing.update(message)
        self._count += 1
        return signing.digest()

    def fits(self, signature: bytes, message: bytes) -> bool:
        """Returns whether ``signature`` is that of the next message."""
        return hmac.compare_digest(signature, self.next(message))


class MessageAuthenticators(Struct, frozen=True):
    """The authenticators of one side of a connection: for sent and for received messages."""

    sent: MessageAuthenticator
    received: MessageAuthenticator


class UnknownPeer(Exception):
    """The peer is no task of this run, or was silent for too long; the message says which."""


class PeerClosed(UnknownPeer):
    """The peer has closed the connection."""


class Handshake(Struct, frozen=True):
    """The credentials with which task ``index`` authenticates itself: the run's ``token``, and the
    tasks in the ``room``.
    """

    token: bytes
    index: int
    room: bytes

    @classmethod
    def among(cls, token: bytes, index: int, tasks: object) -> Handshake:
        """Makes the handshake; ``tasks``: anything that is the same for all tasks of this attempt,
        and for no others.
        """
        return cls(token, index, hashlib.sha256(repr(tasks).encode()).digest())

    def call(self, line: socket.socket, other: int) -> MessageAuthenticators:
        """Authenticates on a connection to task ``other``; returns the caller's authenticators.

        Raises :class:`UnknownPeer`, ``OSError``.
        """
        until = time.monotonic() + SECONDS
        theirs, mine = _receive_exactly(line, NONCE, until), secrets.token_bytes(NONCE)
        number = self.index.to_bytes(NUMBER, "big")
        said = self.room + number + other.to_bytes(NUMBER, "big") + theirs + mine
        line.sendall(mine + number + self._proof(b"caller", said))
        try:
            proof = _receive_exactly(line, PROOF, until)
        except PeerClosed:
            raise UnknownPeer("it rejects this run's token") from None
        if not hmac.compare_digest(proof, self._proof(b"called", said)):
            raise UnknownPeer("it does not know this run's token")
        return MessageAuthenticators(self._seal(b"caller", said), self._seal(b"called", said))

    def answer(self, line: socket.socket) -> tuple[int, MessageAuthenticators]:
        """Authenticates on an incoming connection; returns the caller's number, and the callee's
        authenticators.

        Raises :class:`UnknownPeer`, ``OSError``.
        """
        until, mine = time.monotonic() + SECONDS, secrets.token_bytes(NONCE)
        line.sendall(mine)
        heard = _receive_exactly(line, NONCE + NUMBER + PROOF, until)
        theirs, number, proof = heard[:NONCE], heard[NONCE:-PROOF], heard[-PROOF:]
        said = self.room + number + self.index.to_bytes(NUMBER, "big") + mine + theirs
        if not hmac.compare_digest(proof, self._proof(b"caller", said)):
            raise UnknownPeer("it does not know this run's token")
        line.sendall(self._proof(b"called", said))
        seals = MessageAuthenticators(self._seal(b"called", said), self._seal(b"caller", said))
        return int.from_bytes(number, "big"), seals

    def _proof(self, role: bytes, said: bytes) -> bytes:
        return hmac.digest(self.token, role + said, "sha256")

    def _seal(self, role: bytes, said: bytes) -> MessageAuthenticator:
        """Returns the authenticator of messages that the side in this role sends."""
        return MessageAuthenticator(
            hmac.digest(self.token, b"messages of the " + role + said, "sha256")
        )


def _receive_exactly(line: socket.socket, size: int, until: float) -> bytes:
    """Receives the next ``size`` bytes, and no more than those."""
    heard = b""
    while len(heard) < size:
        line.settimeout(max(until - time.monotonic(), 0.001))
        try:
            more = line.recv(size - len(heard))
        except TimeoutError:
            raise UnknownPeer(f"it sent no greeting within {SECONDS:g} s") from None
        if not more:
            raise PeerClosed("it closed the connection")
        heard += more
    return heard
