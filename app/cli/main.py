"""`agent-rft`: the command tree, whose modules are imported only when a command runs."""

import importlib
import importlib.util
import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_group

from app.cli.remote import DEFAULT_DATA_DIR, DataDirOption, Remote, remote_command
from app.kit.processes import FAILED, WRONG_OPTIONS

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


app = typer.Typer(
    name="agent-rft",
    help="Reinforcement fine-tuning of tool-using agents, on one machine or many.",
    pretty_exceptions_enable=False,
)
_GROUPS: Final = {
    "keys": ("app.cli.keys", "API keys."),
    "models": ("app.cli.models", "Models of a running service."),
    "jobs": ("app.cli.jobs", "Fine-tuning jobs of a running service."),
    "rollouts": ("app.cli.rollouts", "Rollouts of a job of a running service."),
    "files": ("app.cli.files", "Files of a running service."),
    "evals": ("app.cli.evals", "Evals of a running service."),
    "tools": ("app.cli.registry", "Registered tools of a project."),
    "graders": ("app.cli.registry", "Registered graders of a project."),
    "curricula": ("app.cli.registry", "Registered curricula of a project."),
    "environments": ("app.cli.registry", "Registered environments of a project."),
    "recipes": ("app.cli.registry", "Registered recipes of a project."),
    "profiles": ("app.cli.profiles", "Named services with their keys."),
    "audit": ("app.cli.audit", "Audit log of an organization, by an admin key."),
}
"""Module and help of each group of commands. The module has the group by its name."""


class _LazyGroup(TyperGroup):
    """A group whose module is imported once somebody asks for its commands."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        del self.commands  # whoever misses them gets them by `__getattr__`

    def __getattr__(self, missed: str) -> Any:
        if missed != "commands":
            raise AttributeError(missed)
        name = str(self.name)
        module = importlib.import_module(_GROUPS[name][0])
        self.commands = get_group(getattr(module, name)).commands
        return self.commands


for _name, (_, _help) in _GROUPS.items():
    app.add_typer(typer.Typer(cls=_LazyGroup, help=_help, no_args_is_help=True), name=_name)

app.command()(up)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - keeps `agent-rft --help` fast

        print(version("agent-rft"))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - its callback has printed it
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


class Grouping(StrEnum):
    """Columns that a day's usage can be split by."""

    MODEL = "model"
    PROJECT = "project"
    KEY = "key"
    JOB = "job"


@remote_command(app, "usage")
def usage(
    remote: Remote,
    *,
    by: Annotated[
        list[Grouping] | None, typer.Option(help="Split each day by this; repeat it for more.")
    ] = None,
    days: Annotated[int, typer.Option(min=1, max=180, help="Days to show, today included.")] = 7,
    project: Annotated[list[str] | None, typer.Option(help="Only projects with these ids.")] = None,
) -> None:
    """Show what an organization used by day, and what it cost. Takes an admin key.

    Example: agent-rft usage --by model --by project --days 30
    """
    from app.cli.audit import show_usage  # noqa: PLC0415 - keeps `agent-rft --help` fast

    show_usage(remote, by=[one.value for one in by or ()], days=days, projects=project or [])


@app.command()
def down(*, data_dir: DataDirOption = DEFAULT_DATA_DIR) -> None:
    """Stop every process of a data directory. Safe to repeat.

    Example: agent-rft down --data-dir .agent-rft
    """
    from app.local.supervisor import shut_down  # noqa: PLC0415 - keeps `agent-rft --help` fast

    stopped = shut_down(data_dir)
    root = data_dir.expanduser().absolute()
    idle = (
        "nothing was running in" if root.is_dir() else "nothing was running: there is no directory"
    )
    print("stopped" if stopped else f"{idle} {root}", file=sys.stderr)


@app.command()
def doctor(*, data_dir: DataDirOption = DEFAULT_DATA_DIR, port: PortOption = DEFAULT_PORT) -> None:
    """Check the requirements of `up`: binaries, rights, disk, port, torch, base models.

    Example: agent-rft doctor --port 8000
    """
    from app.cli.doctor import report  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(report(data_dir, port))


@app.command(
    context_settings={
        "allow_extra_args": True,
        "ignore_unknown_options": True,
        "help_option_names": [],
    }
)
def plan(context: typer.Context) -> None:
    """Plan the memory of a GPU for a model.

    Example: agent-rft plan --model DIR --gpu-memory 80GB
    """
    from app.cli.up import plan as show  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(show(context.args))


@app.command()
def migrate() -> None:
    """Migrate AGENT_RFT_OWNER_DATABASE_URL to the newest schema (production; `up` does it too).

    Example: agent-rft migrate
    """
    from app.local.provision import main as run_migrations  # noqa: PLC0415 - keeps `agent-rft --help` fast

    run_migrations()


