"""Plugin of pytest: the fixture ``detaudit``, which holds a model to a requirement."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from detaudit.project import Project
    from detaudit.report import Report
    from detaudit.spec import AuditSpec


class Auditor:
    """Audits models in tests.

    Args:
        folder: folder of the project, whose ``[tool.detaudit]`` in ``pyproject.toml`` holds for
            what a test does not say

    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def assert_reproducible(
        self,
        model: str | PathLike[str],
        device: str | Iterable[str] | None = None,
        require: str | None = None,
        *,
        unavailable: Literal["fail", "skip"] = "fail",
        **options: Any,
    ) -> Report:
        """Fail unless a model meets a requirement on every target.

        Args:
            model: as for :func:`detaudit.audit`
            device: targets; those of the project by default, else as for :func:`detaudit.audit`
            require: what has to be met, such as ``"decimals=3,no-class-flip"``; that of the
                project by default, else ``identical``
            unavailable: ``skip`` to skip the test where a target is unavailable and everything
                else is met; a target that failed fails the test all the same
            options: further keyword arguments of :func:`detaudit.audit.plan_audit`

        Returns:
            report of the audit

        Raises:
            AssertionError: if the requirement is missed, or something was not tested
            UsageError: if the call cannot be meant as it stands
            ModelError: if the file is no valid or safe model

        """
        __tracebackhide__ = True
        from detaudit.capture.capture import capture
        from detaudit.errors import UsageError
        from detaudit.project import read_project

        if unavailable not in ("fail", "skip"):
            raise UsageError(f"unavailable '{unavailable}' is neither fail nor skip")
        project = read_project(self._folder)
        given = {**options, "device": device, "require": require}
        spec = _plan(model, project, {k: v for k, v in given.items() if v is not None})
        record = capture(spec)
        # Not before: the libraries it needs are loaded while the first worker loads its own.
        from detaudit.judge.judge import judge

        report = judge(record)
        if report.verdict.met:
            return report
        message = _tell(report, spec, project)
        if unavailable == "skip" and _only_unavailable(report):
            pytest.skip(message)
        raise AssertionError(message)


@pytest.fixture(scope="session")
def detaudit(pytestconfig: pytest.Config) -> Auditor:
    """Audits of models: ``detaudit.assert_reproducible("model.onnx", require="decimals=3")``."""
    return Auditor(pytestconfig.rootpath)


def _plan(model: str | PathLike[str], project: Project, given: dict[str, Any]) -> AuditSpec:
    from dataclasses import replace

    from detaudit.audit import plan_audit

    spec = plan_audit(model, **{"require": "identical", **project.options, **given})
    if "require" in project.options and "require" not in given:
        spec = replace(spec, judging=replace(spec.judging, origin=project.file))
    return spec


def _only_unavailable(report: Report) -> bool:
    """Whether nothing keeps the requirement from being met but targets that are not there."""
    absent = {row.name for row in report.targets if row.status == "unavailable"}
    return all(check.target in absent for check in report.verdict.checks if check.status != "met")


def _tell(report: Report, spec: AuditSpec, project: Project) -> str:
    from detaudit.command import write_command
    from detaudit.render.answer import render_answer

    repeat = write_command(spec, explicit=project.options)
    return f"{spec.model} is not shown to be reproducible\n{render_answer(report)}  {repeat}"
