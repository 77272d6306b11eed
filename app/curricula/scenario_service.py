"""Has a model write the scenarios of a curriculum, and makes rows of them."""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from app.curricula.scenarios import (
    AT_ONCE,
    EASIEST,
    HARDEST,
    Scenario,
    ScenarioPlan,
    ScenarioSet,
    UnusableScenarios,
    answer_schema,
    messages_of,
    read_scenarios,
)
from app.files.datasets import row_faults
from app.files.rows import MIN_EXAMPLES, tools_faults
from app.graders.judge import JudgeFault, JudgeQuestion, JudgeReply, Judges, sampling_of
from app.kit.errors import InvalidRequest, refused_value
from app.kit.fields import parameter
from app.kit.ids import new_id
from app.kit.slots import RETRY_LONG_WORK_AFTER_S, ProjectSlots
from app.tools.tools import new_trace_id

MODEL_FAILED: Final = "scenario_model_failed"
PARAM: Final = "generator"
LIMIT_S: Final = 120.0
MAX_ROWS_BYTES: Final = 16_000_000
"""Largest size of what all rows of an answer repeat: the tools and the system message."""
MAX_WRITERS: Final = 2
"""Calls of one project at the same time: each asks a model for up to `LIMIT_S`."""
_SAME: Final = 92.0
"""Likeness, in percent, from which two tasks are one."""
_IDLE: Final = 2
"""Questions in a row without a new scenario after which the model is asked no more."""


class ModelFailed(Exception):
    """The model writes no more; users read the text."""


def scenario_slots() -> ProjectSlots:
    return ProjectSlots(
        MAX_WRITERS, noun="generations of scenarios", retry_after_s=RETRY_LONG_WORK_AFTER_S
    )


def check_tools(plan: ScenarioPlan) -> None:
    """Raises `InvalidRequest` for tools that no row may have, or that are too large for so many
    rows.
    """
    for pointer, fault in tools_faults(list(plan.tools), "tools", callable_names=None):
        path = tuple(int(part) if part.isdigit() else part for part in pointer.split("/"))
        raise refused_value(parameter("", path), fault)
    repeated = json.dumps([plan.tools, plan.system_prompt], ensure_ascii=False)
    size = len(repeated.encode(errors="surrogatepass"))
    if size * plan.wanted > MAX_ROWS_BYTES:
        raise refused_value(
            "tools",
            f"each of the {plan.wanted} rows repeats them and the system message, {size:,} bytes, "
            f"and all rows together may repeat {MAX_ROWS_BYTES:,}; send fewer or shorter tools, or "
            "ask for fewer rows",
        )


class ScenarioWriter:
    def __init__(self, judges: Judges, plan: ScenarioPlan, *, limit_s: float = LIMIT_S) -> None:
        self._judges = judges
        self._plan = plan
        self._limit_s = limit_s
        self._result = ScenarioSet()
        self._found = _DistinctScenarios()

    async def write(self) -> ScenarioSet:
        """Raises `InvalidRequest` when the model wrote no scenario at all."""
        try:
            async with asyncio.timeout(self._limit_s):
                await self._ask_until_enough()
        except TimeoutError:
            self._result.faults.append(f"the model took longer than {self._limit_s:g} s")
        except ModelFailed as failure:
            self._result.faults.append(str(failure))
        if not self._found.scenarios:
            raise InvalidRequest(
                f"The model '{self._plan.writer.model}' wrote no scenario: "
                f"{'; '.join(self._result.faults)}.",
                param=f"{PARAM}.model",
                code=MODEL_FAILED,
            )
        self._result.duplicates = self._found.duplicates
        split(self._plan, self._found.scenarios[: self._plan.wanted], self._result)
        self._result.faults += _short_parts(self._result)
        return self._result

    async def _ask_until_enough(self) -> None:
        idle = 0
        while len(self._found.scenarios) < self._plan.wanted:
            before = len(self._found.scenarios)
            missing = self._plan.wanted - before
            written = await self._scenarios(min(AT_ONCE, missing))
            await asyncio.to_thread(self._keep, written)
            idle = 0 if len(self._found.scenarios) > before else idle + 1
            if idle == _IDLE:
                raise ModelFailed(f"the model wrote nothing new in {_IDLE} answers")

    def _keep(self, written: Sequence[Scenario]) -> None:
        """Keeps the scenarios that are new and may be rows. Each is compared with all earlier ones,
        so that this runs on a thread; the tools of the rows are checked already.
        """
        for scenario in written:
            row = {"messages": _messages(self._plan, scenario)}
            if next(row_faults(row, None), None) is not None:
                self._result.unusable += 1
            else:
                self._found.add(scenario)

    async def _scenarios(self, count: int) -> list[Scenario]:
        """Asks one question, and once more after an answer that cannot be read."""
        writer = self._plan.writer
        question = JudgeQuestion(
            model=writer.model,
            messages=messages_of(self._plan, count, self._found.scenarios),
            response_format=answer_schema(),
            call_id=new_id("scenarios_"),
            trace_id=new_trace_id(),
            sampling=sampling_of(writer.sampling_params),
            base_url=writer.base_url,
            headers=writer.headers or {},
        )
        try:
            return await self._read(await self._reply(question))
        except UnusableScenarios as fault:
            again = {"role": "user", "content": f"This cannot be used: {fault}. Answer again."}
        repeated = replace(
            question, messages=[*question.messages, again], call_id=new_id("scenarios_")
        )
        try:
            return await self._read(await self._reply(repeated))
        except UnusableScenarios as fault:
            raise ModelFailed(f"{fault}, twice in a row") from fault

    async def _reply(self, question: JudgeQuestion) -> JudgeReply:
        self._result.questions += 1
        try:
            reply = await self._judges.ask(question)
        except JudgeFault as fault:
            raise ModelFailed(fault.message) from fault
        self._result.prompt_tokens += reply.prompt_tokens
        self._result.completion_tokens += reply.completion_tokens
        if reply.refusal is not None:
            raise ModelFailed("the model refused")
        return reply

    async def _read(self, reply: JudgeReply) -> list[Scenario]:
        scenarios, unusable = await asyncio.to_thread(read_scenarios, reply.text)
        self._result.unusable += unusable
        return scenarios


