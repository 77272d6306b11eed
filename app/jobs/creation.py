"""Creates jobs: resolves references, checks model and method, seals secrets, notifies a worker."""

import asyncio
import secrets
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Protocol, assert_never

from app.curricula.curricula import CURRICULUM_SPLITS, CurriculumSplit
from app.curricula.service import CurriculumService, inline_name
from app.database import Database
from app.evals.data_sources import MAX_ITEMS, ROOT
from app.evals.evals import eval_of_job, file_of
from app.evals.service import check_item_file
from app.files.files import TRAINING, wrong_purpose
from app.files.row_files import Inspections, RowFiles
from app.graders.choice import GraderChoice
from app.graders.definitions import AutoGrader, read_grader
from app.graders.service import RegisteredGraderService
from app.jobs.call_checks import model_fault
from app.jobs.integrations import (
    INTEGRATIONS,
    LIBRARIES,
    integration_faults,
    is_installed,
    is_local,
    local_directory,
    read_integration,
    trackers_of,
)
from app.jobs.jobs import EVALS, AttachedEval, Job, JobRequest, JobStatus, NewJob
from app.jobs.method_faults import (
    Definition,
    call_warnings,
    format_warning,
    reinforcement_faults,
    suffix_warnings,
)
from app.jobs.methods import StoredMethod, parameters_of, stored_method
from app.jobs.reinforcement import ReinforcementMethod
from app.jobs.results import redact_method, split_integrations
from app.jobs.service import FileValidation, with_queue_position
from app.jobs.supervised import DpoMethod, SupervisedMethod
from app.kit.callers import Tenant
from app.kit.egress import Egress
from app.kit.errors import InvalidRequest, NotFound, Unavailable, WrongState, refused_value
from app.kit.faults import unread, unread_message
from app.kit.fields import Json, WalkedField
from app.kit.ids import new_id
from app.kit.job_queue import JobQueue
from app.kit.redaction import SecretValues
from app.kit.sealing import SecretBox
from app.models.models import (
    MODEL_NOT_AVAILABLE,
    BaseModelSpec,
    base_of,
    find_base_model,
    is_tuned_name,
    not_offered,
    student_named,
    unknown_model,
    unknown_student,
)
from app.models.service import JudgeModels
from app.tools.definition_check import check_definitions, look_up, refuse_faults
from app.tools.environments import (
    FILE_PARAM,
    PARAM,
    BuiltIn,
    built_in,
    is_graded_by,
    read_environment,
)
from app.tools.mcp_listings import ALL_SENT, SentServers, split_tools
from app.tools.references import (
    InlineCurriculum,
    RegisteredReference,
    ReinforcementBody,
    SentCurriculum,
    is_registered,
)
from app.tools.registry_service import RegistryService, find_registered, id_parameter
from app.tools.service import EnvironmentService, ToolService
from app.tools.tools import ToolSpec


def creation_warnings(new: NewJob, walked: Sequence[WalkedField]) -> list[str]:
    kind = new.method.kind
    keys = [*new.unread, *unread(walked, f"method.{kind}", parameters_of(kind, new.method))]
    of_call = call_warnings(
        new.method,
        has_validation=new.validation_file is not None,
        has_rollout_cap=new.caps.max_rollouts is not None,
    )
    effects = (*new.overridden, *suffix_warnings(new.suffix), *of_call)
    found = [
        unread_message(keys) if keys else None,
        format_warning(new.method) if kind == "reinforcement" else None,
        *(each.message for each in effects),
        None if new.grader_choice is None else new.grader_choice.warning,
    ]
    return [message for message in found if message is not None]


@dataclass(frozen=True, slots=True)
class CheckedMethod:
    definition: Definition
    uncalled: Collection[str]
    stored: StoredMethod
    secrets: SecretValues
    warnings: list[str]


def checked_method(new: NewJob) -> CheckedMethod:
    kind = new.method.kind
    definition = Definition.of(f"method.{kind}", new.method)
    method, uncalled = new.method, tuple[str, ...]()
    if isinstance(method, ReinforcementMethod):
        for fault in reinforcement_faults(method, definition.root, definition.fields):
            raise fault
        environment = built_in(method.environment)
        if environment is not None and not is_graded_by(environment, method.grader):
            uncalled = ("environment",)
    refuse_faults([definition], elsewhere=parameters_of(kind, new.method), uncalled=uncalled)
    document: Json = {"type": kind, kind: new.method.model_dump(mode="json", exclude_none=False)}
    secrets = redact_method(document)
    return CheckedMethod(
        definition=definition,
        uncalled=uncalled,
        stored=stored_method(document),
        secrets=secrets,
        warnings=creation_warnings(new, definition.fields),
    )


