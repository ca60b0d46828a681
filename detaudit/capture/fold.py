"""Messages of a target's workers, folded into its record as they arrive.

Memory holds what the spread of the runs needs, whatever the number of runs: the first result of an
output, its smallest and largest values, and a few distinct results.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from detaudit.capture.environment import cpu_name
from detaudit.metrics.spread import Spread
from detaudit.metrics.spread_summary import SpreadSummary
from detaudit.plain import from_plain
from detaudit.record import (
    RUN_COLUMNS,
    Outcomes,
    OutputFacts,
    ProcessFacts,
    ScopeSpread,
    Status,
    TargetRecord,
    array_key,
    table_key,
)
from detaudit.spec import SCOPES
from detaudit.target import Target
from detaudit.traits import Traits

_KEPT_BYTES = 8 << 20
_ABSENT = "the output was absent in some runs"
_OTHER_KEYS = "the keys were others in some runs"


@dataclass
class _Group:
    """Results that one scope compares with each other, the first of which is the anchor."""

    digest: str
    first: np.ndarray
    keys: Sequence[str]
    spread: Spread | None = None
    equal: int = 1
    structural: str | None = None

    def add(self, digest: str, array: np.ndarray | None) -> None:
        """Add a result; the array may be missing when its digest was added before."""
        if self.spread is None and digest == self.digest:
            self.equal += 1
            return
        if self.spread is None:
            self.spread = Spread()
            self.spread.update(self.first, key=self.digest)
            for _ in range(self.equal - 1):
                self.spread.repeat(self.digest)
        if self.spread.knows(digest):
            self.spread.repeat(digest)
        else:
            assert array is not None, "a new digest brings its array"
            self.spread.update(array, key=digest)


@dataclass
class _Seen:
    """Distinct results of one output on one sample."""

    numbers: dict[str, int] = field(default_factory=dict)
    counts: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    kept_bytes: int = 0
    overall: Spread | None = None


class Folding:
    """What one target has given so far.

    Args:
        number: number of the target in the record
        target: what was asked for
        arrays: where arrays are put

    """

    def __init__(
        self, number: int, target: Target, arrays: MutableMapping[str, np.ndarray]
    ) -> None:
        self._number = number
        self._target = target
        self._arrays = arrays
        self._hello: Mapping[str, Any] = {}
        self._effective: Mapping[str, Any] = {}
        self._placement: Mapping[str, int] = {}
        self._outputs: list[OutputFacts] = []
        self._numbers: dict[str, int] = {}
        self._processes: list[ProcessFacts] = []
        self._sessions: list[float] = []
        self._weights: list[str] = []
        self._traits = Traits()
        self._rows: list[tuple[int, int, int, int, float]] = []
        self._outcome_rows: list[dict[int, int]] = []
        self._seen: dict[tuple[int, int], _Seen] = {}
        self._groups: dict[tuple[str, int, int], _Group] = {}
        self._spreads: dict[tuple[int, str], SpreadSummary] = {}

    @property
    def calls(self) -> int:
        """Calls that ended."""
        return len(self._rows)

    def add(self, process: int, message: Mapping[str, Any], arrays: Sequence[np.ndarray]) -> None:
        """Take one message of a worker.

        Args:
            process: number of the process
            message: what it says
            arrays: the outputs that it brings

        """
        event = message["event"]
        if event == "hello":
            self._hello = message
            self._sessions, self._weights = [], []
        elif event == "session":
            self._close("run")
            self._sessions.append(message["seconds"])
            if message.get("weights"):
                self._weights.append(message["weights"])
            # What only the first process looked up stays.
            self._effective = {**self._effective, **message["effective"]}
            self._placement = message["placement"] or self._placement
        elif event == "run":
            self._add_run(process, message, list(arrays))
        elif event == "done":
            self._close("run", "session")
            self._placement = message.get("placement", self._placement)
            if "precision" in message:
                self._effective = {**self._effective, "precision": message["precision"]}
            if "traits" in message:
                self._traits = from_plain(Traits, message["traits"])
            self._processes.append(
                ProcessFacts(
                    process,
                    tuple(self._sessions),
                    self._hello["seeding"],
                    message["state"],
                    tuple(self._weights),
                )
            )

    def end(
        self,
        status: Status,
        message: Mapping[str, Any] | None = None,
        last_words: tuple[str, ...] = (),
    ) -> TargetRecord:
        """Record of the target.

        Args:
            status: how it ended
            message: the message that tells why it is not ``ok``
            last_words: last lines of a worker that failed

        """
        self._close(*SCOPES)
        self._write_tables()
        runtime = self._hello.get("runtime", {})
        return TargetRecord(
            target=self._target,
            status=status,
            reason=message["reason"] if message else None,
            hardware=self._hello.get("hardware") or self._own_processor(),
            effective=self._effective,
            placement=self._placement,
            versions=self._hello.get("versions", {}),
            runtime=runtime,
            stderr=last_words if status == "failed" else (),
            processes=tuple(self._processes),
            traits=self._traits,
            outputs=tuple(self._outputs),
            outcomes=tuple(self._outcomes()),
            spreads=tuple(
                ScopeSpread(output, scope, summary)
                for (output, scope), summary in self._spreads.items()
            ),
        )

    def _own_processor(self) -> str:
        """Processor of this machine where the target runs on it; that of others is not known."""
        kind = self._target.option("device_type") or "CPU"
        on_cpu = self._target.family in ("cpu", "openvino") and kind == "CPU"
        return cpu_name() if self._hello and on_cpu else ""

    def _add_run(self, process: int, message: Mapping[str, Any], arrays: list[np.ndarray]) -> None:
        session, sample, run = message["session"], message["sample"], message["run"]
        if run == 0:
            self._close("run")
        self._rows.append((process, session, sample, run, message["seconds"]))
        # Scopes that this call belongs to, each with whether others came before it there.
        scopes = {"run": run > 0}
        if run == 0:
            scopes["session"] = session > 0
            if session == 0:
                scopes["process"] = process > 0
        numbers: dict[int, int] = {}
        for leaf in message["outputs"]:
            array = arrays.pop(0) if leaf["payload"] else None
            output = self._output(leaf, array)
            anchor = self._groups.get(("session", sample, output))
            if array is None and anchor is not None and anchor.digest == leaf["digest"]:
                # The first result of a process travels once, whichever session repeats it.
                array = anchor.first
            numbers[output] = self._count(sample, output, leaf["digest"], array)
            for scope, late in scopes.items():
                group = self._groups.get((scope, sample, output))
                if group is None:
                    assert array is not None, "the first of a group brings its array"
                    group = _Group(leaf["digest"], array, leaf["keys"])
                    group.structural = _ABSENT if late else None
                    self._groups[(scope, sample, output)] = group
                else:
                    group.add(leaf["digest"], array)
                    if leaf["keys"] != group.keys:
                        group.structural = _OTHER_KEYS
        for output in set(self._numbers.values()) - numbers.keys():
            for scope in scopes:
                if (group := self._groups.get((scope, sample, output))) is not None:
                    group.structural = _ABSENT
        self._outcome_rows.append(numbers)

    def _output(self, leaf: Mapping[str, Any], array: np.ndarray | None) -> int:
        path = leaf["path"]
        if path not in self._numbers:
            assert array is not None, "a new output brings its array"
            dtype = "string" if array.dtype.kind == "U" else array.dtype.name
            self._numbers[path] = len(self._outputs)
            keys, declared = tuple(leaf["keys"]), leaf.get("declared", "")
            self._outputs.append(OutputFacts(path, dtype, array.shape, keys, declared))
        return self._numbers[path]

    def _count(self, sample: int, output: int, digest: str, array: np.ndarray | None) -> int:
        """Number of the outcome, which is kept while there is room."""
        seen = self._seen.setdefault((sample, output), _Seen())
        number = seen.numbers.setdefault(digest, len(seen.counts))
        if number < len(seen.counts):
            seen.counts[number] += 1
            return number
        assert array is not None, "a new outcome brings its array"
        seen.counts.append(1)
        if number == 0 or seen.kept_bytes + array.nbytes <= _KEPT_BYTES:
            seen.kept.append(number)
            seen.kept_bytes += array.nbytes
            self._arrays[array_key(self._number, sample, output, number)] = array
        first = self._arrays[array_key(self._number, sample, output, 0)]
        if number == 1 and first.dtype.kind == "f":
            seen.overall = Spread()
            seen.overall.update(first, key=next(iter(seen.numbers)))
        if seen.overall is not None:
            seen.overall.update(array, key=digest)
        return number

    def _close(self, *scopes: str) -> None:
        """Sum up the groups of some scopes, which get no more members."""
        for key in [key for key in self._groups if key[0] in scopes]:
            scope, _, output = key
            group = self._groups.pop(key)
            if group.spread is None and group.structural is None:
                continue
            spread = group.spread
            if spread is None:
                spread = Spread()
                spread.update(group.first, key=group.digest)
            if group.structural:
                spread.note_structure(group.structural)
            summary = spread.read()
            before = self._spreads.get((output, scope))
            self._spreads[(output, scope)] = before.combine(summary) if before else summary

    def _write_tables(self) -> None:
        outcome = np.full((len(self._rows), len(self._outputs)), -1, np.int32)
        for row, numbers in enumerate(self._outcome_rows):
            outcome[row, list(numbers)] = list(numbers.values())
        self._arrays[table_key(self._number, "runs")] = np.array(self._rows, RUN_COLUMNS)
        self._arrays[table_key(self._number, "outcome")] = outcome

    def _outcomes(self) -> list[Outcomes]:
        found = []
        for (sample, output), seen in self._seen.items():
            if seen.overall is not None:
                for what in ("low", "high"):
                    key = array_key(self._number, sample, output, what)
                    self._arrays[key] = getattr(seen.overall, what)
            found.append(
                Outcomes(
                    output,
                    sample,
                    tuple(seen.numbers),
                    tuple(seen.counts),
                    tuple(seen.kept),
                    varies=seen.overall is not None,
                )
            )
        return found
