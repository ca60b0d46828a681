"""How long ``detaudit --help`` takes, against an interpreter that does nothing.

Bound: at most 5 times the time of ``python -c pass``.
"""

from __future__ import annotations

import argparse
import sys

from measure import AUDIT, alternate, describe_machine, divide_best, hold, run

_BOUND = 5.0


def main() -> int:
    """Measure, print, and return 1 where the bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    print(describe_machine("numpy"))
    audit = [*AUDIT, "--help"]
    bare = [sys.executable, "-c", "pass"]
    mine, theirs = alternate(options.rounds, lambda: run(audit).seconds, lambda: run(bare).seconds)
    for name, values in (("detaudit --help", mine), ("python -c pass", theirs)):
        print(f"        {name}: {min(values) * 1e3:.0f} ms at best")
    held = hold("detaudit --help over python -c pass", divide_best(mine, theirs), _BOUND)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
