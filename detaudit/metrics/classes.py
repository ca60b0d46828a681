"""Would the class change?"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from detaudit.metrics.bits import find_changed
from detaudit.metrics.blocks import Array
from detaudit.metrics.counts import find_upper_bound
from detaudit.metrics.decisions import Decisions, decide_by_largest, decide_by_threshold
from detaudit.metrics.flips import ClassesSummary, Flip
from detaudit.metrics.margins import Margins
from detaudit.metrics.score_rows import check_scores, check_shapes, split_scores

__all__ = ["Classes", "ClassesSummary", "Flip"]


class Classes:
    """Accumulates how decisions differ between pairs of outputs.

    The largest score wins, of equal ones that with the lower index; a vector that holds a NaN has
    no class. A single score is compared with a threshold.

    Examples:
        >>> classes = Classes()
        >>> classes.update(np.array([[0.4, 0.6]]), np.array([[0.55, 0.45]]), sample=0)
        >>> summary = classes.read()
        >>> summary.flips, round(summary.min_margin, 3)
        (1, 0.2)

    """

    def __init__(self) -> None:
        self._samples: set[Hashable] = set()
        self._samples_classed: set[Hashable] = set()
        self._samples_changed: set[Hashable] = set()
        self._counts = dict.fromkeys(
            ("decisions", "flips", "ties", "tie_changes", "unclassed", "class_lost", "at_risk"), 0
        )
        self._closest: tuple[float, Hashable] | None = None
        self._max_abs = 0.0
        self._max_shift = 0.0
        self._margins = Margins()
        self._first_flip: Flip | None = None

    def update(
        self,
        reference: Array,
        other: Array,
        axis: int = -1,
        threshold: float | None = None,
        weight: int = 1,
        *,
        sample: Hashable,
    ) -> None:
        """Add a pair of score arrays of one sample.

        Args:
            reference: scores of any shape, such as ``(1, classes)`` or ``(steps, classes)``; best
                the logits
            other: scores of the same shape
            axis: axis of the classes
            threshold: score from which on a class is present, decided for each score by itself;
                None lets the classes of an axis compete, and is 0.5 where there is but one
            weight: how often the pair occurred, at least 1
            sample: name of the input; pairs of one name count as one sample, whose reference is
                the same in each of them

        Raises:
            ValueError: if the shapes differ or there is no such axis

        """
        check_scores(reference, other, axis)
        seen = sample in self._samples
        self._samples.add(sample)
        if not reference.size:
            return
        rows = split_scores(reference, other, axis, threshold)
        with np.errstate(over="ignore", invalid="ignore"):
            for start, x, y in rows.walk():
                if rows.threshold is None:
                    decisions = decide_by_largest(x, y)
                else:
                    decisions = decide_by_threshold(x[:, 0], y[:, 0], rows.threshold)
                self._add(decisions, start, rows.steps, weight, sample, seen=seen)

    def update_labels(
        self, reference: Array, other: Array, weight: int = 1, *, sample: Hashable
    ) -> None:
        """Add a pair of outputs that are classes already; every change is a flip.

        Args:
            reference: integers, booleans or strings of any shape
            other: the same, of the same shape
            weight: how often the pair occurred, at least 1
            sample: name of the input; pairs of one name count as one sample

        Raises:
            ValueError: if the shapes differ

        """
        check_shapes(reference, other)
        self._samples.add(sample)
        if reference.size:
            self._samples_classed.add(sample)
        changed = find_changed(reference.reshape(-1), other.reshape(-1))
        flips = int(np.count_nonzero(changed))
        self._counts["decisions"] += weight * changed.size
        self._counts["flips"] += weight * flips
        if flips:
            place = int(changed.argmax())
            labels = [_to_python(z.reshape(-1)[place]) for z in (reference, other)]
            self._note_flip(sample, place, reference.shape, *labels)

    def merge(self, other: Classes) -> None:
        """Add what another accumulator saw later, of other samples than this one."""
        self._samples |= other._samples
        self._samples_classed |= other._samples_classed
        self._samples_changed |= other._samples_changed
        for name, count in other._counts.items():
            self._counts[name] += count
        if other._closest and (not self._closest or other._closest[0] < self._closest[0]):
            self._closest = other._closest
        self._max_abs = max(self._max_abs, other._max_abs)
        self._max_shift = max(self._max_shift, other._max_shift)
        self._margins.merge(other._margins)
        self._first_flip = self._first_flip or other._first_flip

    def read(self) -> ClassesSummary:
        """Summary of the decisions seen so far."""
        samples, changed = len(self._samples), len(self._samples_changed)
        classed = len(self._samples_classed)
        decisions = self._counts["decisions"]
        expected, extrapolated = self._margins.expect_flips(self._max_shift)
        return ClassesSummary(
            samples=samples,
            samples_changed=changed,
            flip_share=self._counts["flips"] / decisions if decisions else 0.0,
            samples_classed=classed,
            flip_upper_bound=find_upper_bound(changed, classed) if classed else None,
            min_margin=self._closest[0] if self._closest else None,
            closest=self._closest[1] if self._closest else None,
            max_abs=self._max_abs,
            max_margin_shift=self._max_shift,
            mean_margin_shift=self._margins.mean_shift,
            within_largest_shift=self._margins.count_within(self._max_shift)
            if self._max_shift
            else 0,
            expected_flip_share=expected,
            extrapolated=extrapolated,
            first_flip=self._first_flip,
            **self._counts,
        )

    def _add(
        self,
        decisions: Decisions,
        start: int,
        steps: tuple[int, ...],
        weight: int,
        sample: Hashable,
        *,
        seen: bool,
    ) -> None:
        for name, count in decisions.counts.items():
            self._counts[name] += weight * count
        self._max_abs = max(self._max_abs, decisions.max_abs)
        self._max_shift = max(self._max_shift, decisions.max_shift)
        if decisions.margins.size:
            self._margins.add(decisions.margins, decisions.shifts, weight, seen=seen)
            closest = float(decisions.margins.min())
            if not self._closest or closest < self._closest[0]:
                self._closest = (closest, sample)
        counts = decisions.counts
        # A tie decides nothing, nor does a vector that has no class on either side.
        undecided = counts["unclassed"] - counts["class_lost"] + counts["ties"]
        if counts["decisions"] > undecided:
            self._samples_classed.add(sample)
        if decisions.counts["class_lost"]:
            self._samples_changed.add(sample)
        if decisions.flip:
            place, *classes = decisions.flip
            self._note_flip(sample, start + place, steps, *classes)

    def _note_flip(
        self, sample: Hashable, place: int, steps: tuple[int, ...], before: Any, after: Any
    ) -> None:
        self._samples_changed.add(sample)
        if self._first_flip is None:
            index = tuple(int(i) for i in np.unravel_index(place, steps))
            self._first_flip = Flip(sample, index, before, after)


def _to_python(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
