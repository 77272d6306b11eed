"""Scores with the customer's function `grade(sample, item)`, run in the sandbox. An exception, a
timeout or another value is an error of the grader: the rollout leaves the batch. Sources are
checked early by their syntax tree, which is no protection: the sandbox stops disguised code.
"""

import ast
import keyword
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Literal

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.grader_model import GraderModel, graders_in
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    finite,
    run_on_scoring_thread,
)
from app.kit.endpoints import FaultKind
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import Path, parameter
from app.kit.strict_json import TooManyValues, strict_loads
from app.kit.texts import module_of
from app.tools.programs import FunctionCall, Program, ProgramOutcome
from app.tools.sandbox import ProgramTooLarge, Sandbox, SandboxUnavailable

FUNCTION: Final = "grade"
MAX_SOURCE: Final = 256_000
MAX_SOURCES: Final = 512_000
MAX_READ: Final = 64_000
"""Most bytes of sources that are parsed for a request: the parser holds the interpreter lock for up
to 0.2 s."""
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
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        raise SourceFault("it has half of a surrogate pair, which is not text") from None
    if size > MAX_SOURCE:
        raise SourceFault(f"it has {size} bytes, more than the limit of {MAX_SOURCE}")
    return size


def check_source(source: str) -> None:
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
"""Most values in all tests of a row: those of the longest rendered text at 8 characters each."""
NO_FUNCTION: Final = "its 'function' is not the name of a function"
_CALL_KEYS: Final = {"arguments", "expected"}
_RUN_KEYS: Final = {"stdin", "stdout"}


class TestsFault(ValueError):
    __test__ = False


@dataclass(frozen=True, slots=True)
class CallTest:
    arguments: tuple[Any, ...]
    expected: Any


@dataclass(frozen=True, slots=True)
class RunTest:
    stdin: str
    stdout: str


CodeTest = CallTest | RunTest


def is_function_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def code_tests(text: str, *, with_function: bool) -> list[CodeTest]:
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


_MAX_TEXT: Final = 1000


@dataclass(frozen=True, slots=True)
class ProgramResult:
    value: Any
    elapsed_s: float


class ProgramFailed(Exception):
    def __init__(self, text: str, *, elapsed_s: float, timed_out: bool = False) -> None:
        super().__init__(text)
        self.elapsed_s = elapsed_s
        self.timed_out = timed_out


class ArgumentsTooLarge(Exception):
    """The sandbox refuses the arguments for their size; the caller names their origin."""


async def run_program(sandbox: Sandbox, program: Program, *, source: str) -> ProgramResult:
    try:
        ending = await sandbox.run(program)
    except SandboxUnavailable as error:
        errors = GraderErrors(
            python_grader_server_error=True,
            python_grader_server_error_type="sandbox_unavailable",
            details=str(error),
        )
        kind = FaultKind.UNREACHABLE.value
        raise ScoreFault(kind, str(error), source=source, errors=errors) from error
    except ProgramTooLarge as error:
        raise ArgumentsTooLarge(f"too large for the sandbox: {error}") from None
    return await run_on_scoring_thread(partial(_read, ending))


def _read(ending: ProgramOutcome) -> ProgramResult:
    if ending.how != "replied":
        raise ProgramFailed(
            ending.detail, elapsed_s=ending.elapsed_s, timed_out=ending.how == "time_limit"
        )
    try:
        reply = strict_loads(ending.reply, most=None)
    except (ValueError, RecursionError):
        reply = None
    match reply:
        case {"error": {"text": str(text)}}:
            raise ProgramFailed(_with_location(text, reply["error"]), elapsed_s=ending.elapsed_s)
        case {"value": value}:
            return ProgramResult(value, ending.elapsed_s)
        case {"output": str(value)}:
            return ProgramResult(value, ending.elapsed_s)
        case _:
            text = "it wrote something else to its result's channel than one result"
            raise ProgramFailed(text, elapsed_s=ending.elapsed_s)