METHOD: Final = "method.reinforcement"


class ReferenceServices(Protocol):
    def tools(self) -> ToolService: ...

    def graders(self) -> RegisteredGraderService: ...

    def curricula(self) -> CurriculumService: ...

    def row_files(self) -> RowFiles: ...

    def environments(self) -> EnvironmentService: ...


class RegisteredReferences:
    def __init__(
        self,
        database: Database,
        inspections: Inspections,
        services: ReferenceServices,
        tenant: Tenant,
    ) -> None:
        self._database = database
        self._inspections = inspections
        self._services = services
        self._tenant = tenant

    @asynccontextmanager
    async def resolved(self, request: JobRequest) -> AsyncIterator[NewJob]:
        """Yields the call with each reference replaced by its definition; tools and grader keep
        `id` and `version`. A curriculum becomes files; those of inline rows are deleted when the
        block fails. Raises `InvalidRequest` with the parameter; one of the block about an MCP
        server of a tool becomes one about the tool.
        """
        made: list[str] = []
        try:
            new, servers = await self._new_job(request, made)
            try:
                yield new
            except InvalidRequest as fault:
                raise servers.error(fault) from fault
        except BaseException:
            await self.discard(made)
            raise

    async def _new_job(self, request: JobRequest, made: list[str]) -> tuple[NewJob, SentServers]:
        method = request.method
        match method:
            case ReinforcementBody():
                found = await self.environment(method.environment)
                environment = None if found is None else read_environment(found)
                sent_grader: Any = method.grader
                if sent_grader is None and environment is not None:
                    sent_grader = await asyncio.to_thread(read_grader, environment.grader())
                tools, grader = await self.definitions(method.tools, sent_grader)
                sent = [ToolSpec.model_validate(tool) for tool in tools]
                specs, served = split_tools(sent, f"{METHOD}.tools", beside=method.mcp_servers)
                files = await self._both_files(request, made)
                training, choice = request.required_files(*files), None
                if isinstance(grader, AutoGrader):
                    choice = await self.choose(
                        grader, training, files[1], response_format=method.response_format
                    )
                chosen = await asyncio.to_thread(
                    partial(read_grader, grader) if choice is None else choice.read
                )
                whole = method.with_definitions(specs, chosen, environment, served=served)
                servers = SentServers.of(
                    [tool.model_dump(mode="json") for tool in sent],
                    [is_registered(tool) for tool in method.tools],
                    sent=len(method.mcp_servers),
                )
                return request.resolved(whole, files, choice), servers
            case SupervisedMethod() | DpoMethod():
                files = await self._both_files(request, made)
                return request.resolved(method, files, None), ALL_SENT
            case _:
                assert_never(method)

    async def _both_files(
        self, request: JobRequest, made: list[str]
    ) -> tuple[str | None, str | None]:
        if request.environment is not None and request.training_file is None:
            files = await self.environment_files(request.environment, made)
        elif request.curriculum is None:
            return request.training_file, request.validation_file
        else:
            files = await self.files(request.curriculum, made)
        return files.get("training_file"), files.get("validation_file")

    async def definitions(self, tools: Sequence[Any], grader: Any) -> tuple[list[Any], Any]:
        return [
            await self._definition(tool, self._services.tools, f"{METHOD}.tools[{index}]")
            for index, tool in enumerate(tools)
        ], await self._definition(grader, self._services.graders, f"{METHOD}.grader")

    async def environment(self, part: Any) -> Any:
        return await self._definition(part, self._services.environments, PARAM)

    async def _definition(self, part: Any, build: Callable[[], RegistryService], param: str) -> Any:
        """`build` builds the service of the part's noun; a part without a reference stays."""
        if not isinstance(part, RegisteredReference):
            return part
        service = build()
        registered = await find_registered(part, service, param)
        try:
            definition = await service.usable(registered)
        except WrongState as error:
            id_param = id_parameter(part, service.noun, param)
            raise WrongState(error.message, param=id_param) from error
        return {**definition, "id": registered.id, "version": registered.version}

    async def files(self, source: SentCurriculum, made: list[str]) -> dict[str, str]:
        match source:
            case RegisteredReference():
                registered = await find_registered(source, self._services.curricula(), "curriculum")
                parts = {split: registered.definition.get(split) for split in CURRICULUM_SPLITS}
                return {f"{split}_file": part["file_id"] for split, part in parts.items() if part}
            case InlineCurriculum():
                return await self._written(
                    {"training": source.training, "validation": source.validation},
                    inline_name,
                    made,
                )
            case _:
                assert_never(source)

    async def environment_files(self, environment: BuiltIn, made: list[str]) -> dict[str, str]:
        from app.jobs.dataset_checks import tasks_of  # noqa: PLC0415 - for few calls

        inspections, file_id = self._inspections, environment.problem_file
        if file_id is None:
            tasks = await inspections.run(self._tenant, tasks_of, environment, None)
        else:
            key = await self._object_key(file_id)
            gone = InvalidRequest(
                f"The content of the environment's file {file_id} is gone: upload the file again.",
                param=FILE_PARAM,
                code="file_not_found",
            )
            async with inspections.copy(key, gone=gone) as path:
                tasks = await inspections.run(self._tenant, tasks_of, environment, path)
        return await self._written(tasks, lambda split: f"{environment.type}-{split}.jsonl", made)

    async def _written(
        self,
        rows: Mapping[CurriculumSplit, Sequence[Json]],
        name: Callable[[CurriculumSplit], str],
        made: list[str],
    ) -> dict[str, str]:
        files, row_files = dict[str, str](), self._services.row_files()
        for split in CURRICULUM_SPLITS:
            if rows[split]:
                file = await row_files.write(rows[split], name(split))
                made.append(file.id)
                files[f"{split}_file"] = file.id
        return files

    async def discard(self, made: Sequence[str]) -> None:
        await self._services.row_files().discard(made)

    async def choose(
        self,
        auto: AutoGrader,
        training_file: str,
        validation_file: str | None,
        *,
        response_format: Any,
    ) -> GraderChoice:
        from app.jobs.dataset_checks import choose_from_files  # noqa: PLC0415 - a call without `auto` needs none

        training = await self._object_key(training_file, "training_file")
        validation = None
        if validation_file is not None:
            validation = await self._object_key(validation_file, "validation_file")
        async with self._inspections.copies((training, validation)) as paths:
            return await self._inspections.run(
                self._tenant, choose_from_files, *paths, auto, response_format
            )

    async def _object_key(self, file_id: str, param: str | None = None) -> str:
        """Without a `param`, it is the file of the environment, of any purpose."""
        try:
            async with self._database.tenant(self._tenant) as unit:
                row = await unit.files.get(file_id)
        except NotFound as error:
            what = "The environment's file" if param is None else param
            raise InvalidRequest(
                f"{what} {file_id} does not exist.",
                param=param or FILE_PARAM,
                code="file_not_found",
            ) from error
        if param is not None and row.purpose != TRAINING:
            raise wrong_purpose(file_id, row.purpose, param)
        return row.object_key


