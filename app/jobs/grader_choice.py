"""Chooses the grader of a call whose grader is `auto`, from the rows of its files.

Plain data in and out, so that the API can run it in a separate process and the command line can run
the same code. An unreadable row is left out here, because it is reported as a fault of the file.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from app.files.rows import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, DatasetError, is_blank, load_line
from app.graders.choice import GraderChoice, NoGraderFits, RowFacts, choose_grader, row_facts
from app.graders.definitions import AutoGrader
from app.graders.grader_model import AUTO
from app.jobs.file_checks import lines_of
from app.jobs.method_parts import method_of, reinforcement_of
from app.jobs.response_formats import answer_schema
from app.kit.errors import PreflightIssue

GRADER_PARAM: Final = "method.reinforcement.grader"


def auto_of(body: dict[str, Any]) -> AutoGrader | None:
    """Returns the `auto` grader of a call's JSON, `None` for a call without one or a faulty one."""
    sent = reinforcement_of(method_of(body)).get("grader")
    if not isinstance(sent, dict) or sent.get("type") != AUTO:
        return None
    try:
        return AutoGrader.model_validate(sent)
    except ValidationError:
        return None


def with_grader(body: dict[str, Any], choice: GraderChoice) -> dict[str, Any]:
    """Returns the JSON of a call with the chosen grader instead of `auto`."""
    inner = {**reinforcement_of(method_of(body)), "grader": choice.grader}
    return {**body, "method": {**body["method"], "reinforcement": inner}}


def choice_warnings(choice: GraderChoice) -> list[PreflightIssue]:
    if choice.warning is None:
        return []
    return [PreflightIssue("warning", "unused_judge", choice.warning, f"{GRADER_PARAM}.model")]


def choose_from_files(
    training: Path, validation: Path | None, auto: AutoGrader, response_format: Any
) -> GraderChoice:
    """Chooses by the rows of both files, because the job grades both. Raises `InvalidRequest` if
    the rows lack a key, `OSError` if a file does not exist.
    """
    facts = [*_facts_of(training, "training", most=MAX_TRAIN_EXAMPLES)]
    if validation is not None:
        facts += _facts_of(validation, "validation", most=MAX_VALID_EXAMPLES)
    try:
        return choose_grader(auto, facts, answer_schema=answer_schema(response_format))
    except NoGraderFits as fault:
        raise fault.at(GRADER_PARAM) from fault


def _facts_of(path: Path, label: str, *, most: int) -> Iterator[RowFacts]:
    rows = 0
    with path.open("rb") as file:
        for number, line in lines_of(file):
            if is_blank(line):
                continue
            try:
                item = load_line(line, number)
            except DatasetError:
                continue
            rows += 1
            if rows > most:
                return
            yield row_facts(item, number, file=label)
