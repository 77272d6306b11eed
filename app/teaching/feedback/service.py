"""Takes feedback, builds files and a curriculum from it, and removes an end user's data.

The row of a build exists before its files and names them and the people in them, so that a removal
finds the files. The row of a file is written only while no removal has named one of these people,
also by a process that is killed after it; and the build looks again once its files are written, so
that feedback which was removed in between stays in no file.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from app.curricula.curricula import CURRICULUM_SPLITS, CurriculumSplit, SplitInput
from app.curricula.service import CurriculumService
from app.database import Database, UnitOfWork
from app.files.files import FileRow
from app.files.row_files import RowFiles, lines_of
from app.files.rows import MIN_EXAMPLES, is_blank
from app.files.service import FileService
from app.kit.callers import Tenant
from app.kit.errors import InvalidRequest, NotFound, WrongState, refused_value
from app.kit.fields import Json
from app.kit.ids import new_id
from app.kit.strict_json import strict_loads
from app.kit.texts import Redaction, redacted_in
from app.models.chat import StoredCompletion
from app.teaching.feedback.feedback import (
    Feedback,
    FeedbackFilter,
    Judgement,
    SentFeedback,
    check_offered,
    check_sent,
    message_of,
    person_digest,
)
from app.teaching.feedback.rows import (
    MOST_BYTES,
    MOST_FEEDBACK,
    Assembly,
    BuildRequest,
    BuiltRow,
    FeedbackBuild,
    FeedbackFinding,
    assemble,
    find,
    people_of,
)
from app.teaching.feedback.schemas import EndUserRemoval
from app.tools.registry import LabelChanges, RegisteredVersion

_BATCH = 200


class FeedbackService:
    def __init__(self, database: Database, tenant: Tenant, *, redaction: Redaction) -> None:
        self._database = database
        self._tenant = tenant
        self._redaction = redaction

    async def give(self, sent: SentFeedback) -> Feedback:
        check_sent(sent)
        async with self._database.tenant(self._tenant) as unit:
            new = await self._about(unit, sent, self._texts_of(sent))
            size = len(json.dumps([new.comment, new.messages, new.tools, new.better, new.worse]))
            await unit.quotas.check_feedback(size)
            return await unit.feedback.insert(new, size=size)

    async def get(self, feedback_id: str) -> Feedback:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback.get(feedback_id)

    async def page(
        self, where: FeedbackFilter, *, after: str | None, limit: int
    ) -> tuple[list[Feedback], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback.page(where, after=after, limit=limit)

    async def delete(self, feedback_id: str) -> None:
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback.delete(feedback_id)

    async def findings(self, where: FeedbackFilter) -> list[FeedbackFinding]:
        return await asyncio.to_thread(find, await self.judgements(where))

    async def judgements(self, where: FeedbackFilter) -> list[Judgement]:
        found, size, last = list[Judgement](), 0, None
        while True:
            async with self._database.tenant(self._tenant) as unit:
                batch = await unit.feedback.judgements(where, after=last, limit=_BATCH)
            found += batch
            texts = (
                [one.prompt.messages, one.prompt.tools, one.answer, one.better] for one in batch
            )
            size += sum(len(json.dumps(each)) for each in texts)
            if len(found) > MOST_FEEDBACK or size > MOST_BYTES:
                raise WrongState(
                    f"There is more feedback than {MOST_FEEDBACK} pieces or {MOST_BYTES} bytes of "
                    "answers, which is the most that is read at once: send a later "
                    "'created_after'.",
                    param="created_after",
                    code="too_much_feedback",
                )
            if len(batch) < _BATCH:
                return found
            last = batch[-1].id

    def _texts_of(self, sent: SentFeedback) -> Feedback:
        texts: dict[str, Any] = {name: sent.get(name) for name in ("messages", "tools")}
        texts["comment"] = sent.comment
        for name, role in (("correction", "better"), ("chosen", "better"), ("rejected", "worse")):
            if sent.get(name) is not None:
                texts[role] = message_of(sent.get(name))
        return Feedback(
            id=new_id("feedback_"),
            type=sent.type,
            author=sent.author,
            end_user=sent.end_user,
            rating=sent.get("rating"),
            **redacted_in(texts, self._redaction),
        )

    async def _about(self, unit: UnitOfWork, sent: SentFeedback, new: Feedback) -> Feedback:
        chosen = "completion_id" if sent.get("completion_id") else "chosen_completion_id"
        if sent.get("rollout_id") is not None:
            trace = await _rollout(unit, sent.get("rollout_id"))
            if trace.get("tools") is not None:
                _check_calls(new, trace["tools"])
            return replace(new, rollout_id=sent.get("rollout_id"))
        if sent.get(chosen) is None:
            return new
        own = await _completion(unit, sent.get(chosen), chosen)
        _check_calls(new, own.tools)
        new = replace(new, completion_id=own.id, end_user=new.end_user or own.end_user)
        if sent.get("rejected_completion_id") is None:
            return new
        param = "rejected_completion_id"
        other = await _completion(unit, sent.get(param), param)
        if (own.messages, own.tools) != (other.messages, other.tools):
            raise refused_value(param, "its messages and tools are not those of the chosen one")
        if _answer(own) == _answer(other):
            raise refused_value(param, "its answer is the chosen one: there is nothing to prefer")
        return replace(new, rejected_completion_id=other.id)


async def _completion(unit: UnitOfWork, completion_id: str, param: str) -> StoredCompletion:
    try:
        found = await unit.stored_completions.get(completion_id)
    except NotFound as error:
        raise InvalidRequest(
            f"{param} {completion_id} does not exist, or was not stored: send 'store': true with "
            "the chat.",
            param=param,
            code="completion_not_found",
        ) from error
    if len(found.reply["choices"]) != 1:
        raise refused_value(param, "it has several choices, and feedback is about one answer")
    return found


async def _rollout(unit: UnitOfWork, rollout_id: str) -> Json:
    trace = await unit.feedback.rollout_trace(rollout_id)
    messages = trace["messages"]
    if not messages[:-1] or messages[-1].get("role") != "assistant":
        raise refused_value("rollout_id", "its last message is no answer of the model")
    return trace


def _check_calls(new: Feedback, tools: list[Json]) -> None:
    if new.type == "correction" and new.better is not None:
        check_offered("correction", new.better, tools)


def _answer(completion: StoredCompletion) -> Any:
    message = completion.reply["choices"][0]["message"]
    return message.get("content"), message.get("tool_calls")


_UNCHANGED: Final = LabelChanges(None, None, False)


@dataclass(frozen=True, slots=True)
class BuildPorts:
    feedback: FeedbackService
    files: FileService
    row_files: RowFiles
    curricula: CurriculumService


class FeedbackBuildService:
    def __init__(self, database: Database, ports: BuildPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def get(self, build_id: str) -> FeedbackBuild:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback_builds.get(build_id)

    async def page(self, *, after: str | None, limit: int) -> tuple[list[FeedbackBuild], bool]:
        async with self._database.tenant(self._tenant) as unit:
            return await unit.feedback_builds.page(after=after, limit=limit)

    async def plan(self, request: BuildRequest) -> Json:
        await self._check_curriculum(request)
        return (await self._assembly(request)).report

    async def build(self, request: BuildRequest) -> FeedbackBuild:
        """Raises `InvalidRequest` for too few rows, `WrongState` for feedback that is removed."""
        await self._check_curriculum(request)
        assembly = await self._assembly(request)
        rows = len(assembly.training)
        if rows < MIN_EXAMPLES:
            raise InvalidRequest(
                f"The feedback makes {rows} rows to train, and a job needs {MIN_EXAMPLES}: collect "
                "more, or send 'dry_run': true to see what was dropped and why.",
                code="too_few_rows",
            )
        build_id = new_id("fbuild_")
        file_ids: dict[CurriculumSplit, str] = {part: new_id("file-") for part in CURRICULUM_SPLITS}
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.insert(
                *(build_id, assembly.report),
                people=assembly.people,
                file_ids=list(file_ids.values()),
            )
        made: list[str] = []
        try:
            files = await self._files(build_id, file_ids, assembly, made)
            await self._check_unchanged(assembly.feedback_ids)
            curriculum = await self._register(request, files)
        except BaseException:
            await self._ports.row_files.discard(made)
            raise
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.set_curriculum(build_id, curriculum.id, curriculum.version)
            return await unit.feedback_builds.get(build_id)

    async def _check_curriculum(self, request: BuildRequest) -> None:
        """Raises `NotFound` for an unknown curriculum, `InvalidRequest` for a name in use."""
        if request.curriculum_id is not None:
            try:
                await self._ports.curricula.get(request.curriculum_id)
            except NotFound as error:
                raise NotFound(error.message, param="curriculum_id", code=error.code) from error
        if request.name is not None:
            await self._ports.curricula.check_name(request.name)

    async def _assembly(self, request: BuildRequest) -> Assembly:
        where = FeedbackFilter(created_after=request.created_after)
        judgements = await self._ports.feedback.judgements(where)
        return await asyncio.to_thread(assemble, judgements, request)

    async def _files(
        self,
        build_id: str,
        file_ids: dict[CurriculumSplit, str],
        assembly: Assembly,
        made: list[str],
    ) -> dict[CurriculumSplit, SplitInput]:
        files: dict[CurriculumSplit, SplitInput] = {}
        for split in CURRICULUM_SPLITS:
            rows: Sequence[BuiltRow] = getattr(assembly, split)
            file_id = None
            if rows:
                file_id = file_ids[split]
                await self._ports.row_files.write(
                    *([row.row for row in rows], f"{build_id}-{split}.jsonl"),
                    file_id=file_id,
                    within=lambda unit: _check_people(unit, build_id, assembly),
                )
                made.append(file_id)
            files[split] = SplitInput(file_id, None)
        return files

    async def _check_unchanged(self, used: list[str]) -> None:
        async with self._database.tenant(self._tenant) as unit:
            if await unit.feedback.existing(used) != len(used):
                raise _changed()

    async def _register(
        self, request: BuildRequest, files: dict[CurriculumSplit, SplitInput]
    ) -> RegisteredVersion:
        if request.curriculum_id is not None:
            return await self._ports.curricula.update(request.curriculum_id, files, _UNCHANGED)
        return await self._ports.curricula.create(request.name or "", files, metadata=None)


async def _check_people(unit: UnitOfWork, build_id: str, assembly: Assembly) -> None:
    """Raises `WrongState` if somebody was removed. A later removal waits, and finds the file."""
    if await unit.feedback_builds.people(build_id) != sorted(set(assembly.people)):
        raise _changed()


def _changed() -> WrongState:
    return WrongState(
        "Feedback was removed while its files were built: send the build again.",
        code="feedback_changed",
    )


_WITHHELD = "Rows of an end user are being removed from this file; no new job may read it."


class EndUserService:
    def __init__(self, database: Database, ports: BuildPorts, tenant: Tenant) -> None:
        self._database = database
        self._ports = ports
        self._tenant = tenant

    async def remove(self, end_user: str) -> EndUserRemoval:
        """Removes nothing and raises `WrongState` while a job that has not ended reads the rows."""
        done = EndUserRemoval(completions=0, feedback=0, rows=0, files=[], curricula=[], jobs=[])
        async with self._database.tenant(self._tenant) as unit:
            done.completions, done.feedback = await unit.feedback.remove_of(end_user)
            builds = await unit.feedback_builds.mark_removed(end_user)
            for build in builds:
                await _withhold(unit, build)
        for build in builds:
            await self._clean(build, done)
        digest = person_digest(self._tenant.project_id, end_user)
        async with self._database.tenant(self._tenant) as unit:
            done.jobs = sorted({*done.jobs, *await unit.feedback_builds.jobs_of(digest)})
        return done

    async def _clean(self, build: FeedbackBuild, done: EndUserRemoval) -> None:
        async with self._database.tenant(self._tenant) as unit:
            files = await unit.files.existing(build.file_ids)
        replaced: dict[str, str | None] = {}
        people: dict[str, set[str]] = {}
        for file in files:
            kept, dropped = await self._divided(file, build.removed_people)
            if dropped:
                replaced[file.id] = await self._rewritten(build, file, kept) if kept else None
                people[file.id] = set().union(*map(people_of, [*kept, *dropped]))
                done.rows += len(dropped)
        await self._replace(build, replaced, done)
        for file_id in replaced:
            done.jobs += await self._learned(build, file_id, people[file_id])
            await self._ports.files.delete(file_id)
            done.files.append(file_id)
        # The build forgets a file behind its last byte, so that an interrupted call is finished.
        deleted = await self._ports.files.purge([*build.file_ids, *replaced])
        async with self._database.tenant(self._tenant) as unit:
            await unit.files.release(await unit.feedback_builds.forget(build, deleted))

    async def _learned(self, build: FeedbackBuild, file_id: str, people: set[str]) -> list[str]:
        """Returns the jobs that read a file, and notes them: the file itself will be gone."""
        digests = [person_digest(self._tenant.project_id, person) for person in people]
        async with self._database.tenant(self._tenant) as unit:
            jobs = await unit.jobs.with_file(file_id)
            if jobs:
                await unit.feedback_builds.note_jobs(build.id, jobs, people=digests)
        return jobs

    async def _rewritten(self, build: FeedbackBuild, file: FileRow, rows: list[Json]) -> str:
        file_id = new_id("file-")
        async with self._database.tenant(self._tenant) as unit:
            await unit.feedback_builds.add_file(build.id, file_id)
        await self._ports.row_files.write(
            *(rows, file.filename), file_id=file_id, within=lambda unit: _check_alone(unit, build)
        )
        return file_id

    async def _divided(
        self, file: FileRow, removed: frozenset[str]
    ) -> tuple[list[Json], list[Json]]:
        _, chunks = await self._ports.files.content(file.id)
        kept, dropped = list[Json](), list[Json]()
        async for line in lines_of(chunks):
            if not is_blank(line.content):
                row: Json = strict_loads(line.content.decode(), most=None)
                (kept if removed.isdisjoint(people_of(row)) else dropped).append(row)
        return kept, dropped

    async def _replace(
        self, build: FeedbackBuild, replaced: dict[str, str | None], done: EndUserRemoval
    ) -> None:
        """Gives the curriculum a version with the new files, if its newest one has the old ones."""
        if build.curriculum_id is None:
            return
        try:
            current = await self._ports.curricula.get(build.curriculum_id)
        except NotFound:
            return
        changes: dict[CurriculumSplit, SplitInput] = {}
        for split in CURRICULUM_SPLITS:
            file_id = (current.definition.get(split) or {}).get("file_id")
            if file_id in replaced:
                changes[split] = SplitInput(replaced[file_id], None)
        if not changes:
            return
        if changes.get("training") == SplitInput(None, None):
            await self._ports.curricula.delete(current.id)
        else:
            await self._ports.curricula.update(current.id, changes, _UNCHANGED)
        done.curricula.append(current.id)


async def _withhold(unit: UnitOfWork, build: FeedbackBuild) -> None:
    files = await unit.files.lock(build.file_ids)
    await unit.files.withhold([file.id for file in files], _WITHHELD)
    for file in files:
        job_id = await unit.jobs.open_with_file(file.id)
        if job_id is not None:
            raise WrongState(
                f"Job {job_id}, which has not ended, reads file {file.id} with rows of this end "
                "user; nothing was removed. Wait for its end, or end it: POST "
                f"/v1/fine_tuning/jobs/{job_id}/cancel.",
                code="file_in_use",
            )


async def _check_alone(unit: UnitOfWork, build: FeedbackBuild) -> None:
    """Raises `WrongState` if another removal named people of the build or finished meanwhile."""
    if await unit.feedback_builds.removed_people(build.id) != build.removed_people:
        raise WrongState(
            "Another removal changed the same files at this moment: send this one again.",
            code="removal_changed",
        )
