"""Commands of a running service: their address, their output and their bodies."""

import inspect
import math
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer

from app.cli.terminal import WrongOption
from app.kit.strict_json import strict_loads

if TYPE_CHECKING:
    from app.cli.client import Service
    from app.cli.output import Output
    from app.cli.profiles import AddressSources
    from app.cli.replies import Reply

if TYPE_CHECKING:
    from pydantic import ValidationError


def finite(value: float | None) -> float | None:
    """Refuses NaN and infinity, which JSON cannot represent."""
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a finite number")
    return value


def describe(error: "ValidationError") -> str:
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


Run = TypeVar("Run", bound=Callable[..., int | None])
_KEYWORD: Final = inspect.Parameter.KEYWORD_ONLY
_SHARED: Final[dict[str, tuple[Any, Any]]] = {
    "base_url": (BaseUrlOption, None),
    "api_key": (ApiKeyOption, None),
    "profile": (ProfileOption, None),
    "as_json": (JsonOption, False),
}


@dataclass(frozen=True, slots=True)
class Remote:
    named: "AddressSources"
    out: "Output"

    @contextmanager
    def service(self) -> "Iterator[Service]":
        from app.cli.client import service  # noqa: PLC0415 - httpx takes as long as all of --help
        from app.cli.profiles import address_of  # noqa: PLC0415 - as above

        address = address_of(self.named)
        with service(address.base_url, address.api_key) as running:
            yield running

    def get(self, path: str, **params: Any) -> "Reply":
        with self.service() as service:
            return service.get(path, **params)

    def print_list(
        self,
        path: str,
        header: Sequence[str],
        cells: "Callable[[Reply], Sequence[object]]",
        *,
        limit: int,
        **params: Any,
    ) -> None:
        with self.service() as service:
            rows = service.rows(path, limit=limit, **params)
        self.out.table(rows.data, header, cells, has_more=rows.has_more)


def remote_command(
    group: typer.Typer, name: str, *, text: str | None = None, filters: Mapping[str, Any] = {}
) -> Callable[[Run], Run]:
    """Adds a function whose first parameter is the remote service to a group of commands. The
    command takes the function's other parameters and the options of `_SHARED`, and exits with what
    the function returns. `text` is the help in place of the function's own; `filters` are the
    options that it gets as `**conditions`, `None` if they are absent.
    """

    def add(run: Run) -> Run:
        _, *own = inspect.signature(run, eval_str=True).parameters.values()
        options = [
            inspect.Parameter("context", _KEYWORD, annotation=typer.Context),
            *(one for one in own if one.kind is not inspect.Parameter.VAR_KEYWORD),
            *(_option(each, annotation, None) for each, annotation in filters.items()),
            *(
                _option(each, annotation, default)
                for each, (annotation, default) in _SHARED.items()
            ),
        ]

        def command(context: typer.Context, **given: Any) -> None:
            raise typer.Exit(_run(run, context, **given) or 0)

        vars(command)["__signature__"] = inspect.Signature(options)
        command.__annotations__ = {one.name: one.annotation for one in options}
        group.command(name, help=text or inspect.getdoc(run))(command)
        return run

    return add


def _option(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, _KEYWORD, default=default, annotation=annotation)


def _run(run: Callable[..., int | None], context: typer.Context, /, **options: Any) -> int | None:
    from app.cli.output import Output  # noqa: PLC0415 - keeps --help fast
    from app.cli.profiles import AddressSources, variables_of  # noqa: PLC0415 - as above

    typed = {name: options.pop(name) for name in ("base_url", "api_key")}
    # The parser reads variables one by one, but an address and a key belong together.
    base_url, api_key = (typed[name] if _is_typed(context, name) else None for name in typed)
    variables = variables_of(os.environ, key_is_typed=api_key is not None)
    named = AddressSources(base_url, api_key, options.pop("profile"), variables)
    out = Output(_name(context), as_json=options.pop("as_json"))
    with out.failures():
        return run(Remote(named, out), **options)


def _name(context: typer.Context) -> str:
    group = context.parent
    if group is not None and group.parent is None:  # the program itself
        group = None
    return " ".join(filter(None, (group.info_name if group else None, context.info_name)))


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def read_body(path: Path) -> dict[str, Any]:
    """Returns the JSON object of a file, or of standard input for `-`. Raises `ServiceError`."""
    name = "standard input" if path == Path("-") else str(path)
    try:
        content = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
        body = strict_loads(content.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise WrongOption(f"{name}: {reason}") from error
    if not isinstance(body, dict):
        raise WrongOption(f"{name}: must contain a JSON object")
    return body