@dataclass(frozen=True, slots=True)
class CreationPorts:
    queue: JobQueue
    egress: Egress
    secret_box: SecretBox
    judge_models: JudgeModels
    references: RegisteredReferences
    file_validation: FileValidation
    base_models: tuple[BaseModelSpec, ...]


class JobCreationService:
    def __init__(self, database: Database, ports: CreationPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant
        self._jobs = database.jobs(tenant)

    async def create(self, request: JobRequest) -> Job:
        async with self._ports.references.resolved(request) as new:
            return await self.create_resolved(new)

    async def refusal(self, request: JobRequest) -> InvalidRequest | None:
        try:
            async with self._ports.references.resolved(request) as new:
                await self._check(new)
        except InvalidRequest as error:
            return error
        return None

    async def _check(self, new: NewJob) -> tuple[str, CheckedMethod]:
        model = await self._resolve_model(new.model)
        await self._check_integrations(new.integrations)
        await self._check_evals(new.evals)
        method = await asyncio.to_thread(checked_method, new)
        await look_up(
            [method.definition],
            egress=self._ports.egress,
            models=self._ports.judge_models,
            uncalled=method.uncalled,
        )
        base = base_of(self._ports.base_models, model)
        fault = await asyncio.to_thread(model_fault, base, runs_calls=new.method.runs_calls)
        if fault is not None:
            raise fault
        return model, method

    async def _check_integrations(self, integrations: list[Json]) -> None:
        for fault in integration_faults(integrations):
            raise fault
        for position, kind in trackers_of(integrations):
            if not is_installed(kind):
                raise InvalidRequest(
                    f"This installation lacks the library of {LIBRARIES[kind].title}. Its operator "
                    f"installs it for API and workers: pip install 'agent-rft[{kind}]'",
                    param=f"{INTEGRATIONS}[{position}].type",
                    code="integration_not_installed",
                )
        sent = [
            (f"{INTEGRATIONS}[{position}]", read_integration(one))
            for position, one in enumerate(integrations)
        ]
        if sent:
            ports = self._ports
            await check_definitions(sent, egress=ports.egress, models=ports.judge_models)

    async def _check_evals(self, attached: list[AttachedEval]) -> None:
        if not attached:
            return
        async with self._database.tenant(self._tenant) as unit:
            for position, each in enumerate(attached):
                root = f"{EVALS}[{position}]"
                try:
                    of = await unit.evals.get(each.eval_id)
                except NotFound as error:
                    raise InvalidRequest(
                        error.message, param=f"{root}.eval_id", code="eval_not_found"
                    ) from error
                if of.job_id is not None:
                    raise refused_value(
                        f"{root}.eval_id",
                        f"the runs of {of.id} are the validations of job {of.job_id}; attach an "
                        "eval of your own",
                    )
                await check_item_file(unit, file_of(each), f"{root}.{ROOT}.source.id")

    async def create_resolved(self, new: NewJob) -> Job:
        model, method = await self._check(new)
        if new.evals:  # now: the job's end starts the runs of both models unchecked
            async with self._database.tenant(self._tenant) as unit:
                await unit.quotas.check_eval_run(2 * MAX_ITEMS * len(new.evals))
        integrations, of_integrations = split_integrations(new.integrations)
        secrets = method.secrets | of_integrations
        job = self._job(new, model, method.stored, integrations)
        sealed = (
            self._ports.secret_box.seal(secrets, project_id=job.project_id, row_id=job.id)
            if secrets
            else None
        )
        stored = await self._jobs.insert_checked(
            job,
            secrets=sealed,
            job_eval=None if job.method.grader is None else eval_of_job(job.id, job.method.grader),
            event_message=f"Created fine-tuning job: {job.id}",
            notices=_notices(new, job),
            warnings=method.warnings,
            after_commit=lambda: self._notify(job.id),
        )
        try:
            return await with_queue_position(stored, self._jobs.queue_positions)
        except Unavailable:  # the job is committed: a client that saw a 503 would create it again
            return stored

    async def _notify(self, job_id: str) -> None:
        await self._ports.queue.enqueue_run(job_id)
        self._ports.file_validation.start(self._tenant, job_id)

    async def _resolve_model(self, name: str) -> str:
        student, sent = student_named(name), name
        if student is not None:
            async with self._database.tenant(self._tenant) as unit:
                version = await unit.students.answering(student)
            name = name if version is None else version.model
        base = find_base_model(self._ports.base_models, name)
        if base is not None:
            return base.name
        if is_tuned_name(name):
            async with self._database.tenant(self._tenant) as unit:
                tuned = await unit.models.get(name)
            if tuned is not None and find_base_model(self._ports.base_models, tuned.base_model):
                return tuned.name
            if tuned is not None:
                raise _unavailable(
                    f"Model {sent} cannot be trained on. {not_offered(tuned.base_model)}"
                )
        if student is not None and name == sent:
            raise _unavailable(unknown_student(student))
        raise _unavailable(unknown_model(sent, self._ports.base_models))

    def _job(self, new: NewJob, model: str, method: StoredMethod, integrations: list[Json]) -> Job:
        return Job(
            id=new_id("ftjob-"),
            organization_id=self._tenant.organization_id,
            project_id=self._tenant.project_id,
            model=model,
            status=JobStatus.VALIDATING_FILES,
            training_file=new.training_file,
            validation_file=new.validation_file,
            seed=secrets.randbelow(2**31) if new.seed is None else new.seed,
            suffix=new.suffix,
            method=method,
            metadata=new.metadata,
            integrations=integrations,
            evals=new.evals,
            caps=new.caps,
            priority=new.priority,
            created_at=int(time.time()),
            key_id=self._tenant.key_id,
        )


def _unavailable(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="model", code=MODEL_NOT_AVAILABLE)


def _notices(new: NewJob, job: Job) -> list[str]:
    choice = new.grader_choice
    chosen = [] if choice is None else [f"Chose a grader of type {choice.kind}. {choice.reason}"]
    return chosen + [
        f"Writing curves for {LIBRARIES[kind].title} to "
        f"{local_directory(kind, position, project_id=job.project_id, job_id=job.id)} in the "
        "installation's directory of trackers"
        for position, kind in trackers_of(job.integrations)
        if is_local(job.integrations[position])
    ]
