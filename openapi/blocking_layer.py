"""Writes `agent_rft.synchronous` from `agent_rft.asynchronous`: the same words without `await`.

Runs in the environment of the generators, as `python blocking_layer.py SOURCE TARGET`.
"""

import shutil
import sys
from pathlib import Path

import unasync

NOUNS = (
    "AgentRFT",
    "Coach",
    "Curriculum",
    "FeedbackCollector",
    "ImprovementPlan",
    "Recipe",
    "Skill",
)
NAMES = {
    **{f"Async{noun}": noun for noun in (*NOUNS, "Student", "TrainingJob")},
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
"""Names of the asynchronous package, with those that stand in for them."""


def main(source: Path, target: Path) -> None:
    copies = target.with_name(source.name)
    shutil.copytree(source, copies, dirs_exist_ok=True, ignore=lambda *_: ["__pycache__"])
    rule = unasync.Rule(f"/{source.name}/", f"/{target.name}/", additional_replacements=NAMES)
    unasync.unasync_files([str(path) for path in copies.glob("*.py")], [rule])
    (target / "__init__.py").write_text(
        '"""The nouns over blocking calls: generated from `agent_rft.asynchronous`."""\n',
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
