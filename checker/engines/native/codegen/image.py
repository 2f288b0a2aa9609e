"""The kernel of a transition system: text for LLVM, and the layout of its states.

An image has no handles into this process: it can be pickled and compiled elsewhere.
"""

from __future__ import annotations

from msgspec import Struct

from checker import kept
from checker.engines.native.codegen.constraint_layout import ConstraintLayout
from checker.engines.native.codegen.fields import RecordLayout
from checker.engines.native.codegen.layout import Layout
from checker.model.ir import TransitionSystem
from checker.reductions.reduction_plan import NOTHING
from checker.reductions.reduction_plan import ReductionPlan as Reductions
from checker.results.answer import Unsupported

MIN_LEVEL_BITS = 8
MAX_LEVEL_BITS = 24


class KernelImage(Struct, frozen=True):
    """``text``: LLVM's textual IR; ``digest`` of it; ``layout`` and ``shape`` of rows and records.

    ``level_shift`` and ``level_limit``: a key of the visited set holds the level, below the limit,
    from this bit upwards; the limit is 0 where there is no room or no use for it.  ``live`` and
    ``steady``: the numbers of the liveness properties, and of the persistence properties among
    them, whose violations show in single states.  ``plan``: the fairness constraints where there is
    liveness; ``has_justice``: whether there are justice conditions; ``reductions``: the plan of
    reductions; ``compact``: states are identified by so many bits of a fingerprint (0: by all their
    words); ``begins``: it makes the initial states, too; ``walks``: it makes random walks;
    ``steps``: it gives the steps of single states; ``folds``: rows can be folded; ``narrows``:
    there can be a kernel for a table of 32-bit slots, too; ``narrow``: it is that one.
    """

    text: str
    digest: str
    layout: Layout
    shape: RecordLayout
    level_shift: int
    level_limit: int
    live: tuple[int, ...]
    steady: tuple[int, ...]
    plan: ConstraintLayout | None
    has_justice: bool
    reductions: Reductions = NOTHING
    compact: int = 0
    begins: bool = False
    walks: bool = False
    steps: bool = False
    folds: bool = False
    narrows: bool = False
    narrow: bool = False

    @property
    def unfolds(self) -> bool:
        """Whether cycles of a search with it can be unfolded: nothing but the symmetry of its plan
        is not proven for them."""
        plan = self.reductions
        proven = plan.acyclic and plan.fallback is not None and not plan.ample_actions
        return proven and plan.symmetry is not None and not self.compact


def build(
    system: TransitionSystem,
    reductions: Reductions = NOTHING,
    compact: int = 0,
    walks: bool = False,
    steps: bool = False,
    narrow: bool = False,
) -> KernelImage:
    """The kernel of ``system``; raises ``Unsupported`` where the native engine can't take it.

    ``compact``: the bits of a fingerprint that may identify a state; they do where it takes more
    than a word.  ``walks``: it makes random walks, too; ``steps``: it gives the steps of
    single states; ``narrow``: its table has 32-bit slots, which only an image that ``narrows`` can
    have.
    """

    def made() -> KernelImage:
        from checker.engines.native.codegen.make_image import make_image
        from checker.engines.native.codegen.packing import TooWide
        from checker.engines.native.codegen.too_wide import describe

        try:
            return make_image(system, reductions, compact, walks, steps, narrow)
        except TooWide as why:
            raise Unsupported(describe(system, why)) from None

    return kept.result(made, "image", system, reductions, (compact, walks, steps, narrow))
