"""Options that several commands take, and the sentence for settings that cannot be used."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from pydantic import ValidationError


def finite(value: float | None) -> float | None:
    """Refuses NaN and infinity, which JSON cannot represent."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


def describe(error: "ValidationError") -> str:
    """Returns one line per invalid setting, with the name of its environment variable."""
    lines = [
        f"AGENT_RFT_{'__'.join(str(part) for part in item['loc']).upper()}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False)
        if item["type"] != "default_factory_not_called"  # follows from another line
    ]
    return "\n".join(lines)


DataDirOption = Annotated[
    Path, typer.Option("--data-dir", help="Directory that contains all data of the installation.")
]
DEFAULT_DATA_DIR: Final = Path(".agent-rft")
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        envvar=["AGENT_RFT_BASE_URL", "OPENAI_BASE_URL"],
        help="Address of the service, with its /v1, as `up` prints it.",
    ),
]
ApiKeyOption = Annotated[
    str | None,
    typer.Option(envvar=["AGENT_RFT_API_KEY", "OPENAI_API_KEY"], help="Key of a project."),
]
ProfileOption = Annotated[
    str | None,
    typer.Option(
        envvar="AGENT_RFT_PROFILE",
        metavar="NAME",
        help="Profile with address and key; see `agent-rft profiles`.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON: one envelope, documented and stable.")
]
LimitOption = Annotated[int, typer.Option(min=1, max=100_000, help="Most rows to print.")]
OutOption = Annotated[Path, typer.Option("--out", metavar="PATH", help="New local file.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace a local file.")]
JobArgument = Annotated[str, typer.Argument(metavar="JOB", help="Id of the job.")]
