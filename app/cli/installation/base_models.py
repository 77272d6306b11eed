"""`agent-rft base-models --check`: one line for each configured base model.

The check builds models with torch, so it runs as a program of the GPU plane.
"""

import json
import subprocess
import sys

from app.domain.processes.interpreters import running_module


def check_base_models(models_json: str) -> int:
    """Prints what each model can do and returns the exit code: 9 if one is refused."""
    command = running_module("workers.engines.base_model_check", "--models-json", "-")
    done = subprocess.run(command, input=models_json, capture_output=True, text=True, check=False)  # noqa: S603 - ourselves
    for line in done.stdout.splitlines():
        report = json.loads(line)
        print(f"{report['model']}: {report['verdict']}")
        for name in ("tool_parser", "reasoning", "cpu_engine", "vllm", "packs", "targets"):
            if report["verdict"] != "refused":
                print(f"  {name}: {report[name]}")
        for reason in report["reasons"]:
            print(f"  {reason}")
    if not done.stdout:
        print(done.stderr, file=sys.stderr)
    return done.returncode