def _with_location(text: str, location: dict[str, Any]) -> str:
    line, function, code = location.get("line"), location.get("function"), location.get("code")
    if not isinstance(line, int):
        return text[:_MAX_TEXT]
    words = [f"line {line}"]
    if isinstance(function, str) and function != "<module>":
        words.append(f"in {function}")
    quoted = f": {code}" if isinstance(code, str) and code else ""
    return f"{text} ({', '.join(words)}{quoted})"[:_MAX_TEXT]


class PythonGrader(GraderModel):
    """A function `grade(sample, item)` that returns the score; it runs in the sandbox."""

    type: Literal["python"]
    name: str = Field(default="python", min_length=1, max_length=256)
    source: str
    """The source, at most 256,000 bytes, that defines `grade`. It can use no files, no network and
    no other process, and by default 5 seconds and 256 MiB, which the operator can change."""
    image_tag: str | None = Field(
        default=None, min_length=1, max_length=128, exclude_if=lambda value: value is None
    )
    """It is echoed without effect: the operator determines the modules."""

    @field_validator("source")
    @classmethod
    def _is_taken(cls, source: str) -> str:
        # `source_faults` parses it: this runs on the event loop, and for each stored grader.
        try:
            check_size(source)
        except SourceFault as fault:
            raise PydanticCustomError("source_error", "{fault}", {"fault": str(fault)}) from None
        return source

    reads_beside_templates: ClassVar[bool] = True
    repeats_its_scores: ClassVar[bool] = False

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return PythonScorer(self, ports.sandbox, source=source)


def source_faults(definitions: Sequence[tuple[str, BaseModel]]) -> Iterator[InvalidRequest]:
    sources = [
        (parameter(root, (*path, "source")), grader.source)
        for root, definition in definitions
        for path, grader in python_graders(definition)
    ]
    too_many = _too_many(sources)
    if too_many is not None:
        yield too_many
        return
    left = MAX_READ
    for param, source in sources:
        left -= len(source.encode())
        if left < 0:
            return
        try:
            check_source(source)
        except SourceFault as fault:
            yield refused_value(param, str(fault))


def _too_many(sources: Sequence[tuple[str, str]]) -> InvalidRequest | None:
    together = 0
    for param, source in sources:
        together += len(source.encode())
        if together > MAX_SOURCES:
            limit = f"at most {MAX_SOURCES} bytes together"
            return refused_value(
                param, f"the sources of all python graders of a request have {limit}"
            )
    return None


def python_graders(definition: BaseModel) -> Iterator[tuple[Path, PythonGrader]]:
    for path, grader in graders_in(definition):
        if isinstance(grader, PythonGrader):
            yield path, grader


RETURNED: Final = f"'{FUNCTION}' returned "


class PythonScorer:
    def __init__(self, spec: PythonGrader, sandbox: Sandbox, *, source: str) -> None:
        self._code = spec.source
        self._sandbox = sandbox
        self._source = source

    async def score(self, request: GradeRequest) -> ScoreResult:
        call = FunctionCall(self._code, FUNCTION, (request.sample, request.item))
        try:
            result = await run_program(self._sandbox, call, source=self._source)
        except ProgramFailed as failed:
            kind = FaultKind.TIMEOUT if failed.timed_out else FaultKind.ERROR
            raise self._fault(kind, str(failed)) from None
        except ArgumentsTooLarge as fault:
            message = f"the sample and the item are {fault}"
            raise self._fault(FaultKind.ERROR, message) from None
        score = finite(result.value)
        if score is None:
            shown = f"{RETURNED}{_shown(result.value)}; a score is a finite number"
            raise self._fault(FaultKind.ERROR, shown)
        return ScoreResult(score, execution_time_s=result.elapsed_s)

    def _fault(self, kind: FaultKind, message: str) -> ScoreFault:
        errors = GraderErrors(
            python_grader_runtime_error=True,
            python_grader_runtime_error_details=message,
            details=message,
        )
        return ScoreFault(kind.value, message, source=self._source, errors=errors)


def _shown(value: object) -> str:
    if value is None or isinstance(value, bool):
        return repr(value)
    if isinstance(value, int | float):
        return "a number that is too large"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "a dict"
