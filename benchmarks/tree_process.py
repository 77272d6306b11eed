"""A program that runs in a checkout with its own interpreter, and answers lines with lines."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class TreeProcess:
    process: "subprocess.Popen[str]"
    ready: Any
    """JSON that the program printed behind `READY`, once it could answer."""

    def ask(self, line: str, *, answer: str) -> str:
        """Sends a line; returns the rest of the next line that begins with `answer`."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()
        return _line(self.process, answer)


def _line(process: "subprocess.Popen[str]", word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return line.removeprefix(word)
    raise RuntimeError("the tree's program ended")


@contextmanager
def tree_process(tree: Path, program: str, *arguments: str) -> Iterator[TreeProcess]:
    """Runs the program, which ends when its standard input does."""
    python = tree / ".venv" / "bin" / "python"
    with subprocess.Popen(
        [str(python) if python.exists() else sys.executable, "-c", program, *arguments],
        cwd=tree,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield TreeProcess(process, json.loads(_line(process, "READY ")))
