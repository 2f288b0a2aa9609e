"""Weighs the states of a part of a run's folder."""

from __future__ import annotations

from checker.engines.native.checkpoint.run_folder import Part, RunFolder
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.search.reduction_stats import add_samples, weigh
from checker.engines.native.sharding.backward_search import kernel_of


def weigh_part(image: KernelImage, folder: RunFolder, part: Part, states: int) -> tuple[int, int]:
    """Weighs a part as :func:`checker.engines.native.search.reduction_stats.weigh` does."""
    import pyarrow as pa

    kernel, width, sums = kernel_of(image), 8 * folder.words, list[tuple[int, int]]()
    for block in folder.read(part):
        rows = pa.py_buffer(block)
        sums.append(weigh(kernel, rows.address, rows.size // width, states))
    return add_samples(sums)
