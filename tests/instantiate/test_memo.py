"""What is memoised is forgotten, whatever interrupts those who memoise."""

from __future__ import annotations

import gc

from checker.model import memo
from checker.model.memo import a_run, an_analysis, in_an_analysis

calls: list[object] = []


@in_an_analysis
def seen(node: object) -> int:
    calls.append(node)
    return len(calls)


def test_a_result_is_kept_until_the_outermost_analysis_ends() -> None:
    node = (1, 2)
    with an_analysis():
        with an_analysis():
            first = seen(node)
        assert seen(node) == first
    assert seen(node) != first


def test_an_analysis_that_never_closed_ends_with_those_around_it() -> None:
    """An interruption may fall between the last statement of a block and its end."""
    node = (3, 4)
    with a_run():
        with an_analysis():
            an_analysis().__enter__()
            first = seen(node)
        second = seen(node)
        an_analysis().__enter__()
    assert first != second != seen(node) != seen(node)


def test_no_analysis_keeps_more_than_so_many_results() -> None:
    nodes = [(number, "node") for number in range(10)]
    was, memo.MOST = memo.MOST, 4
    try:
        with an_analysis():
            results = [seen(node) for node in nodes]
            assert seen(nodes[-1]) == results[-1] and seen(nodes[0]) != results[0]
    finally:
        memo.MOST = was


def test_garbage_is_collected_again_behind_an_analysis() -> None:
    with a_run():
        with an_analysis():
            with an_analysis():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled()
        open_still = an_analysis()  # interrupted at its very end
        open_still.__enter__()
        assert not gc.isenabled()
    assert gc.isenabled()


def test_an_analysis_leaves_a_collector_that_is_off_alone() -> None:
    gc.disable()
    try:
        with an_analysis():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
