"""Tests see signals as a program at a terminal does."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # the run was started in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
