"""Checks the files of a call, makes the tasks of its environment, chooses the grader of `auto`.

Plain data in and out: the API runs it in a process of its own, the command line directly.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from app.curricula.curricula import CurriculumSplit
from app.files.datasets import OVERLAPPING_ROWS, TOOLS_NOT_RUN, Overlap
from app.files.division import UNREAD_DIFFICULTY, UNREAD_DIFFICULTY_MESSAGE
from app.files.rows import MAX_TRAIN_EXAMPLES, MAX_VALID_EXAMPLES, DatasetError, is_blank, load_line
from app.files.table_formats import MAX_CONTENT_BYTES, is_parquet, parquet_header, parquet_records
from app.files.table_texts import TableFault
from app.graders.choice import GraderChoice, NoGraderFits, RowFacts, choose_grader, row_facts
from app.graders.definitions import AutoGrader
from app.graders.grader_model import AUTO
from app.jobs.file_checks import (
    FileRules,
    ReadFile,
    answer_issues,
    length_issues,
    lines_of,
    prompt_lengths,
    read_file,
    token_lengths,
    tool_problems,
)
from app.jobs.methods import method_of, reinforcement_of
from app.jobs.preflight import (
    DatasetReport,
    FileSummary,
    InspectionRequest,
    SampleRow,
    TokenLengths,
)
from app.jobs.reinforcement import steps_of
from app.jobs.response_formats import answer_schema
from app.jobs.supervised import MethodType
from app.kit.errors import InvalidRequest, PreflightIssue
from app.rollouts.chat_template import UNSEEN, Message
from app.rollouts.renderer import Renderer
from app.tools.environments import (
    FILE_PARAM,
    AnyEnvironment,
    BuiltIn,
    check_count,
    is_built_in_name,
    read_environment,
    training_numbers,
    validation_numbers,
)
from app.tools.mcp_listings import SERVERS
from app.tools.word_problems import PROBLEM_COLUMNS, UnreadableProblem, row_of

_Row = dict[str, Any]


def environment_of(body: _Row) -> AnyEnvironment | None:
    sent = reinforcement_of(method_of(body)).get("environment")
    try:
        return None if sent is None else read_environment(sent)
    except ValueError:  # pydantic raises its two kinds
        return None


def with_environment_grader(body: _Row, environment: AnyEnvironment) -> _Row:
    """Puts in the environment, and its grader unless the call has its own."""
    inner = reinforcement_of(method_of(body))
    if is_built_in_name(inner.get("environment")):
        inner = {**inner, "environment": {"type": inner["environment"]}}
    if inner.get("grader") is None and environment.missing_option is None:
        inner = {**inner, "grader": environment.grader()}
    return {**body, "method": {**body["method"], "reinforcement": inner}}


def tasks_of(environment: BuiltIn, file: Path | None) -> dict[CurriculumSplit, list[_Row]]:
    """`file` has the problems, if named. Raises `InvalidRequest`, and `OSError` without it."""
    rows = None if file is None else _problems_of(file)
    count = environment.problems if rows is None else len(rows)
    check_count(environment, count)

    def row(number: int) -> _Row:
        return environment.row(number) if rows is None else rows[number]

    return {
        "training": [row(number) for number in training_numbers(environment, count)],
        "validation": [row(number) for number in validation_numbers(environment, count)],
    }


def _problems_of(path: Path) -> list[_Row]:
    rows = dict[str, _Row]()
    try:
        for location, number, line in _lines(path):
            if len(rows) == MAX_TRAIN_EXAMPLES:
                raise _unreadable(f"it has more than {MAX_TRAIN_EXAMPLES} problems")
            try:
                row = row_of(load_line(line, number))
            except DatasetError as error:
                raise _unreadable(f"{location}: {error.message}") from error
            except UnreadableProblem as error:
                raise _unreadable(f"{location}: {error}") from error
            rows.setdefault(row["question"].strip(), row)
    except TableFault as fault:
        raise _unreadable(fault.message) from fault
    return list(rows.values())


def _lines(path: Path) -> Iterator[tuple[str, int, bytes]]:
    if is_parquet(path):
        header = parquet_header(path, most_bytes=MAX_CONTENT_BYTES)
        missing = [name for name in PROBLEM_COLUMNS if name not in header]
        if missing:
            raise TableFault("missing_column", f"it has no column '{missing[0]}'")
        for number, row in parquet_records(path, PROBLEM_COLUMNS):
            if isinstance(row, str):
                raise TableFault("too_large", f"Row {number}: {row}")
            yield f"Row {number}", number, json.dumps(row).encode()
        return
    with path.open("rb") as file:
        for number, line in lines_of(file):
            if not is_blank(line):
                yield f"Line {number}", number, line


def _unreadable(why: str) -> InvalidRequest:
    return InvalidRequest(
        f"The file of the environment cannot be used: {why}.",
        param=FILE_PARAM,
        code="invalid_environment_file",
    )


_MAX_TOOL_SETS = 50
_MAX_ORDERS: Final = 50
_MAX_SAMPLED: Final = 200_000
"""Largest number of characters of a row that is passed from the reading process."""
_TOOLS: Final = "method.reinforcement.tools"


def inspect(request: InspectionRequest) -> DatasetReport:
    files = {
        param: read_file(path, _rules(request, param))
        for param, path in (
            ("training_file", request.training),
            ("validation_file", request.validation),
        )
        if path is not None
    }
    for file in files.values():
        file.offer_on_every_row(request.shared_tools)
    base = request.base_model
    renderer = (
        None
        if base is None
        else Renderer(
            base.path,
            tool_parser=base.tool_parser,
            chat_template=base.chat_template,
            reasoning_effort=request.reasoning_effort,
        )
    )
    issues = list(_without_method(request, files.get("training_file")))
    issues += [issue for file in files.values() for issue in file.issues]
    summaries: dict[str, FileSummary] = {}
    checked: list[list[Message]] = []
    for param, file in files.items():
        lengths: TokenLengths | None = None
        if renderer is not None and base is not None:
            tokens = prompt_lengths(renderer, file)
            lengths = token_lengths(tokens, base)
            issues += (
                length_issues(request, param, tokens, base)
                if request.method == "reinforcement"
                else answer_issues(request, param, file, tokens, renderer=renderer, base=base)
            )
            issues += _tool_issues(renderer, file, param, checked, shared=len(request.shared_tools))
            issues += _unseen_messages(renderer, file, param, method=request.method)
        summaries[param] = _summary(file, lengths)
    overlap: Overlap | None = None
    if len(files) == 2:  # noqa: PLR2004 - two files overlap
        overlap = files["training_file"].prompts.overlap(files["validation_file"].prompts)
    if overlap is not None and overlap.rows:
        issues.append(
            PreflightIssue("warning", OVERLAPPING_ROWS, overlap.warning, "validation_file")
        )
    issues += _tool_use(request, files)
    issues += _training_issues(request, files.get("training_file"))
    issues += _dropped_thoughts(request, renderer)
    return DatasetReport(
        training=summaries.get("training_file"),
        validation=summaries.get("validation_file"),
        overlap=overlap,
        issues=tuple(issues),
        sample_rows=tuple(
            row for param, file in files.items() for row in _sample_rows(request, param, file)
        ),
    )


def _without_method(
    request: InspectionRequest, training: ReadFile | None
) -> Iterator[PreflightIssue]:
    if training is None or request.names_method or not 0 < training.rows == training.faulty_rows:
        return
    message = (
        f"The call has no 'method', so its files were read as those of a supervised job, and none "
        f"of the {training.rows} rows of the training file is a row of one. Send method, such as "
        '{"type": "reinforcement", "reinforcement": {"grader": …}}.'
    )
    yield PreflightIssue("error", "missing_required_parameter", message, "method")


def _sample_rows(request: InspectionRequest, param: str, file: ReadFile) -> list[SampleRow]:
    count = min(request.sample_rows, len(file.sampled))
    lines = list(file.sampled)
    chosen = [lines[number * len(lines) // count] for number in range(count)]
    rows = [SampleRow(param, line, file.sampled[line].item) for line in chosen]
    return [row for row in rows if len(json.dumps(row.item)) <= _MAX_SAMPLED]


def _rules(request: InspectionRequest, param: str) -> FileRules:
    most = MAX_TRAIN_EXAMPLES if param == "training_file" else MAX_VALID_EXAMPLES
    return FileRules(
        param, request.method, request.job_tools, most, request.train_on, request.needs
    )


def _summary(file: ReadFile, lengths: TokenLengths | None) -> FileSummary:
    return FileSummary(
        rows=file.rows,
        faulty_rows=file.faulty_rows,
        duplicate_rows=file.prompts.repeats,
        duplicate_lines=tuple(file.prompts.repeated_lines),
        tokens=lengths,
        tools=dict(sorted(file.tools.items())),
    )


def _tool_issues(
    renderer: Renderer, file: ReadFile, param: str, checked: list[list[Message]], *, shared: int
) -> Iterator[PreflightIssue]:
    """Checks each set of tools once. The last `shared` ones are those of MCP servers."""
    for line, prompt in file.sampled.items():
        if len(checked) == _MAX_TOOL_SETS:
            return
        if prompt.tools in checked:
            continue
        checked.append(prompt.tools)
        try:
            problems = list(tool_problems(renderer, prompt.messages, prompt.tools))
        except InvalidRequest as error:
            yield PreflightIssue(
                "error", "chat_template_refused", error.message, param, line, "/messages"
            )
            continue
        for position, problem in problems:
            name = prompt.tools[position]["function"]["name"]
            message = f"Tool '{name}': {problem}."
            if position >= len(prompt.tools) - shared:
                if len(checked) == 1:
                    yield PreflightIssue("warning", "tool_schema", message, SERVERS)
                continue
            yield PreflightIssue(
                "warning", "tool_schema", message, param, line, f"/tools/{position}/function"
            )


def _unseen_messages(
    renderer: Renderer, file: ReadFile, param: str, *, method: MethodType
) -> Iterator[PreflightIssue]:
    """Looks at one conversation of each order of roles."""
    checked = set[tuple[str, ...]]()
    for line, prompt in file.sampled.items():
        order = tuple(message["role"] for message in prompt.messages)
        if order in checked or len(checked) == _MAX_ORDERS:
            continue
        checked.add(order)
        try:
            unseen = renderer.unseen(prompt.messages, prompt.tools)
        except InvalidRequest:  # told with the tools
            continue
        for position in unseen[:1]:
            at = f"{'/input' if method == 'dpo' else ''}/messages/{position}"
            message = f"Line {line}, {at}: {UNSEEN}"
            yield PreflightIssue("warning", "unseen_message", message, param, line, at)


def _training_issues(
    request: InspectionRequest, training: ReadFile | None
) -> Iterator[PreflightIssue]:
    if training is None or not training.rows:
        return
    size, sent = request.batch_size, request.hyperparameters
    if size is not None and training.rows < size:
        message = (
            f"batch_size {size} is over the {training.rows} rows of the training file: each step "
            f"takes all {training.rows} of them."
        )
        param = f"method.{request.method}.hyperparameters.batch_size"
        yield PreflightIssue("warning", "batch_size_over_rows", message, param)
    steps = None if sent is None else steps_of(sent, training.rows)
    if sent is not None and steps and sent.eval_interval != "auto" and sent.eval_interval > steps:
        message = (
            f"eval_interval {sent.eval_interval} is over the {steps} steps of the job: it "
            "validates at its beginning and its end alone."
        )
        param = "method.reinforcement.hyperparameters.eval_interval"
        yield PreflightIssue("warning", "eval_interval_over_steps", message, param)
    if request.reads_difficulty and training.unread_difficulties:
        message = f"{UNREAD_DIFFICULTY_MESSAGE} {training.unread_difficulties} rows have such one."
        line = training.first_unread_difficulty
        yield PreflightIssue("warning", UNREAD_DIFFICULTY, message, "training_file", line)


def _tool_use(request: InspectionRequest, files: dict[str, ReadFile]) -> Iterator[PreflightIssue]:
    if request.method != "reinforcement":
        return
    if any(file.faulty_rows for file in files.values()):
        return  # the tools of faulty rows are not known
    offered = {name for file in files.values() for name in file.tools}
    if request.job_tools is None:
        if offered and not request.calls_answered:
            yield PreflightIssue("warning", "tools_not_run", TOOLS_NOT_RUN, _TOOLS)
        return
    for name in sorted(request.job_tools - offered) if files else ():
        message = f"Tool '{name}' is registered with the job, but no row offers it to the model."
        yield PreflightIssue("warning", "unused_tool", message, _TOOLS)


def _dropped_thoughts(
    request: InspectionRequest, renderer: Renderer | None
) -> Iterator[PreflightIssue]:
    if renderer is None or request.method != "reinforcement":
        return
    answers = {"tool"} if request.job_tools or request.shared_tools else set[str]()
    answers |= {"tool", "user"} if request.calls_answered else set()
    roles = [role for role in renderer.drops_thoughts_after if role in answers]
    if roles:
        message = (
            "The model's chat template leaves out the thoughts of earlier turns behind messages of "
            f"the role {' and '.join(map(repr, roles))}. A rollout is sampled and trained as a "
            "chat renders it, so the turn after such a message begins a row of its own: long "
            "rollouts cost more to train."
        )
        yield PreflightIssue("warning", "thoughts_dropped", message, "model")


GRADER_PARAM: Final = "method.reinforcement.grader"


def auto_of(body: dict[str, Any]) -> AutoGrader | None:
    sent = reinforcement_of(method_of(body)).get("grader")
    if not isinstance(sent, dict) or sent.get("type") != AUTO:
        return None
    try:
        return AutoGrader.model_validate(sent)
    except ValidationError:
        return None


def with_grader(body: dict[str, Any], choice: GraderChoice) -> dict[str, Any]:
    inner = {**reinforcement_of(method_of(body)), "grader": choice.grader}
    return {**body, "method": {**body["method"], "reinforcement": inner}}


def choice_warnings(choice: GraderChoice) -> list[PreflightIssue]:
    if choice.warning is None:
        return []
    return [PreflightIssue("warning", "unused_judge", choice.warning, f"{GRADER_PARAM}.model")]


def choose_from_files(
    training: Path, validation: Path | None, auto: AutoGrader, response_format: Any
) -> GraderChoice:
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
