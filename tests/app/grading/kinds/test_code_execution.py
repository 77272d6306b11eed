"""Code of a model against the tests of its row, in a real sandbox."""

import math
from typing import Any

import pytest

from app.graders.kinds.code_execution import code_of, equal
from app.graders.scorer import ScoreFault
from app.tools.programs import Program, ProgramOutcome
from app.tools.sandbox import ProgramTooLarge, UnixSandbox
from tests.support.cases import cases
from tests.support.grading.scores import scored
from tests.support.sandbox.in_memory import InMemorySandbox
from tests.support.sandbox.running import RunningSandbox

FUNCTION = {"type": "code_execution", "function": "add"}
PROGRAM = {"type": "code_execution"}
SUMS = {"tests": [
    {"arguments": [1, 2], "expected": 3},
    {"arguments": [-1, 1], "expected": 0},
    {"arguments": [0.1, 0.2], "expected": 0.3},
    {"arguments": ["a", "b"], "expected": "ab"},
]}  # fmt: skip
ECHO = {"tests": [{"stdin": "a\nb\n", "stdout": "a-b"}, {"stdout": "-"}]}


@pytest.mark.parametrize(
    ("code", "score", "reason"),
    [
        ("def add(a, b):\n    return a + b", 1.0, "4 of 4 tests passed"),
        ("Sure:\n```python\ndef add(a, b):\n    return a + b\n```\nDone.", 1.0, "4 of 4"),
        (
            "def add(a, b):\n    return int(a) + int(b)",
            0.5,
            "2 of 4 tests passed; test 2: another result than the expected one",
        ),
        ("def add(a, b):\n    return a - b", 0.0, "0 of 4 tests passed; test 0: another result"),
        ("def add(a, b):\n    return a + c", 0.0, "NameError: name 'c' is not defined (line 2, in"),
        ("def sub(a, b): pass", 0.0, "NameError: the source defines no function 'add'"),
        ("I cannot.", 0.0, "test 0: SyntaxError: "),
        ("import os\ndef add(a, b):\n    os._exit(0)", 0.0, "it ended without a result"),
        ("def add(a, b):\n    open('/etc/passwd')", 0.0, "test 0: "),
    ],
)
async def test_the_score_is_the_share_of_passed_tests(
    sandbox: RunningSandbox, code: str, score: float, reason: str
) -> None:
    result = await scored(FUNCTION, code, item=SUMS, sandbox=sandbox.client)
    assert (result.score, result.errors.raised) == (score, ())
    assert reason in (result.reason or "")
    assert result.sub_scores == {"passed": 4 * score, "tests": 4.0}


@pytest.mark.parametrize(
    ("code", "score"),
    [
        ("import sys\nprint('-'.join(sys.stdin.read().split()) or '-')", 1.0),
        ("import sys\nprint('-'.join(sys.stdin.read().split()))", 0.5),
        ("print('a-b  ', '', sep='\\n')", 0.5),
        ("print('a-b\\x0c')", 0.0),
        ("def main():\n    print('-')\nif __name__ == '__main__':\n    main()", 0.5),
        ("raise SystemExit(1)", 0.0),
    ],
)
async def test_without_a_function_tests_run_the_program(
    sandbox: RunningSandbox, code: str, score: float
) -> None:
    result = await scored(PROGRAM, code, item=ECHO, sandbox=sandbox.client)
    assert result.score == score


async def test_the_code_cannot_find_what_is_expected(sandbox: RunningSandbox) -> None:
    """The value is unguessable, so code that returns it would have read it."""
    searching = (
        "import gc, re, sys\n"
        "def add(a, b):\n"
        "    seen, frame = repr(gc.get_objects()), sys._getframe()\n"
        "    while frame is not None:\n"
        "        seen += repr(frame.f_locals)\n"
        "        frame = frame.f_back\n"
        "    return ''.join(re.findall('token' + '-[0-9a-f]{8}', seen))\n"
    )
    hidden = {"tests": [{"arguments": [1, 2], "expected": "token-5f0c93aa"}]}
    result = await scored(FUNCTION, searching, item=hidden, sandbox=sandbox.client)
    assert (result.score, result.reason) == (
        0.0,
        "0 of 1 tests passed; test 0: another result than the expected one",
    )