@app.command()
def backup(
    *,
    out: Annotated[Path, typer.Option("--out", help="New or empty directory for the backup.")],
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    with_secret_key: Annotated[
        bool,
        typer.Option(
            "--with-secret-key", help="Include the secret key and the development keys, in clear."
        ),
    ] = False,
) -> None:
    """Back up database and objects of `up`, also while it runs; print a summary as JSON.

    Example: agent-rft backup --out backup-monday
    """
    from app.cli.backup import backup as take  # noqa: PLC0415 - keeps `agent-rft --help` fast

    raise typer.Exit(take(data_dir, out, with_secret_key=with_secret_key))


@app.command()
def restore(
    *,
    source: Annotated[
        Path, typer.Option("--from", help="Directory of a backup.", exists=True, file_okay=False)
    ],
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    unsigned: Annotated[
        bool,
        typer.Option(
            "--unsigned", help="Accept a backup without a signature, as older versions wrote it."
        ),
    ] = False,
) -> None:
    """Restore a backup into a new data directory; `up` then continues its jobs.

    Example: agent-rft restore --from backup-monday --data-dir .agent-rft
    """
    from app.cli.backup import restore as restore_backup  # noqa: PLC0415 - keeps `agent-rft --help` fast

    restore_backup(source, data_dir, unsigned=unsigned)


@app.command("base-models")
def base_models(
    *,
    check: Annotated[
        bool, typer.Option(help="Check what each model can do here; exit code 9 if one is refused.")
    ] = False,
) -> None:
    """Print the configured base models in the format of an engine's --models-json file.

    Example: agent-rft base-models --check
    """
    from app.cli.up import check_base_models  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.settings import ModelSettings, to_models_json  # noqa: PLC0415 - as above

    models = to_models_json(ModelSettings().base_models)
    if check:
        raise typer.Exit(check_base_models(models))
    print(models)


@app.command()
def validate(
    *,
    call: Annotated[
        Path, typer.Argument(help="JSON file with the body of a create call.", exists=True)
    ],
    training_file: Annotated[
        Path | None, typer.Option(help="Local JSONL file that replaces the call's training_file.")
    ] = None,
    validation_file: Annotated[
        Path | None, typer.Option(help="Local JSONL file that replaces the call's validation_file.")
    ] = None,
    data_dir: DataDirOption = DEFAULT_DATA_DIR,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report in the API's JSON format.")
    ] = False,
) -> None:
    """Check a job and its files offline, with the checks of POST /v1/fine_tuning/jobs/validate.

    The base models are those of AGENT_RFT_BASE_MODELS, else the one that the data directory was
    started with, else the shipped one.

    Example: agent-rft validate job.json --training-file train.jsonl --validation-file valid.jsonl
    """
    from app.cli.validate import validate as check  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.local.base_model import next_base_models  # noqa: PLC0415 - as above
    from app.local.state import DataDir  # noqa: PLC0415 - as above

    files = {"training_file": training_file, "validation_file": validation_file}
    models = next_base_models(DataDir(data_dir.absolute()))
    raise typer.Exit(check(call, files=files, base_models=models, as_json=as_json))


if importlib.util.find_spec("app.cli.demo") is not None:

    @app.command()
    def demo(
        *,
        keep: Annotated[
            bool,
            typer.Option(
                "--keep", help="Leave everything running; the next demo refuses to replace it."
            ),
        ] = False,
        port: Annotated[
            int | None,
            typer.Option(min=1, max=65535, help="Port of the API; a free one if absent."),
        ] = None,
    ) -> None:
        """Train the shipped model end to end against example tools and show what it learned.

        Example: agent-rft demo --keep
        """
        from app.cli.demo import run  # noqa: PLC0415 - keeps `agent-rft --help` fast

        raise typer.Exit(run(keep=keep, port=port))


def main() -> None:
    from pydantic import ValidationError  # noqa: PLC0415 - not needed for --help

    from app.cli.remote import describe  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.cli.terminal import (  # noqa: PLC0415 - as above
        OutputFailed,
        ServiceError,
        printable,
        printable_lines,
        standard_streams,
    )
    from app.kit.errors import AgentRftError  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.kit.logs import log_to_stderr  # noqa: PLC0415 - keeps `agent-rft --help` fast
    from app.local.state import EmbeddedError  # noqa: PLC0415 - keeps `agent-rft --help` fast

    log_to_stderr()
    if isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may have fewer characters than texts
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with standard_streams():
            app()
    except OutputFailed as failure:
        if failure.has_no_reader:  # as of `head`, which has read enough
            sys.exit(FAILED)
        _end(printable(str(failure)), FAILED)
    except EmbeddedError as failure:
        _end(printable_lines(str(failure)), failure.exit_code)
    except ServiceError as failure:
        _end(printable(str(failure)), failure.exit_code)
    except AgentRftError as failure:
        _end(printable(str(failure)), FAILED)
    except ValidationError as error:
        _end(printable_lines(describe(error)), WRONG_OPTIONS)


def _end(message: str, code: int) -> NoReturn:
    """Prints a failure, which may contain texts of other people, and ends the program."""
    print(f"agent-rft: {message}", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
