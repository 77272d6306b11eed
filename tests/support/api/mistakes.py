"""Mistakes of a create call that is valid otherwise, in a table for each place that tells them.

| table | who tells it first |
| `REFUSED`, `LOOKED_UP` | create refuses it |
| `NAMED` | create warns of it |
| `ROWS` | `validate`, and the check of the job's files |
| `BASELINE` | the base model's validation |
"""

from copy import deepcopy
from typing import Any

from tests.support.api.application import ENDPOINT

ROOT = "method.reinforcement"
HYPER = f"{ROOT}.hyperparameters"
CHECK = {
    "type": "string_check",
    "input": "{{sample.output_text}}",
    "reference": "x",
    "operation": "eq",
}
CALLS = {"type": "tool_call", "reference": '{"name": "search", "arguments": {}}'}
SIMILAR = {"type": "text_similarity", "input": "{{sample.output_text}}",
           "reference": "{{item.answer}}", "evaluation_metric": "fuzzy_match"}  # fmt: skip
RULER = {"type": "ai_judge", "model": "tiny-agent"}
LENGTH = {"type": "length_bounds", "input": "a", "max": 5}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
WRAPPED = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}


TOOL = {"name": "search", "server_url": ENDPOINT}
SERVED = {**TOOL, "server_label": "records"}
SERVER = {"server_label": "records", "server_url": ENDPOINT}
MANY = {f"X-Key-{number}": f"key-{number:02}-0123456789abcdef" for number in range(33)}


