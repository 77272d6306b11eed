"""Makes what git does not hold: `agent_rft_client` and the blocking half of `agent_rft`.

`python build_client.py` makes both where the schema or a source has changed since. It is also the
build backend of this folder, so that pip makes them before it builds.
"""

import hashlib
import json
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent / "openapi.json"
CLIENT = HERE / "agent_rft_client"
ASYNCHRONOUS, BLOCKING = (HERE / "agent_rft" / half for half in ("asynchronous", "synchronous"))
STAMP = CLIENT / "made-from.sha256"
_NOUNS = (
    "AgentRFT",
    "Coach",
    "Curriculum",
    "FeedbackCollector",
    "ImprovementPlan",
    "Recipe",
    "Skill",
    "Student",
    "TrainingJob",
)
_BLOCKING_NAMES = {
    **{f"Async{noun}": noun for noun in _NOUNS},
    "AsyncRetryingTransport": "RetryingTransport",
    "AsyncPause": "Pause",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncHTTPTransport": "HTTPTransport",
    "handle_async_request": "handle_request",
    "get_async_httpx_client": "get_httpx_client",
    "default_async_client": "default_client",
    "aread": "read",
    "aclose": "close",
    "asyncio": "sync",
    "anyio": "time",
    "asynchronous": "synchronous",
}


def digest() -> str:
    made_from = hashlib.sha256()
    sources = [HERE / name for name in ("generator.yaml", "pyproject.toml", "build_client.py")]
    for path in (SCHEMA, *sources, *sorted(ASYNCHRONOUS.glob("*.py"))):
        made_from.update(path.read_bytes())
    return made_from.hexdigest()


def is_current() -> bool:
    return STAMP.is_file() and BLOCKING.is_dir() and STAMP.read_text() == digest()


def make() -> None:
    """Makes both packages unless they are current."""
    if is_current():
        return
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".making-") as directory:
        client, blocking = Path(directory, "client"), Path(directory, BLOCKING.name)
        _make_client(client)
        _make_blocking(blocking)
        (client / STAMP.name).write_text(digest())
        for made, target in ((blocking, BLOCKING), (client, CLIENT)):
            shutil.rmtree(target, ignore_errors=True)
            made.rename(target)


def _make_client(target: Path) -> None:
    from openapi_python_client import generate  # noqa: PLC0415 - slow, and seldom needed
    from openapi_python_client.config import (  # noqa: PLC0415 - as above
        Config,
        ConfigFile,
        MetaType,
    )

    schema = target.with_suffix(".json")
    schema.write_text(json.dumps(_without_null_bodies()), encoding="utf-8")
    options = ConfigFile.load_from_path(HERE / "generator.yaml")
    config = Config.from_sources(
        options, MetaType.NONE, schema, "utf-8", overwrite=False, output_path=target
    )
    with redirect_stdout(StringIO()):
        faults = generate(config=config)
    if faults:
        sys.exit("\n".join(f"{fault.header}: {fault.detail}" for fault in faults))
    (target / "py.typed").touch()


def _without_null_bodies() -> Any:
    """Returns the schema with optional bodies that are not null. For a union with null the
    generator writes a function that fails when its body is left out.
    """
    document = json.loads(SCHEMA.read_bytes())
    for path in document["paths"].values():
        for operation in path.values():
            body = operation.get("requestBody", {})
            for content in () if body.get("required", False) else body.get("content", {}).values():
                kinds = content["schema"].get("anyOf", [])
                given = [kind for kind in kinds if kind != {"type": "null"}]
                if len(given) == 1:
                    content["schema"] = given[0]
    return document


def _make_blocking(target: Path) -> None:
    """Writes the words of the asynchronous half without `await`."""
    from unasync import Rule, unasync_files  # noqa: PLC0415 - as in `_make_client`

    copies = target.with_name(ASYNCHRONOUS.name)
    shutil.copytree(ASYNCHRONOUS, copies, ignore=lambda *_: ["__pycache__"])
    rule = Rule(f"/{copies.name}/", f"/{target.name}/", additional_replacements=_BLOCKING_NAMES)
    unasync_files([str(path) for path in copies.glob("*.py")], [rule])
    (target / "__init__.py").write_text('"""Made from `agent_rft.asynchronous`."""\n')


def build_wheel(folder: str, settings: Any = None, metadata: str | None = None) -> str:
    return _built("build_wheel", folder, settings, metadata)


def build_editable(folder: str, settings: Any = None, metadata: str | None = None) -> str:
    return _built("build_editable", folder, settings, metadata)


def _built(hook: str, *arguments: Any) -> str:
    from setuptools import build_meta  # noqa: PLC0415 - as in `_make_client`

    make()
    copies = HERE / "build"
    shutil.rmtree(copies, ignore_errors=True)  # it may hold modules of an older schema
    try:
        return str(getattr(build_meta, hook)(*arguments))
    finally:
        shutil.rmtree(copies, ignore_errors=True)


if __name__ == "__main__":
    make()
