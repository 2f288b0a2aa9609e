"""Checkpoints: locks, begins or resumes, and releases the folder of a run."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import Any

from checker.diagnostics import Diagnostic, SpecError
from checker.engines.native.checkpoint.lock import LEASE, LOCK, FolderLock, FolderLocked
from checker.engines.native.checkpoint.run_folder import FORMAT, LEVELS, SAID, RunFolder
from checker.engines.native.checkpoint.run_identity import Identity
from checker.engines.native.checkpoint.sealed import seal, unseal
from checker.engines.native.checkpoint.storage import UNFINISHED, Storage
from checker.engines.native.codegen.image import KernelImage
from checker.engines.native.codegen.jit import Effort, compile_image
from checker.engines.native.search.findings import Findings
from checker.engines.native.search.lift_trace import Normalizer
from checker.model import interpreter
from checker.model.ir import TransitionSystem
from checker.resources import temporary_prefix

RUN = "run.json"
NAMED = 3
"""The number of damaged files that are named at most."""


class Checkpoint:
    """A run in a folder that this process owns until :meth:`leave`.

    ``temporary``: no user has named the folder; ``capacities``: those that its system was made
    with, ``None`` where that is not known yet; ``unfinished``: whether the run can be resumed, as
    the last engine has reported; ``staying``: after :meth:`leave`, whether the run is still there;
    ``mended``: what was damaged when it was resumed, in words.

    Everything raises :class:`SpecError` (E010 to E015) where the folder is not what it has to be.
    """

    def __init__(self, location: str, identity: Identity, *, keep: bool) -> None:
        self.given, self.place = location, Storage(location)
        self.identity, self.keep = identity, keep
        self.capacities: dict[str, int] | None = None
        self.temporary = False
        self.unfinished = True
        self.staying = True
        self.mended = ""
        self._image: tuple[str, int] | None = None
        self._made = False
        self._claim: FolderLock | None = None

    @property
    def location(self) -> str:
        """The folder's location: an absolute path, or a URI."""
        return self.place.location

    def _using(self) -> contextlib.AbstractContextManager[None]:
        return reporting_disk_errors(self.given)

    @classmethod
    def begin(cls, location: str, identity: Identity, *, keep: bool = False) -> Checkpoint:
        """Begins a run, in a folder that is empty or does not exist."""
        run = cls(location, identity, keep=keep)
        with run._using():
            there = _others(run.place)
            run._made = not run.place.exists()
            if RUN not in there:
                _require_empty(location, there)
            run._enter()
            there = _others(run.place)
        if RUN in there:
            run._go()
            message = f"{location} already has a saved run"
            hint = f"resume it with `--resume {location}`"
            raise SpecError((Diagnostic("E010", message, hint=hint),))
        return run

    @classmethod
    def resume(cls, location: str, identity: Identity, *, keep: bool = False) -> Checkpoint:
        """Resumes the run that is kept there, if its identity is the same."""
        run = cls(location, identity, keep=keep)
        with run._using():
            if run.place.read(RUN) is None:
                message = f"{location} has no saved run"
                hint = "start one with `--checkpoint DIR`"
                raise SpecError((Diagnostic("E012", message, hint=hint),))
            run._enter()
            said = run.place.read(RUN) or b""
        try:
            run._take(said)
            with run._using():
                run._mend()
        except BaseException:
            run._go()
            raise
        return run

    @classmethod
    def scratch(cls, identity: Identity) -> Checkpoint:
        """Begins a run in a temporary folder of its own."""
        with reporting_disk_errors(tempfile.gettempdir()):
            location = tempfile.mkdtemp(prefix=temporary_prefix("bivalence-"))
        run = cls.begin(location, identity)
        run._made = run.temporary = True
        return run

    def open(self, system: TransitionSystem, image: KernelImage) -> RunFolder:
        """The folder for the states of ``system``; its initial states, at least, are committed."""
        words = image.shape.words
        folder = RunFolder(self.location, words)
        with self._using():
            if self._image is None:
                self._image = image.digest, words
                self.place.write(RUN, seal(self._document()))
            elif self._image != (image.digest, words):
                raise self._changed_error(["the tool itself, with the same version"])
            folder.claim()
            if folder.latest() is None:
                begin(folder, system, image)
        return folder

    @property
    def digest(self) -> str | None:
        """The digest of the kernel whose states are here; ``None`` where there are none yet."""
        return None if self._image is None else self._image[0]

    def afresh(self) -> None:
        """Prepares for exploring another system: nothing is kept of the one before."""
        if self._image is not None:
            self._image = None
            with self._using():
                self.place.delete_folder(LEVELS)
                self.place.delete_folder(SAID)

    def leave(self) -> None:
        """Releases the folder, and empties it where the run could not or will not be resumed."""
        try:
            with contextlib.suppress(OSError):
                self.staying = (self.keep or self.unfinished) and self._has_levels()
                if not self.staying:
                    self._clear()
        finally:
            self._go()

    def _has_levels(self) -> bool:
        """Whether the run can be resumed: it has one level, or more where no user named the folder
        (a run that was refused has its initial states there).
        """
        least = 1 if self.temporary else 0
        image = self._image
        return image is not None and RunFolder(self.location, image[1]).committed_depth >= least

    # -- what is in the folder ------------------------------------------------------------------

    def _document(self) -> dict[str, Any]:
        assert self._image is not None
        return {
            "format": FORMAT,
            "kind": "bivalence run",
            "identity": self.identity.to_json(),
            "capacities": self.capacities,
            "digest": self._image[0],
            "words": self._image[1],
            "made": self._made,
        }

    def _take(self, said: bytes) -> None:
        """Takes over what :data:`RUN` records as this run's own."""
        document = unseal(said)
        if document is None or document.get("format") != FORMAT:
            message = f"{RUN} in {self.given} is damaged, or its format is unknown to this version"
            hint = "use the version that started the run, or start again in another folder"
            raise SpecError((Diagnostic("E012", message, hint=hint),))
        self.capacities = dict(document["capacities"] or {})
        self._image = document["digest"], document["words"]
        self._made = document["made"]
        changes = Identity.from_json(document["identity"]).changes(self.identity)
        if changes:
            raise self._changed_error(changes)

    def _changed_error(self, what: list[str]) -> SpecError:
        message = f"inputs of the run in {self.given} have changed: "
        message += "; ".join(what)
        hint = "undo the change, or start another run with `--checkpoint`"
        return SpecError((Diagnostic("E013", message, hint=hint),))

    def _mend(self) -> None:
        """Removes what is damaged, and all that was found after it, to be explored again."""
        assert self._image is not None
        folder = RunFolder(self.location, self._image[1])
        wrong = folder.mend()
        if wrong:
            names = ", ".join(wrong[:NAMED]) + (", …" if len(wrong) > NAMED else "")
            at = folder.committed_depth
            where = f"level {at}" if at >= 0 else "the start"
            self.mended = (
                f"damaged or missing in {self.given}: {names}; the run resumed from {where}"
            )

    def _clear(self) -> None:
        self.place.delete_folder(LEVELS)
        self.place.delete_folder(SAID)
        self.place.delete(RUN)
        if self._made and not _others(self.place):
            self._go()
            self.place.delete_folder()

    # -- the claim ------------------------------------------------------------------------------

    def _enter(self) -> None:
        try:
            self._claim = FolderLock(self.place)
        except FolderLocked as who:
            message = f"another run is using {self.given}: {who}"
            hint = "wait until it has ended, or use another folder"
            raise SpecError((Diagnostic("E015", message, hint=hint),)) from None

    def _go(self) -> None:
        if self._claim is not None:
            self._claim.leave()
            self._claim = None