def altered(body: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The call with each value at its dotted path."""
    copied = deepcopy(body)
    for path, value in changes.items():
        *holders, last = path.split(".")
        inner = copied
        for name in holders:
            inner = inner.setdefault(name, {})
        inner[last] = value
    return copied


def grading(**changes: Any) -> dict[str, Any]:
    return {f"{ROOT}.grader": {**CHECK, **changes}}


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({f"{HYPER}.epochs": 3}, f"{HYPER}.epochs", "Did you mean 'n_epochs'"),
    ({f"{HYPER}.n_epoch": 1}, f"{HYPER}.n_epoch", "Did you mean 'n_epochs'"),
    ({f"{HYPER}.learning_rate": 1e-5}, f"{HYPER}.learning_rate",
     "Did you mean 'learning_rate_multiplier'"),
    ({f"{HYPER}.temperature": 0.7}, f"{HYPER}.temperature", "Unknown parameter"),
    ({f"{HYPER}.n_epochs": "3"}, f"{HYPER}.n_epochs", "it must be a number"),
    ({f"{ROOT}.max_episode_steps": "10"}, f"{ROOT}.max_episode_steps", "it must be a number"),
    ({f"{ROOT}.max_episode_steps": True}, f"{ROOT}.max_episode_steps", "it must be a number"),
    ({f"{ROOT}.tool": []}, f"{ROOT}.tool", "Did you mean 'tools'"),
    ({"method.supervised": {}}, "method.supervised",
     "is not read, because 'method.type' is 'reinforcement'"),
    ({"method.type": "supervised"}, ROOT, "send the type 'reinforcement'"),
    ({"rubrics": "be kind"}, "rubrics", "a rubric is part of an 'ai_judge' or 'llm_judge' grader"),
    ({f"{ROOT}.grader": {"type": "llm_judge", "model": "tiny-agent", "rubrics": [{"name": "a"}]}},
     f"{ROOT}.grader.rubrics", "Did you mean 'rubric'"),
    ({"metadatas": {"a": "b"}}, "metadatas", "Did you mean 'metadata'"),
    (grading(input="{sample.output_text}"), f"{ROOT}.grader.input",
     "has single braces and is plain text: write '{{sample.output_text}}'"),
    (grading(reference="{% if item.answer %}{{item.answer}}{% endif %}"),
     f"{ROOT}.grader.reference", "'{% if item.answer %}' is plain text: there are no statements"),
    ({f"{ROOT}.grader": {"type": "llm_judge", "model": "tiny-agent", "question": "{# x #}"}},
     f"{ROOT}.grader.question", "'{# x #}' is plain text"),
    (grading(input="{{smple.output_text}}"), f"{ROOT}.grader.input",
     "a path starts with 'item' or 'sample'"),
    (grading(input="{{sample.output_txt}}"), f"{ROOT}.grader.input",
     "did you mean 'sample.output_text'"),
    (grading(input="{{sample.output_text.x}}"), f"{ROOT}.grader.input", "is a text"),
    (grading(input="{{sample.output_tools.name}}"), f"{ROOT}.grader.input",
     "write 'sample.output_tools[0]'"),
    (grading(input="{{sample.output_tools[0].name}}"), f"{ROOT}.grader.input",
     "write 'function.name' in place of 'name'"),
    (grading(input="{{sample.output_tools[0].functoin.name}}"), f"{ROOT}.grader.input",
     "did you mean 'function'?"),
    (grading(input="{{sample.output_tools[0].function.argument}}"), f"{ROOT}.grader.input",
     "did you mean 'function.arguments'?"),
    (grading(input="{{sample.output_json.x}}"), f"{ROOT}.grader.input",
     "is there only with 'response_format'"),
    (grading(input="{{sample.tool_calls.name}}"), f"{ROOT}.grader.input",
     "write 'sample.tool_calls[0]'"),
    (grading(input="{{sample.tool_calls[0].outputs}}"), f"{ROOT}.grader.input",
     "names no part of an entry of 'sample.tool_calls': did you mean 'output'?"),
    (grading(input="{{sample.turns[1].text}}"), f"{ROOT}.grader.input",
     "it has content, finish_reason, parse_error, tool_calls, completion_tokens"),
    (grading(input="{{sample.stop_reason.x}}"), f"{ROOT}.grader.input", "is a text"),
    (grading(input="{{sample.choices[0].message.contents}}"), f"{ROOT}.grader.input",
     "did you mean 'message.content'?"),
    (grading(input="{{sample.choices[3].message.content}}"), f"{ROOT}.grader.input",
     "a sample has one choice"),
    (grading(input="{{sample.tool_calls[0].arguments.city}}"), f"{ROOT}.grader.input",
     "use 'arguments_json'"),
    (grading(input="{{sample.turns[0].tool_calls[0]}}"), f"{ROOT}.grader.input",
     "is a number: use 'sample.tool_calls'"),
    (grading(pass_threshold=9), f"{ROOT}.grader.pass_threshold", "are from 0 to 1"),
    ({f"{ROOT}.grader": {"type": "contains", "needles": [""]}}, f"{ROOT}.grader.needles[0]",
     "never found"),
    ({f"{ROOT}.grader": {"type": "multi", "graders": [CHECK], "calculate_output": "a"}},
     f"{ROOT}.grader.graders", "a map of name to grader"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a",
                         "graders": {"a": {**CHECK, "reference": "{item.a}"}}}},
     f"{ROOT}.grader.graders.a.reference", "write '{{item.a}}'"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "agreement", "graders": {
        "a": RULER, "b": RULER, "agreement": CHECK}}}, f"{ROOT}.grader.graders",
     "is the part that several 'ai_judge' graders add"),
    ({f"{ROOT}.grader": {**SIMILAR, "reference": "x" * 92_682}}, f"{ROOT}.grader.reference",
     "a text is longer than 92681 characters"),
    ({f"{ROOT}.grader": {"type": "exact_matches"}}, f"{ROOT}.grader.type", "ai_judge, endpoint"),
    ({f"{ROOT}.grader": {"type": "exact_matches"}}, f"{ROOT}.grader.type", "multi, auto."),
    ({"curriculum": 5, "training_file": None, "validation_file": None}, "curriculum",
     "it must be a text or an object"),
    ({f"{ROOT}.response_format": SCHEMA}, f"{ROOT}.response_format", "a bare JSON schema"),
    ({f"{ROOT}.response_format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
     f"{ROOT}.response_format", "the form of the Responses API"),
    ({f"{ROOT}.response_format": {"a": 1}}, f"{ROOT}.response_format.type",
     "one of text, json_object, json_schema"),
    ({f"{ROOT}.response_format": {**WRAPPED, "json_schema": {"name": "n", "schema": {
        "type": "objekt"}}}}, f"{ROOT}.response_format.json_schema.schema.type",
     "it is not a JSON schema"),
    ({"model": "gpt-9"}, "model", "is not available for fine-tuning or does not exist"),
    ({"model": "gpt-9"}, "model", "Base models here: tiny-agent, tiny-agent-"),
    ({"seed": -1}, "seed", "at least 0"),
    ({"metadata": {"a": 1}}, "metadata.a", "it must be a text"),
    ({f"{ROOT}.tools": [TOOL, TOOL]}, f"{ROOT}.tools", "Tool 'search' is registered twice"),
    ({f"{ROOT}.tools": [{**TOOL, "headers": {"Host": "a"}}]}, f"{ROOT}.tools[0].headers",
     "the header 'host' is set by the service"),
    ({f"{ROOT}.tools": [{**TOOL, "headers": {"X-A": "a\nb"}}]}, f"{ROOT}.tools[0].headers",
     "contains a control character"),
    ({f"{ROOT}.tools": [{**TOOL, "headers": MANY}]}, f"{ROOT}.tools[0].headers",
     "more than 32 different credentials"),
    ({f"{ROOT}.tools": [{**TOOL, "headers": {"X-A": "[redacted]"}}]}, f"{ROOT}.tools[0].headers",
     "The header 'X-A' reads '[redacted]'"),
    ({f"{ROOT}.tools": [{**TOOL, "rate_limit": 0}]}, f"{ROOT}.tools[0].rate_limit", "above 0"),
    ({f"{ROOT}.tools": [{**TOOL, "server_label": "1st"}]}, f"{ROOT}.tools[0].server_label",
     "a letter first"),
    ({f"{ROOT}.tools": [SERVED, {**SERVED, "name": "b", "server_url": f"{ENDPOINT}/b"}]},
     f"{ROOT}.tools[1]", "give one of the servers another 'server_label'"),
    ({f"{ROOT}.tools": [{**TOOL, "server_url": "ftp://tools.example/"}]},
     f"{ROOT}.tools[0].server_url", "must be http(s)://host"),
    ({f"{ROOT}.mcp_servers": [{**SERVER, "headers": {"Cookie": "a"}}]},
     f"{ROOT}.mcp_servers[0].headers", "the header 'cookie' is set by the service"),
    ({f"{ROOT}.mcp_servers": [SERVER, SERVER]}, f"{ROOT}.mcp_servers[1].server_label",
     "another MCP server of the job"),
    ({f"{ROOT}.grader": {"type": "endpoint", "url": ENDPOINT, "headers": {"Webhook-Id": "a"}}},
     f"{ROOT}.grader.headers", "the header 'webhook-id' is set by the service"),
    ({f"{ROOT}.grader": {"type": "endpoint", "url": "https://a@tools.example/"}},
     f"{ROOT}.grader.url", "without user name"),
    ({f"{ROOT}.grader": {"type": "python", "source": "def grade("}}, f"{ROOT}.grader.source",
     "was never closed"),
    ({f"{ROOT}.environment": "aritmetic", "training_file": None, "validation_file": None},
     f"{ROOT}.environment", "did you mean 'arithmetic'?"),
    ({"curriculum": {"training": [{}]}, "training_file": None, "validation_file": None},
     "curriculum.validation", "has no validation rows"),
]  # fmt: skip

LOOKED_UP: list[tuple[dict[str, Any], str]] = [
    ({"model": "ft:tiny-agent-2026-11-23:o::00000000"}, "model"),
    ({"training_file": "file-none"}, "training_file"),
    ({"validation_file": "file-none"}, "validation_file"),
    ({"curriculum": "curr_none", "training_file": None, "validation_file": None}, "curriculum"),
    ({f"{ROOT}.tools": [{"id": "tool_none"}]}, f"{ROOT}.tools[0].id"),
    ({f"{ROOT}.grader": {"id": "grader_none"}}, f"{ROOT}.grader.id"),
    ({f"{ROOT}.tools": [], f"{ROOT}.environment": {"id": "env_none"}}, f"{ROOT}.environment.id"),
    ({f"{ROOT}.tools": [], f"{ROOT}.environment": "nowhere"}, f"{ROOT}.environment"),
    ({f"{ROOT}.tools": [{**TOOL, "server_url": "https://10.0.0.1/"}]},
     f"{ROOT}.tools[0].server_url"),
    ({f"{ROOT}.mcp_servers": [{**SERVER, "server_url": "https://10.0.0.1/"}]},
     f"{ROOT}.mcp_servers[0].server_url"),
    ({f"{ROOT}.grader": {**RULER, "model": "nobody"}}, f"{ROOT}.grader.model"),
    ({f"{ROOT}.grader": {**SIMILAR, "evaluation_metric": "cosine"}},
     f"{ROOT}.grader.evaluation_metric"),
]  # fmt: skip
"""Mistakes that only a service can find."""

NAMED: list[tuple[dict[str, Any], str, str, str]] = [
    ({"epochs": 3}, "epochs", "unknown_parameter", f"(did you mean '{HYPER}.n_epochs'?)"),
    ({"sufix": "a"}, "sufix", "unknown_parameter", "(did you mean 'suffix'?)"),
    ({"method.n_epochs": 3}, "method.n_epochs", "unknown_parameter", f"'{HYPER}.n_epochs'"),
    ({"zzz": 1}, "zzz", "unknown_parameter", "change nothing: 'zzz'"),
    ({f"{ROOT}.max_steps": 3}, f"{ROOT}.max_steps", "unknown_parameter",
     "(did you mean 'max_episode_steps'?)"),
    ({f"{ROOT}.steps": 3}, f"{ROOT}.steps", "unknown_parameter",
     "(did you mean 'max_episode_steps'?)"),
    (grading(refrence="y"), f"{ROOT}.grader.refrence", "unknown_parameter",
     "(did you mean 'reference'?)"),
    ({f"{HYPER}.beta": 0.1}, f"{HYPER}.beta", "unknown_parameter", "change nothing"),
    ({f"{ROOT}.response_format": WRAPPED}, f"{ROOT}.response_format",
     "response_format_not_enforced", "is not enforced"),
    ({"integrations": [{"type": "mlflow", "mlflow": {"uri": "https://m.example"}}]},
     "integrations[0].mlflow.uri", "unknown_parameter", "(did you mean 'tracking_uri'?)"),
    ({"integrations": [{"type": "tensorboard", "tensorboard": {"traces": 3}}]},
     "integrations[0].tensorboard.traces", "unknown_parameter",
     "(did you mean 'traces_per_step'?)"),
    ({"integrations": [{"type": "wandb", "wandb": {"project": "p", "tag": "a"}}]},
     "integrations[0].wandb.tag", "unknown_parameter", "(did you mean 'tags'?)"),
    (grading(input="a"), f"{ROOT}.grader", "constant_grader", "reads nothing of a sample"),
    (grading(input="{{item.messages}}"), f"{ROOT}.grader", "constant_grader", "earn the same"),
    ({f"{ROOT}.grader": {**CALLS, "source": "text", "input": "a"}}, f"{ROOT}.grader",
     "constant_grader", "reads nothing of a sample"),
    ({f"{ROOT}.grader": {**LENGTH, "unit": "words"}}, f"{ROOT}.grader", "constant_grader",
     "reads nothing of a sample"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "0.5 * a", "graders": {
        "a": {**CHECK, "input": "a"}, "b": CHECK}}}, f"{ROOT}.grader", "constant_grader",
     "reads nothing of a sample"),
    ({f"{ROOT}.grader": RULER, f"{HYPER}.eval_samples": 2}, f"{ROOT}.grader", "judged_apart",
     "base and tuned model in groups of their own"),
    ({f"{ROOT}.grader": RULER}, f"{ROOT}.grader", "judged_apart",
     "groups of one where"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a * b", "graders": {
        "a": CHECK, "b": RULER}}, f"{HYPER}.eval_samples": 1}, f"{ROOT}.grader.graders.b",
     "judged_apart", "'method.reinforcement.hyperparameters.eval_samples' is 1"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": CHECK, "b": CHECK}}}, f"{ROOT}.grader.graders.b", "unused_grader",
     "'calculate_output' does not use it"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"target": {"value": 7}}},
     f"{ROOT}.stop.target.value", "unused_option", "the scores of the grader are from 0 to 1"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"target": {"value": 0}}},
     f"{ROOT}.stop.target.value", "unused_option", "send a number above the lowest"),
    ({f"{ROOT}.grader": CHECK, f"{ROOT}.stop": {"gap": {"threshold": 2}}},
     f"{ROOT}.stop.gap.threshold", "unused_option", "never differ by that much"),
    ({f"{HYPER}.learning_rate_multiplier": 1e-300}, f"{HYPER}.learning_rate_multiplier",
     "tiny_learning_rate", "' of 1e-300 makes steps so small"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": {**CHECK, "pass_threshold": 0.5}}}}, f"{ROOT}.grader.graders.a.pass_threshold",
     "unused_option", "passes or fails as a whole"),
]  # fmt: skip
"""Mistakes that a warning and an event name."""

QUESTION = {"messages": [{"role": "user", "content": "q"}]}
NAMES = [f"a{number:02}" for number in range(11)]
ROWS: list[tuple[dict[str, Any], list[dict[str, Any]], str, str, str]] = [
    (grading(reference="{{item.zzz}}"), [{**QUESTION, "answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.reference", "no row of the training file has it. The rows have answer"),
    (grading(reference="{{item.zzz}}"), [{**QUESTION, **dict.fromkeys(NAMES, "a")}] * 10, "errors",
     f"{ROOT}.grader.reference", f"The rows have {', '.join(NAMES[:10])}."),
    ({f"{ROOT}.grader": {"type": "contains", "needles": ["a", "{{item.zzz}}"]}},
     [{**QUESTION, "answer": "a"}] * 10, "errors", f"{ROOT}.grader.needles[1]",
     "no row of the training file has it. The rows have answer"),
    (grading(reference="{{item.answer}}"), [{**QUESTION, "reference_answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.reference", "Did you mean 'item.reference_answer'?"),
    ({f"{ROOT}.grader": {"type": "code_execution"}}, [{**QUESTION, "answer": "a"}] * 10, "errors",
     f"{ROOT}.grader.tests", "no row of the validation file has it. The rows have answer"),
    ({f"{ROOT}.grader": {"type": "code_execution"}}, [{**QUESTION, "tests": [1]}] * 10, "errors",
     f"{ROOT}.grader.tests", "is read as tests of a program, and 10 of 10 rows of the training"),
    ({f"{ROOT}.grader": {"type": "code_execution", "function": "{{item.f}}"}},
     [{**QUESTION, "tests": [{"arguments": [], "expected": 1}], "f": "a b"}] * 10, "errors",
     f"{ROOT}.grader.function", "is not the name of a function. No answer to such a row"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a", "graders": {
        "a": {**CALLS, "reference": "{{item.calls}}"}}}},
     [{**QUESTION, "calls": []}] * 9 + [{**QUESTION, "calls": "search"}], "errors",
     f"{ROOT}.grader.graders.a.reference",
     "can be used (lines 10): 'reference' is not a JSON list"),
    ({f"{ROOT}.grader": SIMILAR}, [{**QUESTION, "answer": "x" * 92_682}] + [
        {**QUESTION, "answer": "x"}] * 9, "errors", f"{ROOT}.grader.reference",
     "(lines 1): a text is longer than 92681 characters"),
    ({f"{ROOT}.grader": {"type": "exact_match", "reference": "{{item.answer}}"}},
     [{**QUESTION, "answer": "a" + "\u0301" * 31}] * 10, "errors", f"{ROOT}.grader.reference",
     "a text has more than 30 combining marks in a row"),
    *((grading(reference="{{ item.answer }}"),
       [{**QUESTION, "answer": "a"}] * 9 + [{**QUESTION, "answer": nothing}], "errors",
       f"{ROOT}.grader.reference", "1 of 10 rows of the training file lack it (lines 10)")
      for nothing in (None, " ", "NaN")),
    *(({f"{ROOT}.grader": {"type": "python", "source": "def grade(sample, item):\n    return 1"}},
       [{**QUESTION, "answer": nothing}] + [{**QUESTION, "answer": "a"}] * 9, "warnings",
       "training_file", ("'answer' is null, NaN or blank in 1 of 10 rows of the training file "
       "(lines 1)"))
      for nothing in (None, "", "NaN")),
    (grading(reference="{{item.a[1]}}"), [{**QUESTION, "a": [1, 2]}] * 9 + [{**QUESTION, "a": []}],
     "errors", f"{ROOT}.grader.reference", "1 of 10 rows of the training file lack it (lines 10)"),
    ({f"{HYPER}.batch_size": 64}, [QUESTION] * 10, "warnings", f"{HYPER}.batch_size",
     "batch_size 64 is over the 10 rows of the training file: each step takes all 10 of them"),
    ({}, [QUESTION] * 10, "warnings", "validation_file", "are in the training file too"),
    ({f"{HYPER}.eval_interval": 99, f"{HYPER}.n_epochs": 3, f"{HYPER}.batch_size": 5},
     [QUESTION] * 10, "warnings", f"{HYPER}.eval_interval",
     "eval_interval 99 is over the 6 steps of the job"),
    ({}, [{"input": "q"}] * 10, "errors", "training_file", "must be a list"),
]  # fmt: skip
"""Mistakes that the rows of a file show, to `validate` and to the check of the job's files."""

NO_TOOLS: dict[str, Any] = {f"{ROOT}.tools": []}
BASELINE: list[tuple[dict[str, Any], list[float], str]] = [
    ({**NO_TOOLS, **grading(input="{{sample.tool_calls[0].output}}")}, [0, 1],
     f"so that nothing shows in '{ROOT}.grader'. The job runs calls with"),
    ({**NO_TOOLS, f"{ROOT}.grader": {**CALLS, "source": "rollout"}}, [0, 1],
     f"so that nothing shows in '{ROOT}.grader'"),
    (grading(input="{{sample.output_tools[0].function.name}}"), [0, 1],
     f"so that nothing shows in '{ROOT}.grader'"),
    ({f"{ROOT}.grader": {**CALLS, "source": "last_turn"}}, [0, 1],
     f"so that nothing shows in '{ROOT}.grader'"),
    ({}, [0, 1], "None of the 64 validation rollouts of the base model called a tool of the job."),
    ({**NO_TOOLS, f"{ROOT}.max_episode_steps": 4}, [0, 1],
     f"so that nothing shows in '{ROOT}.max_episode_steps'"),
    ({**NO_TOOLS, f"{ROOT}.objective": {"call_budget": 0}}, [0, 1],
     f"so that nothing shows in '{ROOT}.objective.call_budget'"),
    ({**NO_TOOLS, f"{ROOT}.objective": {"repeated_call_penalty": 0.1}}, [0, 1],
     f"so that nothing shows in '{ROOT}.objective.repeated_call_penalty'"),
    ({f"{ROOT}.stop": {"parse_errors": {"action": "pause"}}}, [0, 1],
     f"so that nothing shows in '{ROOT}.stop.parse_errors'"),
    ({f"{ROOT}.objective": {"call_budget_penalty": 0.1}}, [0, 1],
     "'call_budget_penalty' (it takes a budget and a penalty)"),
    ({f"{ROOT}.objective": {"token_penalty": 0, "token_budget": 9}}, [0, 1],
     "'token_budget' (the 'token_penalty' is 0)"),
    ({f"{ROOT}.objective": {"overlong": {"limit": 10**6, "buffer": 9}}}, [0, 1],
     "'overlong' (at most 2 tokens)"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "a + b", "graders": {
        "a": CHECK, "b": CHECK}}}, [0, 1], "The part 'b' of the grader gave 0, its worst, to"),
    ({f"{ROOT}.grader": {"type": "multi", "calculate_output": "0 * a", "graders": {"a": CHECK}}},
     [0], "All 64 validation rollouts of the base model earned 0"),
    ({f"{ROOT}.grader": {**RULER, "type": "label_model", "input": [
        {"role": "user", "content": "{{sample.output_text}}"}], "labels": ["good", "bad"],
        "passing_labels": ["bad", "good"]}}, [1],
     "All 64 validation rollouts of the base model earned 1, the highest score of the grader"),
]  # fmt: skip
"""Mistakes that the base model's validation shows, with the rewards in it."""
