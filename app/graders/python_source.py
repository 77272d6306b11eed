"""Checks the source of a python grader before a job exists, and reports code that can never run.

This is early feedback and no protection: disguised code passes the check, and the sandbox stops it.
Reads the syntax tree only and runs nothing.
"""

import ast
import keyword
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from app.kit.strict_json import TooManyValues, strict_loads
from app.kit.texts import module_of

FUNCTION: Final = "grade"
MAX_SOURCE: Final = 256_000
"""Largest source in bytes; the hosted limit."""
MAX_SOURCES: Final = 512_000
"""Largest total of the sources of a request, in bytes."""
MAX_READ: Final = 64_000
"""Largest total of the parsed sources of a request, in bytes; only the sandbox reads the others.
The parser holds the interpreter lock for a whole source, up to 0.2 s for this number of bytes.
"""
_NAME: Final = r"[\w\x80-\U0010ffff]"
"""A character of a name for Python's tokenizer, which accepts every character beyond ASCII."""
_LONG_NAME: Final = re.compile(rf"(?<!{_NAME})(?:{_NAME}++[\s\\]*+\.[\s\\]*+){{16}}")
"""A long dotted name, for which the parser's memory grows with the square of its length."""
_SIGNATURE: Final = f"def {FUNCTION}(sample, item)"
_VALUES: Final = 2
_NO_NETWORK: Final = "the sandbox has no network"
_NO_PROCESSES: Final = "the sandbox starts no processes and threads"
_NO_NATIVE: Final = "the sandbox loads no native code"
_NO_FILES: Final = "the sandbox has no files"
_MODULES: Final = {
    **dict.fromkeys(
        (
            *("aiohttp", "asyncio", "ftplib", "http.client", "http.server", "httpx", "imaplib"),
            *("openai", "poplib", "requests", "smtplib", "socket", "socketserver", "ssl"),
            *("telnetlib", "urllib.request", "urllib3", "websockets", "xmlrpc"),
        ),
        _NO_NETWORK,
    ),
    **dict.fromkeys(
        ("_thread", "concurrent.futures", "multiprocessing", "pty", "subprocess"), _NO_PROCESSES
    ),
    **dict.fromkeys(("cffi", "ctypes", "mmap"), _NO_NATIVE),
    **dict.fromkeys(("shutil", "tempfile"), _NO_FILES),
}
"""Modules that always fail in the sandbox."""
_DEEPEST: Final = 3
"""Number of parts of the longest of these names, plus one."""
_CALLS: Final = {
    "os": {
        **dict.fromkeys(("fork", "forkpty", "popen", "posix_spawn", "system"), _NO_PROCESSES),
        **dict.fromkeys(("kill", "killpg"), "the sandbox signals no process"),
        **dict.fromkeys(("listdir", "mkdir", "remove", "rename", "scandir", "walk"), _NO_FILES),
    }
}
_CALL_PREFIXES: Final = {"os": {"exec": _NO_PROCESSES, "spawn": _NO_PROCESSES}}


class SourceFault(ValueError):
    """A source that cannot grade. The text is for its author."""


def check_size(source: str) -> int:
    """Returns the number of bytes. Raises `SourceFault` for too many, and for a source that is not
    text.
    """
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise SourceFault("it has half of a surrogate pair, which is not text") from None
    if size > MAX_SOURCE:
        raise SourceFault(f"it has {size} bytes, more than the limit of {MAX_SOURCE}")
    return size


def check_source(source: str) -> None:
    """Raises `SourceFault` at the first fault, with its line."""
    if check_size(source) > MAX_READ or _LONG_NAME.search(source):
        return
    tree = _parsed(source)
    bound = [_bound(node) for node in tree.body]
    for line, fault in _refused(tree, {name for names in bound for name in names}):
        raise SourceFault(f"line {line}: {fault}")
    _check_function(tree, bound)


def _parsed(source: str) -> ast.Module:
    try:
        return module_of(source)
    except SyntaxError as error:
        location = "" if error.lineno is None else f"line {error.lineno}: "
        raise SourceFault(f"{location}{error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceFault(f"it cannot be read: {str(error) or type(error).__name__}") from None


def _refused(tree: ast.Module, own: set[str]) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Call):
            fault = _call_fault(node.func, own)
            if fault is not None:
                yield node.lineno, fault
            continue
        else:
            continue
        for name in names:
            fault = _module_fault(name)
            if fault is not None:
                yield node.lineno, fault


def _module_fault(name: str) -> str | None:
    parts = name.split(".", _DEEPEST)[:_DEEPEST]
    for length in range(1, len(parts) + 1):
        module = ".".join(parts[:length])
        if module in _MODULES:
            return f"'{module}' cannot work: {_MODULES[module]}"
    return None


