"""Tiered compilation: optimised code replaces quickly compiled code during the search.

Most systems are explored before an optimiser has read them.  So a search starts with code that was
compiled without optimisation; where it takes longer than compiling again would, a thread of its own
makes optimised code, and the search continues with that: no table belongs to the code.
"""

from __future__ import annotations

import math
from functools import partial

from checker.engines.budgets import WorkerThread
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import Effort, Kernel, compile_image, load_image

SECONDS_PER_CHARACTER = 2e-6
"""Seconds of search, per character of IR, before optimised code is made: about half of what making
it takes.  Where less than that is left of the time it is not begun.
"""


def first_kernel(image: KernelImage) -> tuple[Kernel, bool]:
    """The first kernel, and whether better code can be made: it is optimised only if it is at
    hand.
    """
    kernel = load_image(image, Effort.FULL)
    if kernel is not None:
        return kernel, False
    return compile_image(image, Effort.QUICK), True


class PendingOptimisation:
    """Optimised code for ``image``, being compiled; ``timeout``: seconds of the whole search."""

    def __init__(self, image: KernelImage, timeout: float | None = None) -> None:
        self._image = image
        self._after = len(image.text) * SECONDS_PER_CHARACTER
        self._latest = math.inf if timeout is None else timeout - 2 * self._after
        self._made: WorkerThread[Kernel] | None = None
        self._over = False

    def poll(self, seconds: float) -> Kernel | None:
        """After ``seconds`` of search: the optimised kernel, once, when it is ready."""
        if self._over:
            return None
        if self._made is None:
            if self._after <= seconds <= self._latest:
                self._made = WorkerThread(partial(compile_image, self._image))
            return None
        if not self._made.is_done:
            return None
        self._over = True
        return self._made.result()

    def close(self) -> Kernel | None:
        """Returns the optimised kernel if it is ready, once.  A compilation under way is abandoned:
        the next search of the same system would take as long as this one without it."""
        made, self._made = self._made, None
        if made is None or self._over or not made.is_done:
            return None
        self._over = True
        return made.result()
