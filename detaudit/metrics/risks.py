"""Which decision or value of a pair of outputs is most at risk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from detaudit.metrics.blocks import Array, find_kind, walk
from detaudit.metrics.decisions import subtract
from detaudit.metrics.rounding import count_changed
from detaudit.metrics.score_rows import check_shapes, split_scores


@dataclass(frozen=True, slots=True)
class DecisionRisk:
    """A decision and how near it is to flip.

    Attributes:
        room: smallest margin to a rival minus the change of that difference that was seen; at or
            below 0 a change of this size can flip the decision
        index: place in the output without the axis of the classes
        margin: distance of the winner to that rival in the reference, 0 for a tie
        shift: how far this distance moved
        winner: class of the reference
        rival: the class that is nearest to win
        other: class of the other output

    """

    room: float
    index: tuple[int, ...]
    margin: float
    shift: float
    winner: int
    rival: int
    other: int


@dataclass(frozen=True, slots=True)
class ValueRisk:
    """A value and how near it is to print differently.

    Attributes:
        room: distance to the rounding boundary over the difference seen; up to 1 a difference of
            this size can reach it.
        index: place in the output
        value: what the reference holds there
        other: what the other output holds
        decimals: decimals printed
        distance: how far the value lies from where its printed form changes
        shift: size of the difference
        changed: whether the two print differently

    """

    room: float
    index: tuple[int, ...]
    value: float
    other: float
    decimals: int
    distance: float
    shift: float
    changed: bool


def find_decision_risk(
    reference: Array, other: Array, axis: int = -1, threshold: float | None = None
) -> DecisionRisk | None:
    """Decision with the least room in a pair of score arrays.

    Args:
        reference: scores of any shape
        other: scores of the same shape
        axis: axis of the classes
        threshold: score from which on a class is present, decided for each score by itself; None
            lets the classes of an axis compete, and is 0.5 where there is but one

    Returns:
        the decision, the first of several; None without scores, and where each vector holds a NaN
        on a side, which leaves no margin

    Raises:
        ValueError: if the shapes differ or there is no such axis

    Examples:
        >>> risk = find_decision_risk(np.array([[0.5, 0.25]]), np.array([[0.5, 0.375]]))
        >>> risk.room, risk.margin, risk.shift
        (0.125, 0.25, 0.125)

    """
    if not reference.size:
        return None
    rows = split_scores(reference, other, axis, threshold)
    best: DecisionRisk | None = None
    with np.errstate(over="ignore", invalid="ignore"):
        for start, x, y in rows.walk():
            if rows.threshold is not None:
                x, y = (_oppose(z, rows.threshold) for z in (x, y))
            places = np.flatnonzero(~(np.isnan(x) | np.isnan(y)).any(axis=1))
            if places.size:
                found = _find_least_room(x[places], y[places], places + start, rows.steps)
                best = found if best is None or found.room < best.room else best
    return best


def find_value_risk(reference: Array, other: Array, decimals: int) -> ValueRisk | None:
    """Value with the least room in a pair of outputs.

    Args:
        reference: floats of any shape
        other: floats of the same shape
        decimals: decimals printed, 0 to 22

    Returns:
        the value, the first of several; None where no value moved from one finite number to
        another

    Raises:
        TypeError: if the outputs are no floats
        ValueError: if the shapes differ

    Examples:
        >>> risk = find_value_risk(np.array([0.5, 2.0]), np.array([0.625, 2.25]), 0)
        >>> risk.index, risk.room, risk.changed
        ((0,), 0.0, True)

    """
    if find_kind(reference.dtype) != "float" or find_kind(other.dtype) != "float":
        raise TypeError(f"only floats are rounded, not {reference.dtype} and {other.dtype}")
    check_shapes(reference, other)
    best: ValueRisk | None = None
    scale = 10.0**decimals
    with np.errstate(over="ignore", invalid="ignore"):
        for start, (x, y) in walk(reference, other):
            places = np.flatnonzero(np.isfinite(x) & np.isfinite(y) & (x != y))
            if not places.size:
                continue
            x, y = x[places].astype(np.float64), y[places].astype(np.float64)
            gaps = np.abs(y - x)
            distance = _find_distance(x, scale)
            rooms = distance / gaps
            least = int(rooms.argmin())
            if best is None or rooms[least] < best.room:
                place = np.unravel_index(start + places[least], reference.shape)
                here = slice(least, least + 1)
                best = ValueRisk(
                    room=float(rooms[least]),
                    index=tuple(int(i) for i in place),
                    value=float(x[least]),
                    other=float(y[least]),
                    decimals=decimals,
                    distance=float(distance[least]),
                    shift=float(gaps[least]),
                    changed=count_changed(x[here], y[here], decimals) > 0,
                )
    return best


def _oppose(scores: Array, threshold: float) -> Array:
    """A score as two classes that compete: absent and present."""
    return np.hstack([np.full_like(scores, threshold), scores])


def _find_least_room(x: Array, y: Array, places: Array, steps: tuple[int, ...]) -> DecisionRisk:
    rows = np.arange(len(x))
    winner = x.argmax(axis=1)
    margins = subtract(x[rows, winner][:, None], x)
    shifts = np.abs(subtract(subtract(y[rows, winner][:, None], y), margins))
    rooms = margins - shifts
    # A margin that was infinite and is no more.
    rooms[np.isnan(rooms)] = -np.inf
    rooms[rows, winner] = np.inf
    rivals = rooms.argmin(axis=1)
    row = int(rooms[rows, rivals].argmin())
    rival = int(rivals[row])
    place = np.unravel_index(places[row], steps)
    return DecisionRisk(
        room=float(rooms[row, rival]),
        index=tuple(int(i) for i in place),
        margin=float(margins[row, rival]),
        shift=float(shifts[row, rival]),
        winner=int(winner[row]),
        rival=rival,
        other=int(y[row].argmax()),
    )


def _find_distance(x: Array, scale: float) -> Array:
    """How far values lie from the nearest rounding boundary."""
    scaled = x * scale
    return np.nan_to_num(0.5 - np.abs(scaled - np.rint(scaled)), nan=0.5) / scale
