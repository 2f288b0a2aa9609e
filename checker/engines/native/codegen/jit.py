"""Compiles a kernel image to functions that can be called, with machine code kept on disk.

This is the only module that uses llvmlite; its untyped surface ends here.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
from collections.abc import Callable
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checker import resources
from checker.engines.budgets import Stop, WorkerThread
from checker.engines.native.codegen.fields import STOP
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.layout import Layout

if TYPE_CHECKING:
    from checker.engines.native.codegen.emit import Fn

CACHE, KEPT = "kernels", 2_000
"""Folder of the cache for machine code, and how many files it keeps."""

LARGE_TEXT = 1_500_000
"""Above so many characters of IR the compiler optimises less."""


class Kernel(Struct, frozen=True):
    """Compiled functions; see :mod:`checker.engines.native.codegen.search_loop` for what each
    takes.

    All of them release the interpreter lock while they run.  ``stop``: makes them stop early.
    """

    image: KernelImage
    stop: Stop
    run: Callable[..., int]
    take: Callable[..., int]
    reinsert: Callable[..., None]
    number: Callable[..., None]
    add: Callable[..., None]
    begin: Callable[..., None] | None
    lookup: Callable[..., int]
    normal: Callable[..., None]
    normals: Callable[..., None] | None
    weigh: Callable[..., None] | None
    letters: dict[int, Callable[..., int]]
    some: dict[int, Callable[..., int]]
    justice_bits: Callable[..., int] | None
    rekey: Callable[..., None] | None
    locate: Callable[..., None] | None
    walk: Callable[..., int] | None
    steps: Callable[..., int] | None
    fold_rows: Callable[..., int] | None
    unfold_rows: Callable[..., None] | None
    index_nodes: Callable[..., None] | None
    move_lines: Callable[..., None] | None
    cached: bool
    engine: object


class GraphKernel(Struct, frozen=True):
    """Compiled functions; see :mod:`checker.engines.native.codegen.fair_components`,
    :mod:`checker.engines.native.codegen.graph_bfs`,
    :mod:`checker.engines.native.codegen.row_selection` and
    :mod:`checker.engines.native.codegen.valence_words`.

    ``components``: for plain graphs, and for those with an automaton; those for words of valence:
    by the bits that a state has.
    """

    components: tuple[Callable[..., None], ...]
    select: Callable[..., int]
    compress: Callable[..., int]
    seed: Callable[..., None]
    spread: Callable[..., None]
    parents: Callable[..., int]
    find_wanted: Callable[..., int]
    quiet: Callable[..., None]
    stays: Callable[..., int]
    chosen: Callable[..., int]
    reached: Callable[..., int]
    relabel: Callable[..., None]
    leading: Callable[..., int]
    turning: Callable[..., int]
    sort: Callable[..., None]
    settle: Callable[..., None]
    mark: Callable[..., None]
    pick: Callable[..., int]
    merge: Callable[..., None]
    listed: Callable[..., int]
    rank: Callable[..., None]
    localize: Callable[..., None]
    plant: dict[int, Callable[..., int]]
    draw: dict[int, Callable[..., int]]
    critical: dict[int, Callable[..., int]]
    waiting: dict[int, Callable[..., int]]
    tally: Callable[..., None]
    engine: object


class Effort(Enum):
    """``QUICK``: compiled without optimisation, in a tenth of the time; ``FULL``: optimised."""

    QUICK = 0
    FULL = 2


def compile_image(image: KernelImage, effort: Effort = Effort.FULL, cache: bool = True) -> Kernel:
    """Compiles ``image``, or loads the machine code of an earlier compilation.

    The compiler can't be interrupted, so it has a thread of its own: a caller that waits for it can
    be.
    """
    kernel = load_image(image, effort) if cache else None
    if kernel is not None:
        return kernel
    engine = WorkerThread(lambda: _compile(image.text, image.digest, effort, cache)).result()
    return _kernel(image, engine, False)


def load_image(image: KernelImage, effort: Effort) -> Kernel | None:
    """The kernel of ``image`` from the machine code of an earlier compilation, if there is any."""
    engine = _load_cached(image.digest, effort)
    return None if engine is None else _kernel(image, engine, True)


@lru_cache(maxsize=1)
def graph_kernel() -> GraphKernel:
    """The code for graphs, which is the same for all systems."""
    from checker.engines.native.codegen import (
        fair_components,
        graph_bfs,
        row_selection,
        valence_words,
    )

    functions = [*fair_components.functions(), *graph_bfs.functions(), *row_selection.functions()]
    functions += valence_words.functions()
    code = compile_functions(functions)
    function = code.function
    return GraphKernel(
        components=tuple(function(f"components_{k}", 3, None) for k in ("plain", "product")),
        select=function("select", 3),
        compress=function("compress", 5),
        seed=function("seed", 3, None),
        spread=function("spread", 3, None),
        parents=function("parents", 4),
        find_wanted=function("find_wanted", 3),
        quiet=function("quiet", 3, None),
        stays=function("stays", 3),
        chosen=function("chosen", 5),
        reached=function("reached", 6),
        relabel=function("relabel", 4, None),
        leading=function("leading", 6),
        turning=function("turning", 2),
        sort=function("sort", 5, None),
        settle=function("settle", 5, None),
        mark=function("mark", 3, None),
        pick=function("pick", 6),
        merge=function("merge", 3, None),
        listed=function("listed", 4),
        rank=function("rank", 4, None),
        localize=function("localize", 4, None),
        plant={bits: function(f"plant_{bits}", 5) for bits in valence_words.WIDTHS},
        draw={bits: function(f"draw_{bits}", 8) for bits in valence_words.WIDTHS},
        critical={bits: function(f"critical_{bits}", 9) for bits in valence_words.WIDTHS},
        waiting={bits: function(f"waiting_{bits}", 8) for bits in valence_words.WIDTHS},
        tally=function("tally", 4, None),
        engine=code.engine,
    )


class CompiledFunctions(Struct, frozen=True):
    """Functions that are the same for all systems; ``stop``: makes those stop early that can."""

    stop: Stop
    engine: object

    def function(self, name: str, count: int, result: Any = ctypes.c_uint64) -> Callable[..., Any]:
        """Returns the function ``name``, which takes ``count`` words."""
        return _function(self.engine, name, result, count)  # type: ignore[no-any-return]


def compile_functions(functions: list[Fn], effort: Effort = Effort.FULL) -> CompiledFunctions:
    """Compiles functions that depend on no system, or loads the machine code of an earlier
    compilation."""
    from checker.engines.native.codegen.make_image import digest_of, module_text

    text = module_text(functions, public=True)
    digest = digest_of(text)
    engine = _load_cached(digest, effort) or _compile(text, digest, effort, True)
    return CompiledFunctions(_stop(engine), engine)


def compile_move(before: Layout, now: Layout) -> Callable[[int, int, int], None]:
    """The compiled function that takes the address of some rows, their number, and an address, to
    which it writes them as rows of another layout
    (:mod:`checker.engines.native.codegen.layout_migration`).
    """
    from checker.engines.native.codegen import layout_migration
    from checker.engines.native.codegen.make_image import digest_of, module_text

    text = module_text([layout_migration.emit_move(before, now)], public=True)
    engine = _compile(text, digest_of(text), Effort.FULL, False)
    move = _function(engine, "move", None, 3)

    def call(rows: int, count: int, others: int, engine: object = engine) -> None:
        move(rows, count, others)

    return call


def _compile(text: str, digest: str, effort: Effort, cache: bool) -> Any:
    host = _Host(effort)
    path = host.path(digest) if cache else None
    module = host.llvm.parse_assembly(text)
    module.verify()
    engine = host.llvm.create_mcjit_compiler(module, host.machine)
    if effort is Effort.FULL:
        _optimise(host.llvm, host.machine, module, len(text))
    engine.set_object_cache(lambda _, data: _keep(path, data), lambda _: None)
    engine.finalize_object()
    return engine


def _load_cached(digest: str, effort: Effort) -> Any:
    host = _Host(effort)
    path = host.path(digest)
    code = None if path is None else resources.load_cached(path)
    if not code:
        return None
    engine = host.llvm.create_mcjit_compiler(host.llvm.parse_assembly(""), host.machine)
    engine.add_object_file(host.llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


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

    def path(self, digest: str) -> Path | None:
        """The file for the machine code of a module; ``None`` where it can't be kept."""
        folder = resources.cache_folder(CACHE)
        if folder is None:
            return None
        parts = (digest, *self._parts)
        name = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return folder / f"{name}.o"


