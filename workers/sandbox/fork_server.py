"""The fork server: imports the modules once and forks a process for each program.
`workers.sandbox.execution` starts it with a socket as standard input and an empty environment. It
never reads a program, so its forks contain no data of any other program. It has one thread, because
a fork copies one thread only.
"""

import encodings
import gc
import importlib
import io
import json
import numbers
import os
import pkgutil
import resource
import signal
import socket
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec
from types import CodeType, ModuleType
from typing import Any, Final

from typing_extensions import override

from app.kit.processes import keep_priority, signal_at_parent_end
from app.tools.programs import LAYERS, MAX_PROGRAM
from workers.sandbox import kernel as namespaces
from workers.sandbox.kernel import Protection, available

FILE: Final = "<source>"
_NO_MEMORY: Final = "MemoryError: it takes more memory than a program may"
OUT_OF_MEMORY: Final = json.dumps({"error": {"text": _NO_MEMORY}}).encode()
"""The reply of a program that left no memory to describe its error."""
_MAX_TEXT: Final = 600
_MAX_PRINTED: Final = 786_432
"""Bytes that a script may print: within a reply."""


def answer(program: bytes) -> bytes:
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
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return _finite(float(value))
    raise TypeError(f"it returned a {type(value).__name__}, which JSON cannot express")


def _described(error: BaseException, source: str) -> dict[str, Any]:
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
"""Some functions need files, sockets or processes: the sandbox refuses these with a clear error."""
_USUAL: Final = (
    "numpy", "numpy.char", "numpy.dtypes", "numpy.exceptions", "numpy.fft",
    "numpy.lib.stride_tricks", "numpy.linalg", "numpy.ma", "numpy.polynomial", "numpy.random",
    "numpy.rec", "numpy.strings", "numpy.testing", "numpy.typing", "rapidfuzz",
    "rapidfuzz.distance", "rapidfuzz.fuzz", "rapidfuzz.process",
)  # fmt: skip
"""Loaded if installed; lazily imported submodules too: a program cannot import them later."""


def preload(extra: Sequence[str]) -> tuple[str, ...]:
    """Removes the importer of files. Returns the names. Raises `ImportError` for one of `extra`."""
    loaded = [name for name in _STANDARD if _is_there(name)]
    loaded += [name for name in _USUAL if _is_there(name)]
    for name in extra:
        importlib.import_module(name)
        loaded.append(name)
    # Codecs, which `str.encode` imports by name.
    for found in pkgutil.iter_modules(encodings.__path__):
        with suppress(ImportError):  # some belong to other systems
            importlib.import_module(f"encodings.{found.name}")
    names = tuple(sorted({name for name in loaded if not name.startswith("_")}))
    sys.meta_path[:] = [BuiltinImporter, FrozenImporter, _NotLoaded()]
    sys.path_importer_cache.clear()
    sys.path.clear()
    return names


def reseed() -> None:
    """No two forks may share NumPy's random numbers; the interpreter seeds `random` itself."""
    loaded = sys.modules.get("numpy.random")
    if loaded is not None:
        loaded.seed()


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


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


CHANNEL: Final = 3
READY: Final = b"\x01"
"""The message of a program's process when its layers are applied, before it reads the program."""
_LENGTH: Final = struct.Struct(">I")
_CHUNK: Final = 65_536
_OPEN_FILES: Final = 64


def main() -> int:
    options = json.loads(sys.argv[1])
    signal_at_parent_end(signal.SIGKILL)
    # A program's process closes each number up to this limit; of a million that takes long.
    resource.setrlimit(resource.RLIMIT_NOFILE, (_OPEN_FILES, _OPEN_FILES))
    line = socket.socket(fileno=os.dup(0))
    try:
        modules = preload(options["modules"])
    except ImportError as error:
        line.send(json.dumps({"failure": f"a module of the settings: {error}"}).encode())
        return 1
    protection = _protection(options)
    if "namespaces" in protection.layers:
        namespaces.enter_namespaces()
    layers = [layer for layer in LAYERS if layer in protection.layers]
    os.environ.clear()
    gc.collect()
    gc.freeze()  # a collection in a child would copy the pages of everything it looks at
    line.send(json.dumps({"layers": layers, "modules": modules}).encode())
    _serve(line, protection)
    return 0


def _protection(options: dict[str, Any]) -> Protection:
    layers = available(frozenset(options["without"]), first_uid=options["first_uid"])
    return Protection(
        layers=layers,
        memory_bytes=_address_space() + options["memory_bytes"],
        seconds=options["seconds"],
        first_uid=options["first_uid"],
    )


def _address_space() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - no pathlib in this small interpreter
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def _serve(line: socket.socket, protection: Protection) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers leave no zombies
    while True:
        request, descriptors, _, _ = socket.recv_fds(line, 64, 2)
        if not request:
            return
        if os.fork() == 0:
            try:
                line.close()
                _keep(int(request), protection, *descriptors)
            finally:
                os._exit(1)
        for descriptor in descriptors:
            os.close(descriptor)


def _keep(slot: int, protection: Protection, channel: int, status: int) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal_at_parent_end(signal.SIGKILL)
    if "namespaces" in protection.layers:
        namespaces.enter_for_one()
    pid = os.fork()
    if pid == 0:
        try:
            _become_program(slot, protection, channel)
        finally:
            os._exit(1)
    os.close(channel)
    with socket.socket(fileno=status) as report:
        socket.send_fds(report, [b"forked"], [os.pidfd_open(pid)])
        report.send(json.dumps(_end_of(pid)).encode())
    os._exit(0)


def _end_of(pid: int) -> dict[str, float]:
    _, status, used = os.wait4(pid, 0)
    return {
        "code": os.waitstatus_to_exitcode(status),
        "processor_s": used.ru_utime + used.ru_stime,
        "memory_bytes": 1024 * used.ru_maxrss,
    }


def _become_program(slot: int, protection: Protection, channel: int) -> None:
    os.setsid()
    keep_priority()
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL)
    os.closerange(0, 2)
    os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))
    try:
        protection.confine(slot)
    except BaseException as error:
        os.write(2, f"a layer could not be applied: {error!r}\n".encode())
        raise
    os.close(2)
    os.write(CHANNEL, READY)
    try:
        reseed()
        received = _read_program()
        reply = b"" if received is None else answer(received)
    except MemoryError:  # too little is left to describe it
        reply = OUT_OF_MEMORY
    _write(reply)
    os._exit(0)


def _read_program() -> bytes | None:
    head = _read(_LENGTH.size)
    if head is None:
        return None
    (length,) = _LENGTH.unpack(head)
    return _read(length) if length <= MAX_PROGRAM else None


def _read(length: int) -> bytes | None:
    parts, left = [], length
    while left:
        part = os.read(CHANNEL, min(left, _CHUNK))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _write(reply: bytes) -> None:
    view = memoryview(reply)
    with suppress(OSError):  # the runner has read enough, or the code has closed the channel
        while view:
            view = view[os.write(CHANNEL, view) :]


if __name__ == "__main__":
    sys.exit(main())
