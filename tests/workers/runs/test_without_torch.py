"""Runs speak to a trainer through its interface, so their modules load no tensors.

A trainer may compute in other processes (`tests/support/learning/process_trainer.py`); then the
process of the run needs no torch. Import contracts see direct imports only, hence a process that
imports.
"""

import json
import subprocess
import sys

PROBE = """
import importlib, json, pkgutil, sys
from workers import runs
names = [module.name for module in pkgutil.walk_packages(runs.__path__, "workers.runs.")]
for name in names:
    importlib.import_module(name)
    if "torch" in sys.modules:
        break
print(json.dumps([name, len(names), "torch" in sys.modules]))
"""


def test_no_module_of_a_run_loads_torch() -> None:
    done = subprocess.run([sys.executable, "-c", PROBE], stdout=subprocess.PIPE, check=True)
    last, count, loads = json.loads(done.stdout)
    assert count > 7
    assert not loads, f"{last} loads torch"