def begin(folder: RunFolder, system: TransitionSystem, image: KernelImage) -> Findings:
    """Commits the initial states of ``system``, and the marks reached on the way to them.

    Raises ``RunFault`` where no initial state can be computed, and ``OSError``.
    """
    starts = interpreter.initial_events(system)
    rows = dict.fromkeys(tuple(image.layout.pack(state)) for state, _ in starts)
    if image.reductions.used:
        normal = Normalizer(compile_image(image, Effort.QUICK))
        rows = dict.fromkeys(tuple(normal.words(row)) for row in rows)
    found = Findings()
    found.reach(event.mark for _, events in starts for event in events)
    words = b"".join(word.to_bytes(8, "little") for row in rows for word in row)
    folder.commit(found, [folder.write(0, 0, 1, [memoryview(words)])])
    return found


@contextlib.contextmanager
def reporting_disk_errors(location: str) -> Iterator[None]:
    """Turns the disk's errors on a run's folder into a diagnostic (E014)."""
    try:
        yield
    except OSError as error:
        hint = "free disk space or use another folder; earlier commits are intact"
        if not isinstance(error.strerror, str) or error.filename is None:
            raise
        where = (
            "" if error.filename.startswith(os.path.abspath(location)) else f" ({error.filename})"
        )
        message = f"can't use the folder {location}: {error.strerror.lower()}{where}"
        raise SpecError((Diagnostic("E014", message, hint=hint),)) from error


def _others(place: Storage) -> set[str]:
    """The files in the folder, without lock files and partly written files."""
    return {n for n in place.entries() if n not in (LOCK, LEASE) and not n.endswith(UNFINISHED)}


def _require_empty(location: str, there: set[str]) -> None:
    if there:
        message = f"{location} is not empty (contains {min(there)})"
        hint = "use an empty or new folder"
        raise SpecError((Diagnostic("E011", message, hint=hint),))
