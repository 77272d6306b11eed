"""Python graders in a real sandbox: scores, the errors of a grader, and failures of the sandbox."""

import math
from typing import Any

import pytest

from app.graders.scorer import ScoreFault
from app.tools.programs import ProgramOutcome
from app.tools.sandbox import UnixSandbox
from tests.support.cases import cases
from tests.support.grading.scores import scored
from tests.support.patience import until
from tests.support.sandbox.in_memory import InMemorySandbox
from tests.support.sandbox.running import RunningSandbox, running_sandbox


def python(*lines: str) -> dict[str, Any]:
    """Returns a grader whose function has these lines."""
    body = "\n".join(f"    {line}" for line in lines)
    return {"type": "python", "name": "mine", "source": f"def grade(sample, item):\n{body}\n"}


@pytest.mark.parametrize(
    ("lines", "score"),
    [
        (("return 1",), 1.0),
        (("return -0.25",), -0.25),
        (("return float(sample['output_text'] == item['answer'])",), 1.0),
        (("import numpy", "return numpy.float32(0.5)"), 0.5),
        (("print('x' * 10_000_000)", "return 1"), 1.0),
    ],
)
async def test_a_function_scores(
    sandbox: RunningSandbox, lines: tuple[str, ...], score: float
) -> None:
    result = await scored(python(*lines), "42", item={"answer": "42"}, sandbox=sandbox.client)
    assert (result.score, result.errors.raised) == (score, ())
    assert result.execution_time_s > 0


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ("missing = item['answer']", "return missing / 0"),
            "TypeError: unsupported operand type(s) for /: 'str' and 'int' (line 3, in grade: ret",
        ),
        (("return None",), "'grade' returned None; a score is a finite number"),
        (("return True",), "'grade' returned True; a score is a finite number"),
        (("return '1'",), "'grade' returned a text; a score is a finite number"),
        (("return float('nan')",), "ValueError: it returned nan, which is not a finite number"),
        (("raise SystemExit(0)",), "SystemExit: 0 (line 2, in grade: raise SystemExit(0))"),
        (("raise ValueError('bad \\ud800')",), "ValueError: bad ? (line 2, in grade: raise"),
        (("import os", "os._exit(0)"), "it ended without a result, with the exit code 0"),
        (("import pandas_", "return 1"), "ModuleNotFoundError: the sandbox has no module"),
    ],
)
async def test_an_error_of_the_grader_is_no_score_and_names_its_line(
    sandbox: RunningSandbox, lines: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ScoreFault) as caught:
        await scored(python(*lines), item={"answer": "42"}, sandbox=sandbox.client)
    fault = caught.value
    assert (fault.kind, fault.errors.raised) == ("error", ("python_grader_runtime_error",))
    assert fault.message.startswith(message)
    assert fault.errors.python_grader_runtime_error_details == fault.message


async def test_a_time_out_is_an_error_of_the_grader() -> None:
    endless = python("while True:", "    try:", "        pass", "    except BaseException: pass")
    with running_sandbox(time_limit_s=0.5) as slow:
        with pytest.raises(ScoreFault) as caught:
            await scored(endless, sandbox=slow.client)
        assert caught.value.kind == "timeout"
        assert caught.value.errors.raised == ("python_grader_runtime_error",)
        assert caught.value.message == "no result within 0.5 s"

        async def scores() -> bool:
            try:
                return (await scored(python("return 1"), sandbox=slow.client)).score == 1
            except ScoreFault as fault:  # the limit is short for a busy machine
                if fault.kind != "timeout":
                    raise
                return False

        await until(scores, what="the next score")


async def test_a_sandbox_that_is_unavailable_is_infrastructure(sandbox: RunningSandbox) -> None:
    unavailable = UnixSandbox(sandbox.socket.with_name("nowhere"), patience_s=0)
    with pytest.raises(ScoreFault) as caught:
        await scored(python("return 1"), sandbox=unavailable)
    errors = caught.value.errors
    assert (caught.value.kind, errors.raised) == ("unreachable", ("python_grader_server_error",))
    assert errors.python_grader_server_error_type == "sandbox_unavailable"
    assert caught.value.message == "the sandbox does not answer"


async def test_a_sample_beyond_the_sandboxs_bound_is_no_score(sandbox: RunningSandbox) -> None:
    with pytest.raises(ScoreFault, match="too large for the sandbox") as caught:
        await scored(python("return 1"), "x" * (1 << 24), sandbox=sandbox.client)
    assert caught.value.kind == "error"  # no fault of the row, whose bound is far lower


@cases(
    "reply",
    ["", "[]", "{}", "null", '{"value": NaN}', '{"value": 1e999}', '{"error": 1}',
     '{"error": {"text": 1}}', '{"value": 1}{"value": 1}', "[" * 100_000],
)  # fmt: skip
async def test_a_reply_of_another_form_is_an_error_of_the_grader(reply: str) -> None:
    hostile = InMemorySandbox(lambda _: ProgramOutcome("replied", reply, "", 0.1))
    with pytest.raises(ScoreFault) as caught:
        await scored(python("return 1"), sandbox=hostile)
    assert caught.value.errors.raised == ("python_grader_runtime_error",)


async def test_it_is_a_part_of_a_multi_grader(sandbox: RunningSandbox) -> None:
    half = {"type": "contains", "needles": ["4"]}
    both = {
        "type": "multi",
        "graders": {"mine": python("return len(sample['output_text']) / 8"), "half": half},
        "calculate_output": "mine + half / 2",
    }
    result = await scored(both, "42", sandbox=sandbox.client)
    assert math.isclose(result.score, 0.75)
    assert result.sub_scores == {"mine": 0.25, "half": 1.0}
    both["graders"] = {"mine": python("return 1 / 0"), "half": half}
    with pytest.raises(ScoreFault) as caught:
        await scored(both, "42", sandbox=sandbox.client)
    assert caught.value.child == "mine"
