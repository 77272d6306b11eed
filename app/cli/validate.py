"""`agent-rft validate`: checks a create call and its files on this machine, without a service.

Uses the parser, the checks and the messages of `POST /v1/fine_tuning/jobs/validate`. A warning
names each part of the call that only a service can check.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TextIO, assert_never

from pydantic import ValidationError

from app.cli.terminal import issue_lines
from app.curricula.curricula import CURRICULUM_SPLITS
from app.graders.choice import GraderChoice
from app.jobs.call_checks import (
    base_model,
    call_issues,
    estimate_of,
    inspection_request,
    is_service_file,
    unchecked_parts,
)
from app.jobs.dataset_checks import (
    auto_of,
    choice_warnings,
    choose_from_files,
    environment_of,
    inspect,
    tasks_of,
    with_environment_grader,
    with_grader,
)
from app.jobs.jobs import JobRequest
from app.jobs.methods import method_of, method_type, reinforcement_of
from app.jobs.preflight import DatasetReport, FileSummary, PreflightReport, issue_of
from app.jobs.schemas import FineTuningJobValidation, read_call
from app.kit.errors import InvalidRequest, PreflightIssue
from app.kit.processes import FAILED
from app.kit.strict_json import MAX_JSON_BYTES, UnusableJson, read_json
from app.models.models import BaseModelSpec, student_named
from app.tools.environments import FILE_PARAM, built_in
from app.tools.references import InlineCurriculum, RegisteredReference, read_curriculum


def validate(
    call: Path,
    *,
    files: dict[str, Path | None],
    base_models: tuple[BaseModelSpec, ...],
    as_json: bool,
) -> int:
    """Prints the report; returns 0 if the job would be accepted, else `FAILED`."""
    try:
        content = call.read_bytes()
    except OSError as error:
        return _refuse(f"{call}: {error}")
    if len(content) > MAX_JSON_BYTES:
        return _refuse(f"{call}: is larger than {MAX_JSON_BYTES} bytes")
    try:
        body = read_json(content)
    except UnusableJson as problem:
        return _refuse(f"{call}: is not usable JSON: {problem}")
    if not isinstance(body, dict):
        return _refuse(f"{call}: must contain the JSON object of a create call")
    paths = {param: path or _local_file(body, param) for param, path in files.items()}
    report = _report(body, paths, base_models)
    if as_json:
        print(FineTuningJobValidation.of(report).model_dump_json(indent=2))
    else:
        _print_report(report, sys.stdout)
    return 0 if report.valid else FAILED


def _local_file(body: dict[str, Any], param: str) -> Path | None:
    name = body.get(param)
    return Path(name) if isinstance(name, str) and Path(name).is_file() else None


def _refuse(message: str) -> int:
    print(f"agent-rft: {message}", file=sys.stderr)
    return FAILED


def _report(
    body: dict[str, Any], files: dict[str, Path | None], base_models: tuple[BaseModelSpec, ...]
) -> PreflightReport:
    # A file of the command line replaces a parameter that the call does not have yet.
    body = {**{param: str(path) for param, path in files.items() if path}, **body}
    new, issues = read_call(body)
    with TemporaryDirectory() as directory:
        body, files = _with_environment(body, files, Path(directory), issues)
        files = _with_inline_rows(body, files, Path(directory))
        return _inspected(body, new, files, issues, base_models=base_models)


def _inspected(
    body: dict[str, Any],
    new: JobRequest | None,
    files: dict[str, Path | None],
    issues: list[PreflightIssue],
    *,
    base_models: tuple[BaseModelSpec, ...],
) -> PreflightReport:
    body, choice = _with_grader(body, files, issues)
    base = None if _names_student(body) else base_model(body, base_models, issues)
    issues += call_issues(body, base, reported={issue.param for issue in issues})
    dataset: DatasetReport | None = None
    missing = [path for path in files.values() if path is not None and not path.is_file()]
    issues += [
        PreflightIssue("error", "file_not_found", f"{path} is not a file.") for path in missing
    ]
    if any(files.values()) and not missing:
        dataset = inspect(
            inspection_request(
                body, base, training=files["training_file"], validation=files["validation_file"]
            )
        )
        issues += dataset.issues
    issues += unchecked_parts(body, files)
    return PreflightReport(
        model=None if base is None else base.name,
        method=method_type(body),
        dataset=dataset,
        estimate=estimate_of(new, base, dataset, pace=None, knows_jobs=False),
        issues=tuple(issues),
        grader_choice=choice,
    )


def _names_student(body: dict[str, Any]) -> bool:
    model = body.get("model")
    return isinstance(model, str) and student_named(model) is not None


def _with_environment(
    body: dict[str, Any],
    files: dict[str, Path | None],
    directory: Path,
    issues: list[PreflightIssue],
) -> tuple[dict[str, Any], dict[str, Path | None]]:
    """Returns the call with its environment's grader, and the files of its tasks or an issue."""
    environment = environment_of(body)
    if environment is None:
        return body, files
    body = with_environment_grader(body, environment)
    source = built_in(environment)
    if source is None or any(files.values()):
        return body, files
    named = source.problem_file
    try:
        tasks = tasks_of(source, None if named is None else Path(named))
    except InvalidRequest as fault:
        issues.append(issue_of(fault))
        return body, files
    except OSError:
        if is_service_file(named):
            return body, files
        message = f"{named} is not a file."
        issues.append(PreflightIssue("error", "file_not_found", message, FILE_PARAM))
        return body, files
    rows = {"training": tasks["training"], "validation": tasks["validation"]}
    return body, _written(rows, directory / source.type)


