"""The report of `agent-rft validate`, in the tests' own process, which has read the tokenizer."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app.cli.validate import validate
from app.kit.processes import FAILED
from app.settings import ModelSettings


def offline(content: bytes) -> dict[str, Any]:
    """Returns the report on the content of a call whose files are none of this machine's; one that
    is no call at all has a report without errors and warnings.
    """
    printed, refused = io.StringIO(), io.StringIO()
    files: dict[str, Path | None] = {"training_file": None, "validation_file": None}
    with TemporaryDirectory() as directory, redirect_stdout(printed), redirect_stderr(refused):
        call = Path(directory) / "job.json"
        call.write_bytes(content)
        code = validate(call, files=files, base_models=ModelSettings().base_models, as_json=True)
    if not printed.getvalue():
        assert (code, refused.getvalue()[:10]) == (FAILED, "agent-rft:")
        return {"valid": False, "errors": [], "warnings": []}
    report: dict[str, Any] = json.loads(printed.getvalue())
    assert code == (0 if report["valid"] else FAILED)
    return report


def is_unchecked(report: dict[str, Any], param: str | None) -> bool:
    """Returns whether a report names a parameter, or one above it, as not checked."""
    named = [each["param"] for each in report["warnings"] if each["code"] == "not_checked"]
    return param is not None and any(
        param == each or param.startswith((f"{each}.", f"{each}[")) for each in named
    )
