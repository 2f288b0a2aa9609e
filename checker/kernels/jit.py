"""From a kernel image to functions that can be called, with machine code kept on disk.

This is the only module that knows llvmlite; its untyped surface ends here.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from checker.kernels.image import KernelImage

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


def cache_folder() -> Path:
    """Where machine code is kept: below the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "bivalence" / "kernels"


def compile_image(image: KernelImage, cache: bool = True) -> Kernel:
    """Compiles ``image``, or loads the machine code of an earlier compilation."""
    import llvmlite
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(
        cpu=cpu, features=features, opt=2, jit=True
    )
    parts = (image.digest, llvmlite.__version__, platform.machine(), cpu, features)
    name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    path = cache_folder() / f"{name}.o" if cache else None
    code = _read(path)
    module = llvm.parse_assembly("" if code else image.text)
    engine = llvm.create_mcjit_compiler(module, machine)
    if code:
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    else:
        _optimise(llvm, machine, module, len(image.text))
        engine.set_object_cache(lambda _, data: _write(path, data), lambda _: None)
    engine.finalize_object()
    return _kernel(image, engine, bool(code))


def _optimise(llvm: Any, machine: Any, module: Any, size: int) -> None:
    module.verify()
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
    if path is None:
        return
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(code).digest() + code)
            os.replace(name, path)
        except OSError:
            os.unlink(name)
            raise
