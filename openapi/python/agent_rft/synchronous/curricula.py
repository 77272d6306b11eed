"""A curriculum: what a student practises on, and what it is measured on."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self, Union

from typing_extensions import override

from agent_rft.arguments import body as body_of
from agent_rft.arguments import mapping
from agent_rft.defaults import default_client
from agent_rft.presentation import Presentation
from agent_rft.synchronous.client import AgentRFT
from agent_rft.synchronous.jobs import TrainingJob
from agent_rft_client.api.curricula import (
    create_curriculum,
    delete_curriculum,
    list_curricula,
    preview_curriculum,
    retrieve_curriculum,
    test_curriculum,
)
from agent_rft_client.models.create_curriculum import CreateCurriculum
from agent_rft_client.models.curriculum import Curriculum as CurriculumObject
from agent_rft_client.models.curriculum_preview import CurriculumPreview
from agent_rft_client.models.curriculum_test import CurriculumTest
from agent_rft_client.models.deleted import Deleted
from agent_rft_client.models.preview_curriculum import PreviewCurriculum
from agent_rft_client.models.run_curriculum_test import RunCurriculumTest

Rows = str | Path | Sequence[Mapping[str, Any]]
"""Path of a JSONL file, or the rows themselves."""
Source = Union[Rows, "Curriculum", TrainingJob, Mapping[str, Any]]
"""A source of a curriculum; a mapping is the object of a call, with its `type`."""


class Curriculum(Presentation):
    """Shows a curriculum of the project. `body` is the curriculum as the service describes it."""

    def __init__(self, client: AgentRFT, body: CurriculumObject) -> None:
        self._client, self.body = client, body

    @classmethod
    def create(
        cls,
        name: str,
        training: Rows,
        validation: Rows | None = None,
        *,
        client: AgentRFT | None = None,
    ) -> Self:
        """Makes a curriculum from files on disk or from rows.

        A reinforcement job measures its gain on `validation`. Raises `BadRequestError` for a name
        that is taken. `test` finds the rows that a job could not read.
        """
        client = client or default_client()
        parts = {"name": name, **_part(client, "training", training)}
        if validation is not None:
            parts |= _part(client, "validation", validation)
        body = body_of(CreateCurriculum, parts)
        return cls(client, client.call(create_curriculum.sync, CurriculumObject, body=body))

    @classmethod
    def gather(
        cls,
        name: str,
        *sources: Source,
        client: AgentRFT | None = None,
        **options: Any,
    ) -> Self:
        """Makes a curriculum from sources, with a held-out part of its own.

        A source is a path of a CSV, JSONL or Parquet file, a list of rows, another curriculum, a
        training job, whose rollouts it takes, or the object of a call. `options` are those of the
        call: `method`, `split`, `invalid_rows`. Raises `BadRequestError` with the first fault.
        """
        client = client or default_client()
        sent = [_source(client, source) for source in sources]
        body = body_of(CreateCurriculum, {"name": name, "sources": sent, **_checked(options)})
        return cls(client, client.call(create_curriculum.sync, CurriculumObject, body=body))

    @classmethod
    def preview(
        cls, *sources: Source, client: AgentRFT | None = None, **options: Any
    ) -> CurriculumPreview:
        """Returns what `gather` would make: columns, first rows, findings and counts. Files on disk
        are uploaded; nothing else is stored.
        """
        client = client or default_client()
        sent = [_source(client, source) for source in sources]
        body = body_of(PreviewCurriculum, {"sources": sent, **_checked(options)})
        return client.call(preview_curriculum.sync, CurriculumPreview, body=body)

    @classmethod
    def get(cls, curriculum_id: str, *, client: AgentRFT | None = None) -> Self:
        client = client or default_client()
        call = retrieve_curriculum.sync
        return cls(client, client.call(call, CurriculumObject, curriculum_id))

    @classmethod
    def all(cls, *, client: AgentRFT | None = None) -> Iterator[Self]:
        """Yields the curricula of the project, newest first."""
        client = client or default_client()
        for body in client.pages(list_curricula.sync, CurriculumObject):
            yield cls(client, body)

    @property
    def id(self) -> str:
        return self.body.id

    @property
    def name(self) -> str:
        return self.body.name

    def test(self, **checks: Any) -> CurriculumTest:
        """Returns the faults, duplicates and overlaps of its rows. `checks` are those of the call:
        `tools` names the tools that rows may expect.
        """
        body = body_of(RunCurriculumTest, checks)
        return self._client.call(test_curriculum.sync, CurriculumTest, self.id, body=body)

    def delete(self) -> None:
        self._client.call(delete_curriculum.sync, Deleted, self.id)

    @override
    def facts(self) -> Mapping[str, object]:
        return {
            "name": self.name,
            "id": self.id,
            "version": self.body.version,
            "training_rows": self.body.training_rows,
            "validation_rows": self.body.validation_rows,
        }


def _source(client: AgentRFT, source: Source) -> dict[str, Any]:
    if isinstance(source, Curriculum):
        version = source.body.version
        return {"type": "curriculum", "curriculum_id": source.id, "version": version}
    if isinstance(source, TrainingJob):
        return {"type": "rollouts", "job_id": source.id}
    if isinstance(source, (str, Path)):
        if not Path(source).is_file():  # noqa: ASYNC240 - one look; a device has no end
            raise ValueError(f"{source} is no file that can be uploaded")
        purpose = "fine-tune" if Path(source).suffix == ".jsonl" else "user_data"
        file = client.upload(source, purpose=purpose)
        return {"type": "file", "file_id": file.id}
    if isinstance(source, Mapping):
        if "type" not in source:
            raise TypeError("a source that is an object has a 'type'; rows are given in a list")
        return dict(source)
    return {"type": "rows", "rows": [dict(row) for row in source]}


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    if options.get("split") is not None:
        mapping("split", options["split"], "{'validation_share': 0.2}")
    return dict(options)


def _part(client: AgentRFT, name: str, rows: Rows) -> dict[str, Any]:
    if isinstance(rows, (str, Path)):
        file = client.upload(rows)
        return {f"{name}_file": file.id}
    return {name: [dict(row) for row in rows]}
