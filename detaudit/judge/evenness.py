"""Whether printed values change as often as evenly spread values would."""

from __future__ import annotations

from collections.abc import Sequence

from detaudit.metrics.agreement import compare_with_expected
from detaudit.metrics.rounding import RoundingSummary
from detaudit.report import Finding

_FEW = 20
"""Changes below which there is nothing to tell of how values are spread."""


def observe_evenness(target: str, output: str, seen: Sequence[RoundingSummary]) -> Finding | None:
    """Finding on an output whose values are not spread evenly.

    Args:
        target: name of the target
        output: path of the output
        seen: what became of each value's lowest and highest result; what is expected of any two
            results follows from their distance, not from that of a single pair

    Returns:
        the finding for the least decimals at which it shows, None where it shows at none

    """
    for row in seen:
        if max(row.changed, row.expected_share * row.values) < _FEW:
            continue
        agreement = compare_with_expected(row.changed, row.values, row.expected_share)
        if agreement.verdict in ("more than expected", "fewer than expected"):
            expected = format(agreement.expected, ".0f" if agreement.expected >= 10 else ".2g")
            message = (
                f"At {row.decimals} decimals {row.changed} of {row.values} printed values change"
                f" where {expected} were expected: the values are not spread evenly."
                " Trust what was observed."
            )
            return Finding("info", "uneven-values", target, output, message)
    return None
