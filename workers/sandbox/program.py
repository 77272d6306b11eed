"""Runs one program in its own process, under all layers, and writes one reply.

The code of a customer or a model shares this process and may change everything in it. It gains
nothing by that: the reply contains only the code's own result, and the runner measures time, memory
and exit.
"""

import encodings
import importlib
import io
import json
import numbers
import pkgutil
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from typing_extensions import override

FILE: Final = "<source>"
_NO_MEMORY: Final = "MemoryError: it takes more memory than a program may"
OUT_OF_MEMORY: Final = json.dumps({"error": {"text": _NO_MEMORY}}).encode()
"""The reply of a program that left no memory to describe its error."""
_MAX_TEXT: Final = 600
_MAX_PRINTED: Final = 786_432
"""Bytes that a script may print: within a reply."""


def answer(program: bytes) -> bytes:
    """Returns the reply to a program: `value`, `output`, or `error` with its line."""
    request = json.loads(program)
    source = request["source"]
    try:
        run: Callable[[dict[str, Any]], dict[str, Any]]
        run = _call if request["kind"] == "call" else _script
        reply = run(request)
        return json.dumps(reply, allow_nan=False, default=_number).encode()
    except BaseException as error:  # noqa: BLE001 - whatever the code raises is its result
        return json.dumps({"error": _described(error, source)}).encode()


def _call(request: dict[str, Any]) -> dict[str, Any]:
    sys.stdout = sys.stderr = _text(_NullOutput())
    sys.stdin = _text(io.BytesIO())
    names: dict[str, Any] = {"__name__": "sandboxed"}
    _execute(request["source"], names)
    function = names.get(request["function"])
    if not callable(function):
        raise NameError(f"the source defines no function '{request['function']}'")  # noqa: TRY004 - the name is what is wrong
    value = function(*request["arguments"])
    return {"value": _finite(value)}


def _script(request: dict[str, Any]) -> dict[str, Any]:
    printed = _LimitedOutput()
    sys.stdout = _text(printed)
    sys.stderr = _text(_NullOutput())
    sys.stdin = _text(io.BytesIO(request["stdin"].encode(errors="surrogateescape")))
    try:
        _execute(request["source"], {"__name__": "__main__"})
    except SystemExit as end:
        if end.code not in (None, 0):
            raise
    sys.stdout.flush()
    return {"output": printed.getvalue().decode(errors="replace")}


def _execute(source: str, names: dict[str, Any]) -> None:
    # `dont_inherit`: the flags of this module are not the code's.
    code: CodeType = compile(source, FILE, "exec", dont_inherit=True)
    exec(code, names)  # noqa: S102 - the purpose of this process


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):  # noqa: PLR0124 - only NaN differs from itself
        raise ValueError(f"it returned {value}, which is not a finite number")
    return value


def _number(value: Any) -> Any:
    """Converts numbers that JSON does not have, such as those of NumPy."""
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _finite(float(value))
    raise TypeError(f"it returned a {type(value).__name__}, which JSON cannot express")


def _described(error: BaseException, source: str) -> dict[str, Any]:
    """Returns the message of an error, its line, and that line's text."""
    try:
        text = f"{type(error).__name__}: {error}"
    except BaseException:  # noqa: BLE001 - a message that cannot be made is none
        text = type(error).__name__
    if isinstance(error, MemoryError):
        text = _NO_MEMORY
    # A message may quote half of a surrogate pair, which the reader of the reply refuses.
    text = text[:_MAX_TEXT].encode(errors="replace").decode()
    line, function = _location(error)
    lines = source.splitlines()
    shown = lines[line - 1].strip()[:120] if line is not None and 0 < line <= len(lines) else None
    return {"text": text, "line": line, "function": function, "code": shown}


def _location(error: BaseException) -> tuple[int | None, str | None]:
    if isinstance(error, SyntaxError) and error.filename == FILE:
        return error.lineno, None
    frames = [frame for frame in _frames(error) if frame.filename == FILE]
    if not frames:
        return None, None
    return frames[-1].lineno, frames[-1].name