def _call_fault(called: ast.expr, own: set[str]) -> str | None:
    if isinstance(called, ast.Name) and called.id == "open" and "open" not in own:
        return f"'open' cannot work: {_NO_FILES}"
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return None
    module, name = called.value.id, called.attr
    reason = _CALLS.get(module, {}).get(name)
    for prefix, shared in _CALL_PREFIXES.get(module, {}).items():
        reason = shared if name.startswith(prefix) else reason
    return None if reason is None else f"'{module}.{name}' cannot work: {reason}"


def _check_function(tree: ast.Module, bound: list[set[str]]) -> None:
    """Raises `SourceFault` unless `grade` is a usable function. `bound` has the names that each
    statement binds.
    """
    binding = None
    for node, names in zip(tree.body, bound, strict=True):
        binding = node if FUNCTION in names else binding
    if binding is None:
        raise SourceFault(f"it defines no function '{FUNCTION}': write '{_SIGNATURE}'")
    if isinstance(binding, ast.AsyncFunctionDef):
        raise SourceFault(
            f"line {binding.lineno}: '{FUNCTION}' is async: write '{_SIGNATURE}' without 'async'"
        )
    if isinstance(binding, ast.FunctionDef) and not _takes_two(binding.args):
        raise SourceFault(f"line {binding.lineno}: '{FUNCTION}' takes two values: '{_SIGNATURE}'")


def _takes_two(arguments: ast.arguments) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    needed = len(positional) - len(arguments.defaults)
    enough = len(positional) >= _VALUES or arguments.vararg is not None
    keywords_have_defaults = all(default is not None for default in arguments.kw_defaults)
    return enough and needed <= _VALUES and keywords_have_defaults


def _bound(node: ast.stmt) -> set[str]:
    """Returns the names that a statement binds."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in node.names}
    names = set[str]()
    for found in ast.walk(node):
        if isinstance(found, ast.Name) and isinstance(found.ctx, ast.Store):
            names.add(found.id)
        elif isinstance(found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(found.name)
    return names


MAX_TESTS: Final = 64
MAX_TEST_VALUES: Final = 250_000
"""Largest number of values in all tests of a row: as many as fit into the longest rendered text at
8 characters each.
"""
NO_FUNCTION: Final = "its 'function' is not the name of a function"
_CALL_KEYS: Final = {"arguments", "expected"}
_RUN_KEYS: Final = {"stdin", "stdout"}


class TestsFault(ValueError):
    """A text without tests. The message is for its author."""

    __test__ = False


@dataclass(frozen=True, slots=True)
class CallTest:
    """A call of the function and the value that it must return."""

    arguments: tuple[Any, ...]
    expected: Any


@dataclass(frozen=True, slots=True)
class RunTest:
    """A run of the program and the text that it must print."""

    stdin: str
    stdout: str


CodeTest = CallTest | RunTest


def is_function_name(text: str) -> bool:
    """Returns whether Python can define a function of this name; reserved words such as `class` are
    excluded.
    """
    return text.isidentifier() and not keyword.iskeyword(text)


def code_tests(text: str, *, with_function: bool) -> list[CodeTest]:
    """Reads a JSON list of tests; with a function each one calls it. Raises `TestsFault`."""
    try:
        entries = strict_loads(text, most=MAX_TEST_VALUES)
    except TooManyValues:
        raise TestsFault(f"the tests contain more than {MAX_TEST_VALUES} values") from None
    except (ValueError, RecursionError):
        raise TestsFault("the tests are not JSON") from None
    if not isinstance(entries, list) or not 0 < len(entries) <= MAX_TESTS:
        raise TestsFault(f"the tests are a list of 1 to {MAX_TESTS} objects")
    read = _call if with_function else _run
    return [read(number, entry) for number, entry in enumerate(entries)]


def _call(number: int, entry: Any) -> CallTest:
    if not isinstance(entry, dict) or set(entry) != _CALL_KEYS:
        raise TestsFault(f"test {number} needs the keys 'arguments' and 'expected', and no others")
    if not isinstance(entry["arguments"], list):
        raise TestsFault(f"the 'arguments' of test {number} are not a list")
    return CallTest(tuple(entry["arguments"]), entry["expected"])


def _run(number: int, entry: Any) -> RunTest:
    if not isinstance(entry, dict) or not {"stdout"} <= set(entry) <= _RUN_KEYS:
        raise TestsFault(
            f"test {number} needs the key 'stdout' and may have 'stdin': without a 'function' in "
            "the grader a test runs the whole program"
        )
    stdin, stdout = entry.get("stdin", ""), entry["stdout"]
    if not isinstance(stdin, str) or not isinstance(stdout, str):
        raise TestsFault(f"'stdin' and 'stdout' of test {number} are texts")
    return RunTest(stdin, stdout)