def _with_inline_rows(
    body: dict[str, Any], files: dict[str, Path | None], directory: Path
) -> dict[str, Path | None]:
    sent = body.get("curriculum")
    if any(files.values()) or not isinstance(sent, dict) or "id" in sent:
        return files
    try:
        curriculum = read_curriculum(sent)
    except ValidationError:  # reported already
        return files
    match curriculum:
        case InlineCurriculum(training=training, validation=validation):
            rows = {"training": training, "validation": validation}
            return _written(rows, directory / "curriculum")
        case RegisteredReference():
            return files
        case _:
            assert_never(curriculum)


def _written(rows: dict[str, list[dict[str, Any]]], prefix: Path) -> dict[str, Path | None]:
    files = dict[str, Path | None]()
    for split in CURRICULUM_SPLITS:
        path = prefix.with_name(f"{prefix.name}-{split}_file.jsonl")
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows[split]), encoding="utf-8")
        files[f"{split}_file"] = path if rows[split] else None
    return files


def _with_grader(
    body: dict[str, Any], files: dict[str, Path | None], issues: list[PreflightIssue]
) -> tuple[dict[str, Any], GraderChoice | None]:
    auto, training, validation = auto_of(body), files["training_file"], files["validation_file"]
    if auto is None or training is None or not training.is_file():
        return body, None
    held_out = validation if validation is not None and validation.is_file() else None
    response_format = reinforcement_of(method_of(body)).get("response_format")
    try:
        choice = choose_from_files(training, held_out, auto, response_format)
    except InvalidRequest as fault:
        issues.append(issue_of(fault))
        return body, None
    issues += choice_warnings(choice)
    return with_grader(body, choice), choice


def _print_report(report: PreflightReport, out: TextIO) -> None:
    if report.dataset is not None:
        _print_file("training file", report.dataset.training, out)
        _print_file("validation file", report.dataset.validation, out)
    for severity in ("error", "warning"):
        issues = [issue for issue in report.issues if issue.severity == severity]
        for line in issue_lines(severity.upper(), issues):
            print(line, file=out)
    if report.grader_choice is not None:
        choice = report.grader_choice
        print(f"grader: {choice.kind}. {choice.reason}", file=out)
    if report.estimate is not None:
        plan = report.estimate
        time = "unknown" if plan.training_seconds is None else f"{plan.training_seconds:,.0f} s"
        print(
            f"estimate: {plan.total_steps} steps, {plan.train_rollouts:,} training and "
            f"{plan.validation_rollouts:,} validation rollouts, {plan.prompt_tokens:,} prompt and "
            f"{plan.completion_tokens:,} completion tokens, worker time {time}",
            file=out,
        )
        print(f"          {plan.explanation}", file=out)
    print("valid" if report.valid else "not valid", file=out)


def _print_file(label: str, file: FileSummary | None, out: TextIO) -> None:
    if file is None:
        return
    lengths = ""
    if file.tokens is not None:
        lengths = (
            f", prompts of {file.tokens.p50} tokens at the median, {file.tokens.p99} at the 99th "
            f"percentile, {file.tokens.max} at most (context {file.tokens.context_length})"
        )
    print(f"{label}: {file.rows:,} rows, {file.faulty_rows} faulty{lengths}", file=out)
