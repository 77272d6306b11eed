"""Trials: call one grader or one tool once, as training does; limits of endpoints begin anew."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from app.curricula.scenarios import PARAM as SCENARIO_PARAM
from app.curricula.scenarios import GenerateScenarios, ScenarioSet, ScenarioWriter, check_tools
from app.graders.definitions import AnyGrader
from app.graders.embeddings import build_embeddings
from app.graders.judge_calls import EngineModels, RoutedJudges
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    ScoreFault,
    Scorer,
    ScoreResult,
    build_scorer,
    run_on_scoring_thread,
    text_sample,
)
from app.graders.template_faults import REWARDS_ALIKE, constant_scores, unplayable_path
from app.kit.egress import Egress
from app.kit.endpoint_pool import EndpointPool
from app.kit.endpoints import CallSigner, EndpointFault, FaultKind
from app.kit.errors import InvalidRequest, NoEffect
from app.kit.faults import refused_wholly
from app.kit.fields import walk_fields
from app.kit.ids import new_id
from app.kit.redaction import redacted_json
from app.models.service import JudgeModels
from app.settings import EgressSettings, EmbeddingSettings, JudgeSettings
from app.tools.definition_check import check_definition
from app.tools.sandbox import Sandbox
from app.tools.tool_calls import ToolCall, call_tool
from app.tools.tools import ToolOutcome, ToolTrial, new_trace_id

GRADER_RUN_LIMIT_S: Final = 120.0
TOOL_RUN_LIMIT_S: Final = 290.0
_CODES: Final = {
    FaultKind.ERROR: "tool_error",
    FaultKind.TIMEOUT: "tool_timeout",
    FaultKind.UNREACHABLE: "tool_unreachable",
    FaultKind.BAD_REPLY: "tool_bad_reply",
    FaultKind.TOO_LARGE: "tool_bad_reply",
    FaultKind.REFUSED: "endpoint_not_allowed",
}


@dataclass(frozen=True, slots=True)
class TrialPorts:
    egress: Egress
    judge_egress: Egress
    engine: EngineModels
    signer: CallSigner
    sandbox: Sandbox
    computing: Callable[[], AbstractContextManager[None]] = nullcontext
    writing: Callable[[], AbstractContextManager[None]] = nullcontext
    """Takes the slot of the project in which a model writes scenarios."""


@dataclass(frozen=True, slots=True)
class Trial:
    result: ScoreResult
    elapsed_s: float


class TrialService:
    def __init__(
        self,
        ports: TrialPorts,
        models: JudgeModels,
        *,
        limits: EgressSettings,
        judges: tuple[JudgeSettings, ...],
        embeddings: EmbeddingSettings | None = None,
    ) -> None:
        self._ports = ports
        self._models = models
        self._limits = limits
        self._judges = judges
        self._embeddings = embeddings

    async def check_keys(self, grader: AnyGrader) -> None:
        """Refuses an unknown key that resembles a known one: replies have no warnings."""
        fault = await asyncio.to_thread(_misspelt, grader)
        if fault is not None:
            raise fault

    async def validate_grader(
        self, grader: AnyGrader
    ) -> tuple[dict[str, Any], tuple[NoEffect, ...]]:
        fault = await asyncio.to_thread(unplayable_path, grader, "grader")
        if fault is not None:
            raise fault
        await self._check(grader, "grader")
        unused = await asyncio.to_thread(
            lambda: tuple(constant_scores(grader, "grader", REWARDS_ALIKE))
        )
        return await asyncio.to_thread(redacted_json, grader), unused

    async def run_grader(
        self,
        grader: AnyGrader,
        *,
        model_sample: str,
        sample: dict[str, Any] | None,
        item: dict[str, Any],
        trace_id: str | None,
    ) -> Trial:
        """Scores one text. A grader's fault is a result: reward 0 with its flags."""
        scorer = await self.scorer(grader, "grader")
        started = time.perf_counter()
        try:
            async with asyncio.timeout(GRADER_RUN_LIMIT_S):
                with self.computing():
                    sampled = await run_on_scoring_thread(
                        partial(text_sample, model_sample, sample)
                    )
                    request = GradeRequest(
                        sample=sampled,
                        item=item,
                        trace_id=trace_id or new_trace_id(),
                        call_id=new_id("grade_"),
                    )
                    result = await scorer.score(request)
        except ScoreFault as fault:
            result = ScoreResult(
                0.0,
                fault.errors,
                token_usage=fault.token_usage,
                sampled_model_name=fault.sampled_model_name,
            )
        except TimeoutError:
            details = f"no score within {GRADER_RUN_LIMIT_S:g} s"
            result = ScoreResult(0.0, GraderErrors(other_error=True, details=details))
        return Trial(result, time.perf_counter() - started)

    def computing(self) -> AbstractContextManager[None]:
        return self._ports.computing()

    async def scorer(self, grader: AnyGrader, param: str) -> Scorer:
        await self._check(grader, param)
        # Parses every template again, and compiles every schema.
        return await asyncio.to_thread(build_scorer, grader, self.grading())

    async def run_tool(self, trial: ToolTrial) -> ToolOutcome:
        tool, egress = trial.tool, self._ports.egress
        await check_definition(tool, "", egress=egress, models=self._models)
        call = ToolCall(
            name=tool.name,
            arguments=trial.arguments,
            call_id=trial.call_id,
            function_call_id=trial.function_call_id,
            trace_id=trial.trace_id,
            item=trial.item,
        )
        endpoint = self._endpoints(egress, TOOL_RUN_LIMIT_S).endpoint(tool.server_url)
        try:
            return await call_tool(endpoint, call.request(tool.headers), signer=self._ports.signer)
        except EndpointFault as fault:
            attempts = f"after {fault.attempts} attempts" if fault.attempts > 1 else "at once"
            raise InvalidRequest(
                f"The tool '{call.name}' failed {attempts}: {fault.message}. In training this "
                "discards the rollout.",
                param="server_url",
                code=_CODES[fault.kind],
            ) from fault

    async def write_scenarios(self, plan: GenerateScenarios) -> ScenarioSet:
        with self._ports.writing():
            await asyncio.to_thread(check_tools, plan)
            await check_definition(
                plan.generator, SCENARIO_PARAM, egress=self._ports.egress, models=self._models
            )
            return await ScenarioWriter(self.grading().judges, plan).write()

    async def _check(self, grader: AnyGrader, param: str) -> None:
        await check_definition(grader, param, egress=self._ports.egress, models=self._models)

    def grading(self, *, max_retries: int | None = None) -> GradingPorts:
        """`max_retries`: by default that of the settings."""
        ports, limit_s = self._ports, GRADER_RUN_LIMIT_S
        endpoints = self._endpoints(ports.egress, limit_s, max_retries)
        operators = self._endpoints(ports.judge_egress, limit_s, max_retries)
        judges = RoutedJudges(
            self._ports.engine,
            configured=self._judges,
            configured_endpoints=operators,
            endpoints=endpoints,
            signer=self._ports.signer,
        )
        return GradingPorts(
            endpoints,
            self._ports.signer,
            judges,
            self._ports.sandbox,
            build_embeddings(self._embeddings, operators, self._ports.signer),
        )

    def _endpoints(
        self, egress: Egress, limit_s: float, max_retries: int | None = None
    ) -> EndpointPool:
        return EndpointPool(
            egress,
            timeout_s=min(self._limits.call_timeout_s, limit_s),
            max_retries=self._limits.max_retries if max_retries is None else max_retries,
        )


def _misspelt(grader: AnyGrader) -> InvalidRequest | None:
    faults = (
        refused_wholly(field, "grader", only_near=True)
        for field in walk_fields(type(grader), grader)
    )
    return next((fault for fault in faults if fault is not None), None)
