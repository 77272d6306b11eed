"""Routes of registered graders."""

from fastapi import APIRouter, Request

from app.graders.calibration import GraderCalibration
from app.graders.schemas import (
    CalibrateGrader,
    CreateGrader,
    RegisteredGrader,
    RunRegisteredGrader,
    UpdateGrader,
)
from app.http.dependencies import Services
from app.http.error_replies import responses
from app.http.requests import unless_client_hangs_up
from app.tools.registry_routes import add_registry_routes
from app.tools.schemas import label_changes, unread_keys
from app.tools.trial_schemas import GraderRun
from app.wiring import Factory

router = APIRouter(prefix="/v1/graders", tags=["Graders"])


@router.post("", operation_id="createGrader", responses=responses())
async def create_grader(body: CreateGrader, services: Services) -> RegisteredGrader:
    """Registers a grader, as version 1."""
    unread = unread_keys(body, RegisteredGrader)
    created = await services.graders().create(body.name, body.grader, metadata=body.metadata)
    return RegisteredGrader.of(created, unread)


async def update_grader(grader_id: str, body: UpdateGrader, services: Services) -> RegisteredGrader:
    """Makes a new version; jobs and earlier versions do not change."""
    unread = unread_keys(body, RegisteredGrader)
    updated = await services.graders().update(grader_id, body.grader, label_changes(body))
    return RegisteredGrader.of(updated, unread)


add_registry_routes(
    router,
    RegisteredGrader,
    RegisteredGrader.of,
    Factory.graders,
    update_grader,
    nouns=("grader", "a grader", "graders"),
)


@router.post("/{grader_id}/test", operation_id="testGrader", responses=responses(404))
async def run_grader_test(
    grader_id: str, body: RunRegisteredGrader, request: Request, services: Services
) -> GraderRun:
    """Runs the newest version of a registered grader, as `runGrader` does
    (`POST /v1/fine_tuning/alpha/graders/run`).
    """
    grader = await services.graders().config(grader_id)
    work = services.trials().run_grader(
        grader,
        model_sample=body.model_sample,
        sample=None if body.sample is None else body.sample.sent(),
        item=body.item or {},
        trace_id=body.trace_id,
    )
    trial = await unless_client_hangs_up(request, work)
    return GraderRun.of(grader, trial.result, trial.elapsed_s)


@router.post("/{grader_id}/calibrate", operation_id="calibrateGrader", responses=responses(404))
async def calibrate_grader(
    grader_id: str, body: CalibrateGrader, request: Request, services: Services
) -> GraderCalibration:
    """Reports whether the newest version of a grader is fit for training, by its scores of a base
    model's answers.
    """
    grader = await services.graders().config(grader_id)
    work = services.calibrations().calibrate(
        grader, body.inline, file_id=body.file_id, job_id=body.job_id, other=body.compare_with
    )
    return await unless_client_hangs_up(request, work)