def _frames(error: BaseException) -> list[traceback.FrameSummary]:
    walked = traceback.walk_tb(error.__traceback__)
    return list(traceback.StackSummary.extract(walked, limit=200, lookup_lines=False))


def _text(raw: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


class _NullOutput(io.BytesIO):
    @override
    def write(self, data: Any, /) -> int:
        return len(data)


class _LimitedOutput(io.BytesIO):
    @override
    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > _MAX_PRINTED:
            raise OSError(f"the program prints more than {_MAX_PRINTED} bytes")
        return super().write(data)


_STANDARD: Final = (
    "_strptime", "abc", "argparse", "array", "ast", "base64", "binascii", "bisect", "bz2",
    "calendar", "cmath", "codecs", "collections", "collections.abc", "colorsys", "configparser",
    "contextlib", "contextvars", "copy", "copyreg", "csv", "ctypes", "dataclasses", "datetime",
    "decimal", "difflib", "doctest", "enum", "errno", "fnmatch", "fractions", "functools", "gc",
    "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html", "html.parser", "importlib",
    "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache", "locale", "logging",
    "lzma", "math", "mmap", "numbers", "operator", "optparse", "os", "os.path", "pathlib", "pickle",
    "platform", "plistlib", "pprint", "queue", "quopri", "random", "re", "reprlib", "resource",
    "sched", "secrets", "select", "shlex", "shutil", "signal", "socket", "stat", "statistics",
    "string", "stringprep", "struct", "subprocess", "symtable", "sys", "tempfile", "textwrap",
    "threading", "time", "timeit", "token", "tokenize", "tomllib", "traceback", "types", "typing",
    "unicodedata", "unittest", "urllib.parse", "uuid", "warnings", "weakref",
    "xml.dom.expatbuilder", "xml.dom.minidom",
    "xml.etree.ElementTree", "xml.sax", "xml.sax.expatreader", "zipfile", "zlib",
)  # fmt: skip
"""Modules of the standard library. Some of their functions need files, sockets or processes: the
sandbox refuses such a call with a clear error, and the other functions work.
"""
_USUAL: Final = (
    "numpy", "numpy.char", "numpy.dtypes", "numpy.exceptions", "numpy.fft",
    "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random",
    "numpy.rec", "numpy.strings", "numpy.testing", "numpy.typing", "rapidfuzz",
    "rapidfuzz.distance", "rapidfuzz.fuzz", "rapidfuzz.process",
)  # fmt: skip
"""Modules of other packages, loaded if they are installed. Lazily imported submodules are listed
too, because a program cannot import them later.
"""


def preload(extra: Sequence[str]) -> tuple[str, ...]:
    """Imports everything that programs may import, and removes the importer of files. Returns the
    names, for messages to a program's author. Raises `ImportError` for a name of `extra`.
    """
    loaded = [name for name in _STANDARD if _is_there(name)]
    loaded += [name for name in _USUAL if _is_there(name)]
    for name in extra:
        importlib.import_module(name)
        loaded.append(name)
    _load_encodings()
    names = tuple(sorted({name for name in loaded if not name.startswith("_")}))
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, _NotLoaded()]
    sys.path_importer_cache.clear()
    sys.path.clear()
    return names


def reseed() -> None:
    """Seeds NumPy's random numbers in a fork, so that no two forks share them; the interpreter does
    it for `random`.
    """
    loaded = sys.modules.get("numpy.random")
    if loaded is not None:
        loaded.seed()


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _load_encodings() -> None:
    """Loads the codecs, which `str.encode` imports by name."""
    for found in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some belong to other systems
            importlib.import_module(f"encodings.{found.name}")


class _NotLoaded:
    """The last finder of modules: its error names the setting that adds modules."""

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        raise ModuleNotFoundError(
            f"the sandbox has no module '{name}'; an operator adds installed ones with "
            "AGENT_RFT_SANDBOX__MODULES",
            name=name,
        )