@pytest.mark.parametrize("forged", ['{"value": 3}', "pass"])
async def test_a_forged_reply_is_no_more_than_a_value(sandbox: RunningSandbox, forged: str) -> None:
    forging = f"import os\ndef add(a, b):\n    os.write(3, {forged!r}.encode())\n    os._exit(0)\n"
    result = await scored(FUNCTION, forging, item=SUMS, sandbox=sandbox.client)
    assert result.score == (0.25 if forged == '{"value": 3}' else 0.0)


async def test_code_that_never_ends_costs_three_time_outs() -> None:
    ran = list[Program]()

    def too_late(program: Program) -> ProgramOutcome:
        ran.append(program)
        return ProgramOutcome("time_limit", "", "no result within 5 s", 5.0)

    tests = {"tests": [{"stdout": str(number)} for number in range(20)]}
    slow = InMemorySandbox(too_late)
    result = await scored(PROGRAM, "while True: pass", item=tests, sandbox=slow)
    assert (result.score, len(ran), result.execution_time_s) == (0.0, 3, 15.0)
    assert result.reason == "0 of 20 tests passed; test 0: no result within 5 s"


async def test_slow_code_costs_a_minute_of_run_time_and_no_time_of_waiting() -> None:
    ran = list[Program]()

    def slowly(program: Program) -> ProgramOutcome:
        ran.append(program)
        return ProgramOutcome("replied", '{"output": "x"}', "", 4.0, waited_s=100.0)

    tests = {"tests": [{"stdout": "x"} for _ in range(20)]}
    result = await scored(PROGRAM, "print('x')", item=tests, sandbox=InMemorySandbox(slowly))
    assert (result.score, len(ran), result.execution_time_s) == (0.75, 15, 60.0)
    assert result.reason == (
        "15 of 20 tests passed; test 15: not run, because those before it took 60 s"
    )


@pytest.mark.parametrize(
    ("tests", "message"),
    [
        ("no JSON", "the tests are not JSON"),
        ([], "the tests are a list of 1 to 64 objects"),
        ([{"stdout": "x"}], "test 0 needs the keys 'arguments' and 'expected'"),
        ([{"arguments": [], "expected": 2}] * 65, "the tests are a list of 1 to 64 objects"),
        ("[" + "0," * 250_000 + "0]", "the tests contain more than 250000 values"),
    ],
)
async def test_a_row_without_tests_is_no_score(
    sandbox: RunningSandbox, tests: Any, message: str
) -> None:
    with pytest.raises(ScoreFault, match=message):
        await scored(FUNCTION, "x", item={"tests": tests}, sandbox=sandbox.client)


@pytest.mark.parametrize(
    ("grader", "details"),
    [
        ({"tests": "{{sample.output_text}}"}, "the tests are not JSON"),
        ({"function": "{{sample.output_text}}"}, "is not the name of a function"),
    ],
)
async def test_what_the_answer_wrote_is_no_fault_of_the_row(
    sandbox: RunningSandbox, grader: dict[str, Any], details: str
) -> None:
    result = await scored({**FUNCTION, **grader}, "a b", item=SUMS, sandbox=sandbox.client)
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))
    assert details in (result.errors.details or "")


async def test_arguments_beyond_the_sandboxs_bound_are_blamed_on_their_origin() -> None:
    def refused(_: Program) -> ProgramOutcome:
        raise ProgramTooLarge("2 bytes of JSON: the limit is 1")

    sandbox, code = InMemorySandbox(refused), "def add(a, b): pass"
    with pytest.raises(ScoreFault, match="the row cannot be graded: test 0 is too large") as caught:
        await scored(FUNCTION, code, item=SUMS, sandbox=sandbox)
    assert caught.value.kind == "item_unreadable"
    tests = '[{"arguments": [1, 2], "expected": 3}]'
    grader = {**FUNCTION, "input": "def add(a, b): pass", "tests": "{{sample.output_text}}"}
    result = await scored(grader, tests, sandbox=sandbox)
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))


async def test_a_row_chooses_the_function(sandbox: RunningSandbox) -> None:
    grader = {**FUNCTION, "function": "{{item.name}}"}
    code = "def twice(a):\n    return 2 * a"
    item = {"name": "twice", "tests": [{"arguments": [2], "expected": 4}]}
    assert (await scored(grader, code, item=item, sandbox=sandbox.client)).score == 1.0
    for name in ("a b", "class", "None", ""):
        with pytest.raises(ScoreFault, match="is not the name of a function"):
            await scored(grader, code, item={**item, "name": name}, sandbox=sandbox.client)
    soft = {**item, "name": "match"}
    code = "def match(a):\n    return 2 * a"
    assert (await scored(grader, code, item=soft, sandbox=sandbox.client)).score == 1.0


