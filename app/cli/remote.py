"""JSON bodies of calls, from a file or standard input."""

import inspect
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec

import typer

from app.cli.options import ApiKeyOption, BaseUrlOption, JsonOption, ProfileOption
from app.cli.terminal import ServiceError
from app.kit.processes import WRONG_OPTIONS
from app.kit.strict_json import strict_loads

if TYPE_CHECKING:
    from app.cli.client import Service
    from app.cli.output import Output
    from app.cli.profiles import AddressSources, ServiceAddress


def read_body(path: Path) -> dict[str, Any]:
    """Returns the JSON object of a file, or of standard input for `-`. Raises `ServiceError`."""
    name = "standard input" if path == Path("-") else str(path)
    try:
        content = sys.stdin.buffer.read() if path == Path("-") else path.read_bytes()
        body = strict_loads(content.decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ServiceError(f"{name}: {reason}", exit_code=WRONG_OPTIONS) from error
    if not isinstance(body, dict):
        raise ServiceError(f"{name}: must contain a JSON object", exit_code=WRONG_OPTIONS)
    return body


Options = ParamSpec("Options")
_SHARED: Final[dict[str, tuple[Any, Any]]] = {
    "base_url": (BaseUrlOption, None),
    "api_key": (ApiKeyOption, None),
    "profile": (ProfileOption, None),
    "as_json": (JsonOption, False),
}


@dataclass(frozen=True, slots=True)
class Remote:
    """The service that a command calls, and the output that it prints to."""

    named: "AddressSources"
    out: "Output"

    @property
    def address(self) -> "ServiceAddress":
        from app.cli.profiles import address_of  # noqa: PLC0415 - keeps --help fast

        return address_of(self.named)

    @contextmanager
    def service(self) -> "Iterator[Service]":
        from app.cli.client import service  # noqa: PLC0415 - keeps --help fast

        address = self.address
        with service(address.base_url, address.api_key) as running:
            yield running


def remote_command(run: Callable[Concatenate[Remote, Options], None]) -> Callable[..., None]:
    """Makes a command of a function whose first parameter is the remote service. The command takes
    the function's other parameters and the options of `_SHARED`.
    """

    @wraps(run)
    def command(context: typer.Context, **options: Any) -> None:
        _run(run, context, **options)

    own = list(inspect.signature(run, eval_str=True).parameters.values())[1:]
    shared = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=type_)
        for name, (type_, default) in _SHARED.items()
    ]
    context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
    parameters = [context, *own, *shared]
    vars(command)["__signature__"] = inspect.Signature(parameters)
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    return command


def _run(run: Callable[..., None], context: typer.Context, /, **options: Any) -> None:
    from app.cli.output import Output  # noqa: PLC0415 - keeps --help fast
    from app.cli.profiles import (  # noqa: PLC0415 - keeps --help fast
        AddressSources,
        variables_of,
    )

    typed = {name: options.pop(name) for name in ("base_url", "api_key")}
    # The parser reads variables one by one, but an address and a key belong together.
    base_url, api_key = (typed[name] if _is_typed(context, name) else None for name in typed)
    variables = variables_of(os.environ, key_is_typed=api_key is not None)
    named = AddressSources(base_url, api_key, options.pop("profile"), variables)
    out = Output(_name(context), as_json=options.pop("as_json"))
    with out.failures():
        run(Remote(named, out), **options)


def _name(context: typer.Context) -> str:
    """Returns the words of the command without the name of the program."""
    group = context.parent
    if group is not None and group.parent is None:  # the program itself
        group = None
    return " ".join(filter(None, (group.info_name if group else None, context.info_name)))


def _is_typed(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"
