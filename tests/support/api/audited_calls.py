"""A call of each operation that changes something, for the test that each leaves its entry."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tests.support.api.application import ENDPOINT, Api
from tests.support.api.feedback_calls import (
    end_user_removal,
    new_build,
    preferences,
    stored_completion,
)
from tests.support.api.organization import ADMIN_KEYS, PROJECTS, Admin, execute
from tests.support.api.student_calls import (
    COACHING,
    improvement,
    promotion,
    proposal,
    roll_back,
    student,
)
from tests.support.dashboard.scenes import create_job
from tests.support.objects.stored_directories import store_directory
from tests.support.registry.recipes import OWN
from tests.support.stack import Database

JOBS = "/v1/fine_tuning/jobs"
ROW = b'{"messages": [{"role": "user", "content": "hi"}]}\n' * 12
CHECK = {"type": "string_check", "name": "x", "operation": "eq", "input": "a", "reference": "a"}
ANSWERS = {
    "type": "jsonl",
    "source": {
        "type": "file_content",
        "content": [{"item": {"a": "1"}, "sample": {"output_text": "a"}}],
    },
}
TOOL: dict[str, Any] = {
    "name": "search",
    "server_url": f"{ENDPOINT}/search",
    "headers": {"X-Key": "canary-9"},
}
GRADER: dict[str, Any] = {"name": "g", "grader": CHECK}
WORLD: dict[str, Any] = {"name": "e", "url": f"{ENDPOINT}/world"}
EVAL = {
    "name": "mine",
    "data_source_config": {"type": "custom", "item_schema": {"type": "object"}},
    "testing_criteria": [CHECK],
}
HOOK = {"name": "w", "url": f"{ENDPOINT}/h?t=canary-9", "event_types": ["eval.run.failed"]}
UPLOAD = {"filename": "a", "purpose": "fine-tune", "bytes": len(ROW), "mime_type": "text/jsonl"}
SECRET = "canary-9"


@dataclass(frozen=True, slots=True)
class Caller:
    """Makes calls that must succeed, of a project and of its organization."""

    api: Api
    admin: Admin
    database: Database

    async def __call__(self, method: str, path: str, **options: Any) -> Any:
        reply = await self.api.call(method, path, **options)
        assert reply.status_code in {200, 201}, (method, path, reply.text)
        return reply.json()

    async def made(self, path: str, body: Any) -> str:
        return f"{path}/{(await self('POST', path, json=body))['id']}"

    async def job(self, *verbs: str) -> str:
        path = f"{JOBS}/{await create_job(self.api)}"
        for verb in verbs:
            await self("POST", f"{path}/{verb}")
        return path

    async def file(self) -> str:
        return str((await self.api.upload(ROW)).json()["id"])

    async def upload(self) -> str:
        return await self.made("/v1/uploads", UPLOAD)

    async def run(self) -> str:
        made = await self.made("/v1/evals", EVAL)
        return await self.made(f"{made}/runs", {"data_source": ANSWERS})

    async def model(self) -> str:
        """Returns the name of a tuned model, which only a run makes."""
        job = (await self.job("cancel")).rsplit("/", 1)[1]
        name = f"ft:tiny-agent:first::{job[-8:]}"
        store_directory(self.database.settings.objects_dir, f"adapters/{job}")
        execute(
            self.database,
            "INSERT INTO tuned_models (name, project_id, job_id, base_model, engine_name,"
            " object_key, step) SELECT %s, project_id, id, model, %s, %s, 1"
            " FROM fine_tuning_jobs WHERE id = %s",
            *(name, f"model-{job}", f"adapters/{job}", job),
        )
        return name

    async def project(self) -> str:
        return f"{PROJECTS}/{await self.admin.project('made')}"

    async def account(self) -> tuple[str, str]:
        """Returns the paths of an account and of its key."""
        project = await self.project()
        made = await self.admin("POST", f"{project}/service_accounts", json={"name": "ci"})
        return (
            f"{project}/service_accounts/{made['id']}",
            f"{project}/api_keys/{made['api_key']['id']}",
        )

    async def grants(self) -> str:
        return f"/v1/fine_tuning/checkpoints/{await self.model()}/permissions"

    async def granted(self) -> str:
        path = await self.grants()
        made = await self.admin("POST", path, json={"project_ids": [await self._other()]})
        return f"{path}/{made['data'][0]['id']}"

    async def _other(self) -> str:
        return (await self.project()).rsplit("/", 1)[1]


Call = Callable[[Caller], Awaitable[Any]]
Maker = Callable[[Caller], Awaitable[str]]
"""Makes an object and returns its path."""


def change(
    method: str, make: Callable[[Caller], Awaitable[str]], to: str = "", **body: Any
) -> Call:
    """Returns a call on an object that `make` has made."""

    async def call(caller: Caller) -> Any:
        options = {"json": body} if method == "POST" else {}
        return await caller(method, f"{await make(caller)}{to}", **options)

    return call


def administered(method: str, make: Maker, to: str = "", **body: Any) -> Call:
    async def call(caller: Caller) -> Any:
        options = {"json": body} if method == "POST" else {}
        return await caller.admin(method, f"{await make(caller)}{to}", **options)

    return call


def of(path: str, body: Any) -> Maker:
    return lambda caller: caller.made(path, body)


async def completed(caller: Caller) -> Any:
    upload = await caller.upload()
    part = await caller("POST", f"{upload}/parts", files={"data": ("p", ROW)})
    return await caller("POST", f"{upload}/complete", json={"part_ids": [part["id"]]})


async def curriculum(caller: Caller) -> str:
    files = {name: await caller.file() for name in ("training_file", "validation_file")}
    return await caller.made("/v1/curricula", {"name": "c", **files})


async def new_permission(caller: Caller) -> Any:
    path = await caller.grants()
    return await caller.admin("POST", path, json={"project_ids": [await caller._other()]})


async def model_path(caller: Caller) -> str:
    return f"/v1/models/{await caller.model()}"


async def export_path(caller: Caller) -> str:
    return await caller.made(f"{await model_path(caller)}/exports", {})


async def file_path(caller: Caller) -> str:
    return f"/v1/files/{await caller.file()}"


async def admin_key(caller: Caller) -> str:
    made = await caller.admin("POST", ADMIN_KEYS, json={"name": "second"})
    return f"{ADMIN_KEYS}/{made['id']}"


async def key_path(caller: Caller) -> str:
    return (await caller.account())[1]


async def account_path(caller: Caller) -> str:
    return (await caller.account())[0]


world, recipe = of("/v1/environments", WORLD), of("/v1/recipes", OWN)
CALLS: dict[str, tuple[str, Call]] = {
    "createFineTuningJob": ("fine_tuning.job.created", lambda caller: caller.job()),
    "pauseFineTuningJob": ("fine_tuning.job.paused", lambda caller: caller.job("pause")),
    "resumeFineTuningJob": (
        "fine_tuning.job.resumed",
        lambda caller: caller.job("pause", "resume"),
    ),
    "cancelFineTuningJob": ("fine_tuning.job.cancelled", lambda caller: caller.job("cancel")),
    "deleteFineTuningJob": (
        "fine_tuning.job.deleted",
        change("DELETE", lambda caller: caller.job("cancel")),
    ),
    "createFineTuningCheckpointPermission": ("checkpoint.permission.created", new_permission),
    "deleteFineTuningCheckpointPermission": (
        "checkpoint.permission.deleted",
        administered("DELETE", Caller.granted),
    ),
    "createFile": ("file.created", Caller.file),
    "deleteFile": ("file.deleted", change("DELETE", file_path)),
    "createUpload": ("upload.created", Caller.upload),
    "completeUpload": ("upload.completed", completed),
    "cancelUpload": ("upload.cancelled", change("POST", Caller.upload, "/cancel")),
    "createTool": ("tool.created", of("/v1/tools", TOOL)),
    "updateTool": ("tool.updated", change("POST", of("/v1/tools", TOOL), **TOOL)),
    "deleteTool": ("tool.deleted", change("DELETE", of("/v1/tools", TOOL))),
    "createGrader": ("grader.created", of("/v1/graders", GRADER)),
    "updateGrader": ("grader.updated", change("POST", of("/v1/graders", GRADER), **GRADER)),
    "deleteGrader": ("grader.deleted", change("DELETE", of("/v1/graders", GRADER))),
    "createEnvironment": ("environment.created", world),
    "updateEnvironment": ("environment.updated", change("POST", world, **WORLD)),
    "deleteEnvironment": ("environment.deleted", change("DELETE", world)),
    "createRecipe": ("recipe.created", recipe),
    "updateRecipe": ("recipe.updated", change("POST", recipe, purpose="other")),
    "deleteRecipe": ("recipe.deleted", change("DELETE", recipe)),
    "createCurriculum": ("curriculum.created", curriculum),
    "updateCurriculum": ("curriculum.updated", change("POST", curriculum, name="other")),
    "deleteCurriculum": ("curriculum.deleted", change("DELETE", curriculum)),
    "updateChatCompletion": (
        "chat.completion.updated",
        change("POST", stored_completion, metadata={"a": "b"}),
    ),
    "deleteChatCompletion": ("chat.completion.deleted", change("DELETE", stored_completion)),
    "createFeedback": ("feedback.created", preferences),
    "deleteFeedback": ("feedback.deleted", change("DELETE", preferences)),
    "createFeedbackBuild": ("feedback.build.created", new_build),
    "deleteEndUserData": ("feedback.deleted", end_user_removal),
    **COACHING,
    "createStudent": ("student.created", student),
    "updateStudent": ("student.updated", change("POST", student, regression_evals=[])),
    "improveStudent": ("fine_tuning.job.created", improvement),
    "proposeSkill": ("student.skill.created", proposal),
    "promoteSkill": ("student.updated", promotion),
    "rollBackSkill": ("student.updated", roll_back),
    "deleteStudent": ("student.deleted", change("DELETE", student)),
    "createModelExport": ("model.export.created", export_path),
    "deleteModelExport": ("model.export.deleted", change("DELETE", export_path)),
    "deleteModel": ("model.deleted", change("DELETE", model_path)),
    "createEval": ("eval.created", of("/v1/evals", EVAL)),
    "updateEval": ("eval.updated", change("POST", of("/v1/evals", EVAL), name="other")),
    "deleteEval": ("eval.deleted", change("DELETE", of("/v1/evals", EVAL))),
    "createEvalRun": ("eval.run.created", Caller.run),
    "cancelEvalRun": ("eval.run.cancelled", change("POST", Caller.run)),
    "deleteEvalRun": ("eval.run.deleted", change("DELETE", Caller.run)),
    "createWebhookEndpoint": ("webhook_endpoint.created", of("/v1/webhook_endpoints", HOOK)),
    "updateWebhookEndpoint": (
        "webhook_endpoint.updated",
        change("POST", of("/v1/webhook_endpoints", HOOK), name="other"),
    ),
    "deleteWebhookEndpoint": (
        "webhook_endpoint.deleted",
        change("DELETE", of("/v1/webhook_endpoints", HOOK)),
    ),
    "rotateWebhookEndpointSecret": (
        "webhook_endpoint.updated",
        change("POST", of("/v1/webhook_endpoints", HOOK), "/rotate_secret"),
    ),
    "create-project": ("project.created", Caller.project),
    "modify-project": ("project.updated", administered("POST", Caller.project, name="renamed")),
    "archive-project": ("project.archived", administered("POST", Caller.project, "/archive")),
    "modify-project-api-key": (
        "api_key.updated",
        administered("POST", key_path, expires_in_seconds=60),
    ),
    "delete-project-api-key": ("api_key.deleted", administered("DELETE", key_path)),
    "create-project-service-account": ("service_account.created", Caller.account),
    "update-project-service-account": (
        "service_account.updated",
        administered("POST", account_path, name="other"),
    ),
    "delete-project-service-account": (
        "service_account.deleted",
        administered("DELETE", account_path),
    ),
    "CreateanAPIkeyforaserviceaccount": (
        "api_key.created",
        administered("POST", account_path, "/api_keys", name="k"),
    ),
    "admin-api-keys-create": ("api_key.created", admin_key),
    "admin-api-keys-delete": ("api_key.deleted", administered("DELETE", admin_key)),
}
"""Each operation: the entry that it must leave, and a call of it."""
CHANGES_NOTHING = {
    "validateFineTuningJob": "checks a call",
    "compileImprovementPlan": "checks a call",
    "explainImprovementPlan": "reads a job",
    "addUploadPart": "a part is nothing before its upload is completed",
    "testTool": "calls the endpoint",
    "testGrader": "grades an answer",
    "testCurriculum": "reads files",
    "previewCurriculum": "reads sources",
    "testEnvironment": "plays an episode",
    "calibrateGrader": "grades answers",
    "createChatCompletion": "answers; its tokens are in the usage, a stored answer is listed",
    "chatWithStudent": "answers as createChatCompletion does",
    "redeliverWebhookEvent": "sends an event again",
    "testWebhookEndpoint": "sends a sample",
    "runGrader": "grades an answer",
    "validateGrader": "checks a definition",
    "runTool": "calls a tool",
    "generateScenarios": "asks a model; the rows are in the reply",
    "testMcpServer": "calls a server",
}
"""Operations that store nothing of a project, each with what it does."""