async def test_a_sandbox_that_is_unavailable_is_infrastructure(sandbox: RunningSandbox) -> None:
    with pytest.raises(ScoreFault) as caught:
        await scored(FUNCTION, "x = 1", item=SUMS, sandbox=InMemorySandbox())
    assert caught.value.errors.raised == ("python_grader_server_error",)
    unavailable = UnixSandbox(sandbox.socket.with_name("nowhere"), patience_s=0)
    with pytest.raises(ScoreFault, match="the sandbox does not answer"):
        await scored(FUNCTION, "x = 1", item=SUMS, sandbox=unavailable)


@cases("text", ["", "   ", "```python\n```", "x" * 300_000])
async def test_an_answer_without_usable_code_scores_0(text: str) -> None:
    result = await scored(FUNCTION, text, item=SUMS)
    assert (result.score, result.errors.raised) == (0.0, ("sample_parse_error",))


@cases(
    ("text", "code"),
    [
        ("```python\na\n```\n```json\n{}\n```\n```py\nb\n```\n```sh\nc\n```", "b\n"),
        ("```python\na\n```\nExample output:\n```\n3\n```", "a\n"),
        ("```\nold\n```\n```Python\na\n```", "a\n"),
        ("```\na\n```\n```\nb\n```\n```text\n3\n```", "b\n"),
        ("```json\n{}\n```", "```json\n{}\n```"),
        ("a", "a"),
        ("~~~python\na\n~~~", "a\n"),
        ("```python\na\n    ```\n    b\n    ```\nc\n```", "a\n    ```\n    b\n    ```\nc\n"),
        ("````python\na = '''\n```\n'''\n````", "a = '''\n```\n'''\n"),
        ('```python\na = "```"\nb\n```', 'a = "```"\nb\n'),
        ("1. x\n   ```python\n   if a:\n       b\n   ```", "if a:\n    b\n"),
        ("```python\na```", "a\n"),
        ("```python\nold\n```\n```python\na\nb", "a\nb\n"),
        ("Use ```x``` and ```y```", "Use ```x``` and ```y```"),
        ("<thinking>```python\na\n```</thinking>So: ```python\nb\n```", "b\n"),
        ("[THINK]```python\na\n```", ""),
        (
            "```python\nre.sub('<think>.*</think>', x[thought], '')\n```",
            "re.sub('<think>.*</think>', x[thought], '')\n",
        ),
    ],
)
def test_a_labelled_block_comes_before_one_without_a_label(text: str, code: str) -> None:
    assert code_of(text) == code


@pytest.mark.parametrize(
    ("code", "stdout", "score"),
    [
        ("print(0.1 + 0.2)", "0.3", 1),
        ("print(1 / 3)", "0.333", 0),
        ("print('007', 3)", "7 3", 0),
        ("print('  *')", "*", 0),
        ("print(9007199254740993)", "9007199254740992", 0),
    ],
)
async def test_printed_numbers_are_compared_as_returned_ones(
    sandbox: RunningSandbox, code: str, stdout: str, score: float
) -> None:
    tests = {"tests": [{"stdin": "", "stdout": stdout}]}
    assert (await scored(PROGRAM, code, item=tests, sandbox=sandbox.client)).score == score


@cases(
    ("value", "expected", "same"),
    [
        (2, 2.0, True),
        (0.1 + 0.2, 0.3, True),
        (True, 1, False),
        (1, True, False),
        (None, 0, False),
        ([1, [2.0]], [1.0, [2]], True),
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"b": 1}, False),
        ("1", 1, False),
        (10**400, 10**400, True),
        (1_000_000_008, 1_000_000_007, False),
        (float(2**53), 2**53 + 1, False),
        (1e18, 10**18, True),
        (2.0000000000000004, 2, True),
        (math.nan, 1, False),
    ],
)
def test_values_are_compared_as_json(value: Any, expected: Any, *, same: bool) -> None:
    assert equal(value, expected) is same
