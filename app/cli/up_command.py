"""`agent-rft up`: the command and its options, whose modules are imported only when it runs."""

from typing import Annotated, Final, Literal

import typer

from app.cli.options import DEFAULT_DATA_DIR, DataDirOption

DEFAULT_PORT: Final = 8000
EngineName = Literal["cpu", "vllm"]


def _host_ports(values: list[str] | None) -> list[str] | None:
    from pydantic import ValidationError  # noqa: PLC0415 - keeps `agent-rft --help` fast

    from app.settings import EgressSettings  # noqa: PLC0415 - keeps `agent-rft --help` fast

    try:
        EgressSettings(allow_endpoints=tuple(values or ()))
    except ValidationError as error:
        raise typer.BadParameter(error.errors()[0]["msg"]) from error
    return values


PortOption = Annotated[int, typer.Option(min=1, max=65535, help="Port of the API.")]
DetachOption = Annotated[bool, typer.Option("--detach", help="Return once every process is ready.")]
AllowOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST:PORT",
        callback=_host_ports,
        help="Tool or grader address to allow although it is not public; for this start only.",
    ),
]
LeaseOption = Annotated[
    float | None,
    typer.Option(min=1, help="Seconds without a heartbeat after which a worker loses its job."),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="DIR|HUB_ID",
        help="Base model: a directory, or a hub id such as Qwen/Qwen3-4B. Later starts of the "
        "data directory keep it. `tiny-agent` goes back to the shipped one; `tiny-scholar` is "
        "shipped too and knows the questions of the recipes.",
    ),
]
RevisionOption = Annotated[
    str | None, typer.Option(help="Branch, tag or commit of a hub id; by default `main`, once.")
]
EngineOption = Annotated[EngineName, typer.Option(help="Engine of --model.")]
CpuOption = Annotated[bool, typer.Option("--cpu", help="With --engine vllm: vLLM's CPU build.")]
ContextOption = Annotated[
    int | None, typer.Option(min=64, metavar="TOKENS", help="Longest rollout, prompt included.")
]
ShareOption = Annotated[
    float | None,
    typer.Option(min=0.05, max=0.95, help="Share of the GPU for vLLM; by default planned."),
]
YesOption = Annotated[
    bool, typer.Option("--yes", help="Install vLLM without asking, if it is missing.")
]


def up(
    *,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    port: PortOption = DEFAULT_PORT,
    detach: DetachOption = False,
    allow_endpoint: AllowOption = None,
    lease_s: LeaseOption = None,
    model: ModelOption = None,
    revision: RevisionOption = None,
    engine: EngineOption = "cpu",
    cpu: CpuOption = False,
    context_length: ContextOption = None,
    engine_share: ShareOption = None,
    yes: YesOption = False,
    chosen_model: Annotated[str | None, typer.Option(hidden=True)] = None,
    ready_fd: Annotated[int | None, typer.Option(hidden=True)] = None,
) -> None:
    """Start every process; print the base URL and the keys as one JSON object.

    With --model the model is checked, its memory planned and its speed measured first; nothing is
    started for a model that is refused (exit code 9) or does not fit (10).

    Example: agent-rft up --model HuggingFaceTB/SmolLM2-135M-Instruct
    """
    from app.cli import up as starting  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.local.base_model import requested_model  # noqa: PLC0415 - as above
    from app.local.layout import UpOptions  # noqa: PLC0415 - as above

    request = requested_model(
        model,
        engine,
        cpu=cpu,
        revision=revision,
        context_length=context_length,
        engine_share=engine_share,
    )
    choice = starting.choose_model(data_dir, request, port=port, yes=yes, chosen=chosen_model)
    options = UpOptions(
        port=port, allow_endpoints=tuple(allow_endpoint or ()), lease_s=lease_s, model=choice
    )
    if detach:
        starting.start_detached(data_dir, options)
    else:
        starting.start(data_dir, options, ready_fd=ready_fd)
