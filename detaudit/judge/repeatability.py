"""Whether the same input gives the same output again."""

from __future__ import annotations

from collections.abc import Iterator

from detaudit.judge.grid import Agreement, Grid, find_agreement
from detaudit.judge.weights import OTHER_SESSIONS, read_weights, vary
from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.record import OutputFacts
from detaudit.rows import Repeatability
from detaudit.spec import SCOPES


def judge_repeatability(grid: Grid, confidence: float) -> Iterator[Repeatability]:
    """Rows of a target, one per output and scope.

    Args:
        grid: runs of the target
        confidence: of the bounds, between 0 and 1

    """
    spreads = {(s.output, s.scope): s.summary for s in grid.target.spreads}
    weights = read_weights(grid.target)
    apart = {scope: OTHER_SESSIONS if vary(weights, scope) else None for scope in SCOPES}
    for number, output in enumerate(grid.target.outputs):
        for scope in SCOPES:
            agreement = find_agreement(grid.groups(number, scope), confidence)
            summary = spreads.get((number, scope))
            if not agreement.comparisons or apart[scope]:
                place = (grid.name, output.path, scope)
                yield _not_compared(place, agreement, confidence, apart[scope])
                continue
            identical = agreement.distinct == 1
            # Results of other shapes have no distance.
            sized = summary is not None and summary.structural is None
            changed = summary is not None and (
                summary.changed > 0 or summary.nan_pattern_changed or summary.structural is not None
            )
            yield Repeatability(
                target=grid.name,
                output=output.path,
                scope=scope,
                comparisons=agreement.comparisons,
                units=agreement.units,
                distinct=agreement.distinct,
                identical=identical,
                same_values=identical or not changed,
                modal_share=agreement.modal_share,
                instability_upper_bound=agreement.bound,
                confidence=confidence,
                max_abs=(summary.max_abs if sized else None) if summary else 0.0,
                mean_abs=(summary.mean_abs if sized else None) if summary else 0.0,
                max_ulp=_count_ulp(summary, output) if summary and sized else None,
                changed_share=(summary.changed_share if sized else None) if summary else 0.0,
                first_run_differs=agreement.first_differs,
                nan_pattern_changed=bool(summary and summary.nan_pattern_changed),
                structural=summary.structural if summary else None,
            )


def _count_ulp(summary: SpreadSummary, output: OutputFacts) -> int | None:
    """Largest distance in steps of the declared type."""
    if summary.max_ulp is None or output.declared != "bfloat16":
        return summary.max_ulp
    # Between neighbours of bfloat16 lie 2**16 steps of the float32 that they were widened to.
    return summary.max_ulp >> 16


def _not_compared(
    place: tuple[str, str, str],
    agreement: Agreement,
    confidence: float,
    structural: str | None,
) -> Repeatability:
    """Row of a scope in which nothing was repeated or it was not one model that was."""
    target, output, scope = place
    return Repeatability(
        target=target,
        output=output,
        scope=scope,
        comparisons=0,
        units=agreement.units,
        distinct=agreement.distinct,
        identical=None,
        same_values=None,
        modal_share=agreement.modal_share,
        instability_upper_bound=None,
        confidence=confidence,
        max_abs=None,
        mean_abs=None,
        max_ulp=None,
        changed_share=None,
        first_run_differs=False,
        nan_pattern_changed=False,
        structural=structural,
    )
