"""How long the two shortest commands take, against an interpreter that does next to nothing.

Bounds: ``detaudit --help`` at most 5 times the time of ``python -c pass``, and ``detaudit check``
on a record of two targets at most 1.75 times that of importing NumPy and SciPy's special functions,
without which none is read and no share is bounded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from measure import AUDIT, alternate, describe_machine, divide_best, hold, run

_HELP_BOUND = 5.0
_CHECK_BOUND = 1.75


def main() -> int:
    """Measure, print, and return 1 where a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print(describe_machine("numpy", "scipy"))
    with tempfile.TemporaryDirectory() as folder:
        record = str(Path(folder) / "demo.audit")
        run([*AUDIT, "demo", "--device", "cpu,cpu[opt=off]", "--quiet", "--save", record])
        held = [
            _compare(options.rounds, ["--help"], "pass", _HELP_BOUND),
            _compare(
                options.rounds,
                ["check", record, "--require", "max_abs=1"],
                "import numpy, scipy.special",
                _CHECK_BOUND,
            ),
        ]
    return 0 if all(held) else 1


def _compare(rounds: int, arguments: list[str], code: str, bound: float) -> bool:
    audit, bare = [*AUDIT, *arguments], [sys.executable, "-c", code]
    mine, theirs = alternate(rounds, lambda: run(audit).seconds, lambda: run(bare).seconds)
    names = (
        f"detaudit {arguments[0]}",
        f"python -c {code!r}" if " " in code else f"python -c {code}",
    )
    for name, values in zip(names, (mine, theirs), strict=True):
        print(f"        {name}: {min(values) * 1e3:.0f} ms at best")
    return hold(" over ".join(names), divide_best(mine, theirs), bound)


if __name__ == "__main__":
    sys.exit(main())
