"""Reads the progress that tasks report in the run's folder, for a listener."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from checker.engines.native.checkpoint.run_folder import RunFolder
from checker.engines.spark.job import PROGRESS
from checker.results.answer import Listener, Progress

LOOK = 0.3
"""Seconds between two polls."""


class ProgressReader:
    """Reports to ``listener``, while its block runs, the progress in ``folder``; ``started``: when
    the run began, by ``time.monotonic``.
    """

    def __init__(self, folder: RunFolder, listener: Listener | None, started: float) -> None:
        self._folder, self._listener, self._started = folder, listener, started
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> ProgressReader:
        if self._listener is not None:
            self._folder.say(PROGRESS, {})
            self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        assert self._listener is not None
        while not self._over.wait(LOOK):
            said = self._folder.read_message(PROGRESS)
            if said:
                seconds = time.monotonic() - self._started
                self._listener(
                    Progress(said["states"], said["frontier"], said["depth"], seconds, said["used"])
                )
