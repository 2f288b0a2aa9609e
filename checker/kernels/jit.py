"""From a kernel image to functions that can be called, with machine code kept on disk.

This is the only module that knows llvmlite; its untyped surface ends here.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from checker import resources
from checker.kernels.image import KernelImage

CACHE, KEPT = "kernels", 500
"""Folder of the cache for machine code, and how many files it keeps."""

LARGE_TEXT = 1_500_000
"""Above so many characters of IR the compiler tries less hard."""


@dataclass(frozen=True)
class Kernel:
    """Compiled functions; see :mod:`checker.kernels.runtime` for what each takes.

    All of them release the interpreter lock while they run.
    """

    image: KernelImage
    run: Callable[..., int]
    reinsert: Callable[..., None]
    number: Callable[..., None]
    add: Callable[..., None]
    lookup: Callable[..., int]
    classify: dict[int, Callable[..., None]]
    cached: bool
    engine: object


class Effort(Enum):
    """``QUICK``: compiled as it stands, in a tenth of the time; ``FULL``: optimised."""

    QUICK = 0
    FULL = 2


def compile_image(image: KernelImage, effort: Effort = Effort.FULL, cache: bool = True) -> Kernel:
    """Compiles ``image``, or loads the machine code of an earlier compilation."""
    kernel = load_image(image, effort) if cache else None
    if kernel is not None:
        return kernel
    host = _Host(effort)
    path = host.path(image) if cache else None
    module = host.llvm.parse_assembly(image.text)
    module.verify()
    engine = host.llvm.create_mcjit_compiler(module, host.machine)
    if effort is Effort.FULL:
        _optimise(host.llvm, host.machine, module, len(image.text))
    engine.set_object_cache(lambda _, data: _write(path, data), lambda _: None)
    engine.finalize_object()
    return _kernel(image, engine, False)


def load_image(image: KernelImage, effort: Effort) -> Kernel | None:
    """The kernel of ``image`` from the machine code of an earlier compilation, if there is any."""
    host = _Host(effort)
    code = _read(host.path(image))
    if code is None:
        return None
    engine = host.llvm.create_mcjit_compiler(host.llvm.parse_assembly(""), host.machine)
    engine.add_object_file(host.llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return _kernel(image, engine, True)


class _Host:
    """llvmlite, and the machine that code is made for."""

    def __init__(self, effort: Effort) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        self.llvm: Any = llvm
        self.machine: Any = llvm.Target.from_default_triple().create_target_machine(
            cpu=cpu, features=features, opt=effort.value, jit=True
        )
        self._parts = (llvmlite.__version__, platform.machine(), cpu, features, effort.name)

    def path(self, image: KernelImage) -> Path | None:
        """The file for the machine code of ``image``; ``None`` where nothing can be kept."""
        folder = resources.cache_folder(CACHE)
        if folder is None:
            return None
        parts = (image.digest, *self._parts)
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return folder / f"{name}.o"


def _optimise(llvm: Any, machine: Any, module: Any, size: int) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=2 if size < LARGE_TEXT else 1)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _kernel(image: KernelImage, engine: Any, cached: bool) -> Kernel:
    word = ctypes.c_uint64

    def function(name: str, result: Any, count: int) -> Any:
        kind = ctypes.CFUNCTYPE(result, *[word] * count)
        return kind(engine.get_function_address(name))

    return Kernel(
        image,
        run=function("run", word, 6),
        reinsert=function("reinsert", None, 4),
        number=function("number", None, 2),
        add=function("add", None, 3),
        lookup=function("lookup", word, 2),
        classify={i: function(f"classify_{i}", None, 3) for i in image.questions},
        cached=cached,
        engine=engine,
    )


def _read(path: Path | None) -> bytes | None:
    """Machine code with a digest in front, or ``None`` where there is none or it is damaged."""
    if path is None:
        return None
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head, code = data[:32], data[32:]
    return code if code and hashlib.sha256(code).digest() == head else None


def _write(path: Path | None, code: bytes) -> None:
    """Keeps machine code; whatever hinders it is no reason to stop."""
    if path is not None:
        resources.keep(path, hashlib.sha256(code).digest() + code, KEPT)
