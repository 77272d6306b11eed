"""Opens the gate of a proposed skill, and reads its decision once the eval runs have ended.

The runs are inserted in the skill's transaction and are leased work, so a killed process loses
nothing. The decision is a pure function of committed rows: the first request that reads the skill
after the runs have ended writes it, and it never changes after that.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from app.domain.errors import InvalidRequest, NotFound, WrongState
from app.domain.evals.data_sources import DATA_SOURCE, planned_items
from app.domain.evals.evals import OPEN_RUNS, EvalRun, EvalRunStatus
from app.domain.ids import new_id
from app.domain.students.gate import (
    Comparison,
    eval_comparison,
    row_scores,
    target_comparison,
    unfinished_comparison,
    verdict,
)
from app.domain.students.students import RegressionSet, RunPair, Skill, SkillStatus
from app.gateways.job_queue import JobQueue
from app.store.unit_of_work import UnitOfWork

_PAGE: Final = 100
_PARAM: Final = "regression_evals"


async def regression_sets(unit: UnitOfWork, eval_ids: Sequence[str]) -> tuple[RegressionSet, ...]:
    """Returns each eval with the rows of its newest run that samples a model. Raises
    `InvalidRequest`.
    """
    return tuple([await _regression_set(unit, each) for each in dict.fromkeys(eval_ids)])


async def _regression_set(unit: UnitOfWork, eval_id: str) -> RegressionSet:
    param = _PARAM
    try:
        of = await unit.evals.get(eval_id)
    except NotFound as error:
        raise InvalidRequest(error.message, param=param, code="eval_not_found") from error
    if of.job_id is not None:
        raise InvalidRequest(
            f"Eval {eval_id} belongs to job {of.job_id}: its runs are the job's validations, and "
            "no other run can be started. Create an eval of your own: POST /v1/evals.",
            param=param,
            code="eval_without_rows",
        )
    of_gates = await unit.skills.gate_runs(eval_id)
    async for run in _newest_runs(unit, eval_id):
        if run.model is None or run.id in of_gates:
            continue
        if run.status is not EvalRunStatus.CANCELED:
            return RegressionSet(eval_id, run.id)
    raise InvalidRequest(
        f"Eval {eval_id} has no run that samples a model, so the gate does not know its rows. "
        f"Start one of a data source with a model: POST /v1/evals/{eval_id}/runs.",
        param=param,
        code="eval_without_rows",
    )


async def open_gate(
    unit: UnitOfWork, queue: JobQueue, skill: Skill, sets: tuple[RegressionSet, ...]
) -> None:
    """Inserts a skill with two runs of each eval, on the same rows."""
    pairs = []
    for each in sets:
        sampled = await _sampled_run(unit, skill.student, each)
        before = await _start(unit, queue, sampled, skill, skill.baseline)
        after = await _start(unit, queue, sampled, skill, skill.model)
        pairs.append(RunPair(each.eval_id, before, after))
    await unit.skills.insert(replace(skill, runs=tuple(pairs)))


async def close_gates(unit: UnitOfWork, skills: Sequence[Skill]) -> None:
    """Cancels the eval runs of open gates that have not ended."""
    for pair in (pair for skill in skills for pair in skill.runs):
        for run_id in (pair.before, pair.after):
            # A run that ended or was deleted meanwhile needs no end.
            with suppress(NotFound, WrongState):
                await unit.eval_runs.cancel(pair.eval_id, run_id)


async def _sampled_run(unit: UnitOfWork, student: str, rows: RegressionSet) -> EvalRun:
    try:
        return await unit.eval_runs.get(rows.eval_id, rows.run_id)
    except NotFound as error:
        raise InvalidRequest(
            f"Run {rows.run_id} of eval {rows.eval_id} was deleted, and with it the rows of the "
            f"regression set. Choose others: POST /v1/students/{student} with 'regression_evals'.",
            param=_PARAM,
            code="regression_set_deleted",
        ) from error


async def settled_skill(unit: UnitOfWork, skill: Skill) -> Skill:
    """Returns the skill with the gate's decision, if its runs have ended."""
    if skill.status is not SkillStatus.RUNNING:
        return skill
    compared = []
    for pair in skill.runs:
        comparison = await _comparison(unit, pair)
        if comparison is None:
            return skill
        compared.append(comparison)
    target = target_comparison(await unit.reports.get(skill.job_id))
    decided = verdict(target, compared)
    status = SkillStatus.PASSED if decided.passed else SkillStatus.HELD
    return await unit.skills.decide(skill, status, decided.reason, [target, *compared])


async def _start(
    unit: UnitOfWork, queue: JobQueue, sampled: EvalRun, skill: Skill, model: str
) -> str:
    data_source: dict[str, Any] = {**sampled.data_source, "model": model}
    planned = planned_items(DATA_SOURCE.validate_python(data_source))
    run = EvalRun(
        id=new_id("evalrun_"),
        eval_id=sampled.eval_id,
        name=f"Gate of {skill.student}",
        status=EvalRunStatus.QUEUED,
        model=model,
        data_source=data_source,
        metadata={"student": skill.student, "skill": skill.id},
    )
    await unit.quotas.check_eval_run(planned)
    await unit.quotas.check_bytes(len(await asyncio.to_thread(json.dumps, data_source)))
    await unit.eval_runs.insert(run, planned_items=planned)
    unit.after_commit(lambda: queue.enqueue_eval(run.id))
    return run.id


async def _comparison(unit: UnitOfWork, pair: RunPair) -> Comparison | None:
    """Returns the comparison of two runs; `None` until both have ended."""
    scores, unscored = [], 0
    for run_id in (pair.before, pair.after):
        try:
            run = await unit.eval_runs.get(pair.eval_id, run_id)
        except NotFound:
            return unfinished_comparison(pair.eval_id, "deleted")
        if run.status in OPEN_RUNS:
            return None
        if run.status is not EvalRunStatus.COMPLETED:
            return unfinished_comparison(pair.eval_id, run.status.value)
        done = await unit.eval_items.done(run_id)
        results = [
            (position // run.samples_per_item, of_criteria)
            for position, _, of_criteria, _ in sorted(done, key=lambda item: item[0])
        ]
        of_run, lost = row_scores(results)
        scores.append(of_run)
        unscored += lost
    return eval_comparison(pair.eval_id, *scores, unscored=unscored)


async def _newest_runs(unit: UnitOfWork, eval_id: str) -> AsyncIterator[EvalRun]:
    after, more = None, True
    while more:
        page, more = await unit.eval_runs.page(
            eval_id, status=None, after=after, limit=_PAGE, descending=True
        )
        for run in page:
            yield run
            after = run.id
