"""Metrics stand on NumPy alone."""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import detaudit.metrics

PROBE = """
import sys
{imports}
loaded = {{name.partition(".")[0] for name in sys.modules}}
print(sorted(loaded & {{"scipy", "pandas", "rich", "torch", "onnx", "onnxruntime"}}))
ours = [name for name in sys.modules if name.startswith("detaudit.")]
print([name for name in ours if not name.startswith("detaudit.metrics")])
"""


def test_nothing_heavy_and_nothing_of_ours_is_imported() -> None:
    names = [module.name for module in pkgutil.iter_modules(detaudit.metrics.__path__)]
    assert "distance" in names
    imports = "\n".join(f"import detaudit.metrics.{name}" for name in names)
    # Without the package's own __init__, which may import more.
    package = Path(detaudit.metrics.__file__).parents[1]
    stub = (
        "import sys, types\n"
        "root = types.ModuleType('detaudit')\n"
        f"root.__path__ = [{str(package)!r}]\n"
        "sys.modules['detaudit'] = root\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", stub + PROBE.format(imports=imports)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == ["[]", "[]"]