def _optimise(llvm: Any, machine: Any, module: Any, size: int) -> None:
    options = llvm.create_pipeline_tuning_options(speed_level=2 if size < LARGE_TEXT else 1)
    options.loop_vectorization = False
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def _function(engine: Any, name: str, result: Any, count: int) -> Any:
    """A function that takes ``count`` words; it keeps its machine code."""
    found: Any = ctypes.CFUNCTYPE(result, *[ctypes.c_uint64] * count)(
        engine.get_function_address(name)
    )
    found.engine = engine
    return found


def _stop(engine: Any) -> Stop:
    return Stop(engine.get_global_value_address(STOP), engine)


def _kernel(image: KernelImage, engine: Any, cached: bool) -> Kernel:
    word = ctypes.c_uint64

    def function(name: str, result: Any, count: int) -> Any:
        return _function(engine, name, result, count)

    symmetric = image.reductions.symmetry is not None
    return Kernel(
        image,
        _stop(engine),
        run=function("run", word, 6),
        take=function("take", word, 5),
        reinsert=function("reinsert", None, 5),
        number=function("number", None, 2),
        add=function("add", None, 3),
        begin=function("begin", None, 3) if image.begins else None,
        lookup=function("lookup", word, 2),
        normal=function("normal", None, 2),
        normals=function("normals", None, 3) if symmetric else None,
        weigh=function("weigh", None, 4) if symmetric else None,
        letters={i: function(f"letters_{i}", word, 6) for i in image.live},
        some={i: function(f"some_{i}", word, 5) for i in image.steady},
        justice_bits=function("justice_bits", word, 5) if image.has_justice else None,
        rekey=function("rekey", None, 1) if image.plan is not None else None,
        locate=function("locate", None, 4) if image.plan is not None else None,
        walk=function("walk", word, 2) if image.walks else None,
        steps=function("steps", word, 3) if image.steps else None,
        fold_rows=function("fold_rows", word, 6) if image.folds else None,
        unfold_rows=function("unfold_rows", None, 5) if image.folds else None,
        index_nodes=function("index_nodes", None, 3) if image.folds else None,
        move_lines=function("move_lines", None, 6) if image.narrow else None,
        cached=cached,
        engine=engine,
    )


def _keep(path: Path | None, code: bytes) -> None:
    """Keeps machine code; ignores all errors."""
    if path is not None:
        resources.store_cached(path, code, KEPT)