@dataclass(slots=True)
class _DistinctScenarios:
    """Scenarios that are not alike, in the order in which they came."""

    scenarios: list[Scenario] = field(default_factory=list)
    duplicates: int = 0
    _texts: dict[tuple[str, ...], list[str]] = field(default_factory=dict)
    """Plain texts by the numbers in them: tasks about other numbers are others."""

    def add(self, scenario: Scenario) -> None:
        from rapidfuzz import fuzz  # noqa: PLC0415 - its 40 modules are for this call only

        letters = (letter if letter.isalnum() else " " for letter in scenario.task.casefold())
        words = "".join(letters).split()
        numbers = tuple(word for word in words if any(map(str.isdigit, word)))
        text, alike = " ".join(words), self._texts.setdefault(numbers, [])
        if any(fuzz.ratio(text, other, score_cutoff=_SAME) for other in alike):
            self.duplicates += 1
            return
        alike.append(text)
        self.scenarios.append(scenario)


def _messages(plan: ScenarioPlan, scenario: Scenario) -> list[dict[str, Any]]:
    system = [{"role": "system", "content": plan.system_prompt}] if plan.system_prompt else []
    return [*system, {"role": "user", "content": scenario.task}]


def _row(plan: ScenarioPlan, scenario: Scenario) -> dict[str, Any]:
    return {
        "messages": _messages(plan, scenario),
        "tools": list(plan.tools),
        "difficulty": (scenario.difficulty - EASIEST) / (HARDEST - EASIEST),
    }


def _short_parts(result: ScenarioSet) -> Iterator[str]:
    """Yields the fault of each part that is too short for the file of a job."""
    for name, rows in (("training", result.training), ("validation", result.validation)):
        if 0 < len(rows) < MIN_EXAMPLES:
            yield f"'{name}' has {len(rows)} rows, and a job needs {MIN_EXAMPLES} in a file"


def split(plan: ScenarioPlan, scenarios: Sequence[Scenario], result: ScenarioSet) -> None:
    """Divides the scenarios as they were wanted. In order of difficulty, the held-out ones are the
    middle of each of as many equal parts, so that they are as hard as the others.
    """
    held_out = round(len(scenarios) * plan.validation_tasks / plan.wanted)
    by_difficulty = sorted(range(len(scenarios)), key=lambda at: scenarios[at].difficulty)
    chosen = {
        by_difficulty[(2 * at + 1) * len(scenarios) // (2 * held_out)] for at in range(held_out)
    }
    for at, scenario in enumerate(scenarios):
        part = result.validation if at in chosen else result.training
        part.append(_row(plan, scenario))
