"""What the course of a worker asks of the library that drives its target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

from detaudit.worker.feeds import Batch, Feeds
from detaudit.worker.leaves import Leaf


class Live(Protocol):
    """A model in one session.

    Attributes:
        effective: options as the library reports them
        placement: nodes per provider, None where the library does not tell
        weights: SHA-256 over all weights and buffers as they were built, None where a file that
            is hashed already holds them

    """

    effective: Mapping[str, Any]
    placement: Mapping[str, int] | None
    weights: str | None

    def run(self, values: Mapping[str, Any]) -> Any:
        """Outputs for the inputs of a sample, complete when this returns; the call is timed.

        Args:
            values: arrays by the names of the inputs

        """

    def leaves(self, outputs: Any, feeds: Feeds | Batch) -> Iterator[Leaf]:
        """Arrays in what :meth:`run` returned.

        Args:
            outputs: what it returned
            feeds: what it was given

        """


class Backend(Protocol):
    """A library, set up for one target in this process.

    Attributes:
        described: build, packages and driver
        versions: of the library and its package
        hardware: name of the device, empty for this machine's processor

    """

    described: Mapping[str, Any]
    versions: Mapping[str, str]
    hardware: str

    def seed(self) -> Mapping[str, Any]:
        """Seed the generators of this process as the job says, and tell what was seeded."""

    def open(self) -> Live:
        """Fresh session of the model.

        Raises:
            Unavailable: if it is not the one that was asked for

        """

    def look_back(self, live: Live, values: Mapping[str, Any]) -> dict[str, Any]:
        """Facts that are looked up once all runs are over, so that it disturbs none of them.

        Args:
            live: last session
            values: inputs of the first sample

        Returns:
            entries of the message ``done``, such as ``placement``, ``precision`` and ``traits``

        """
