"""The graders' part of the `metrics` event: means over graded rollouts, errors over all."""

from typing import Any, Final

from app.graders.grader_model import JudgedGrader
from app.graders.kinds import SINGLE_MODELS
from app.rollouts import metrics as names

Values = dict[str, float]
_JUDGED: Final = frozenset(
    kind for kind, model in SINGLE_MODELS.items() if issubclass(model, JudgedGrader)
)


def identities(grader: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    if grader.get("type") == "multi":
        children = grader.get("graders") or {}
        return [(name, _identity(name, child)) for name, child in children.items()]
    return [("", _identity(grader.get("name"), grader))]


def _identity(name: Any, grader: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "type": grader.get("type"), "model": grader.get("model")}


def usage(grader: dict[str, Any], train: Values, valid: Values) -> list[dict[str, Any]]:
    return [{**identity, **_tokens(child, train, valid)} for child, identity in identities(grader)]


def _tokens(child: str, train: Values, valid: Values) -> Values:
    tokens: Values = {}
    for split, values in (("train", train), ("valid", valid)):
        for kind in ("prompt", "completion"):
            mean = values.get(names.grader_metric(child, f"{kind}_tokens_mean"))
            if mean is not None:
                tokens[f"{split}_{kind}_tokens_mean"] = mean
                tokens[f"{split}_{kind}_tokens_count"] = values.get(
                    names.grader_metric(child, "measured"), 0.0
                )
    return tokens


def usage_by_model(grader: dict[str, Any], train: Values, valid: Values) -> dict[str, Values]:
    """Returns the tokens that a step used, summed by model; two graders may use the same one."""
    models: dict[str, Values] = {}
    for child, identity in identities(grader):
        for split, values in (("train", train), ("eval", valid)):
            for kind in ("cached", "prompt", "completion"):
                count = values.get(names.grader_metric(child, f"{kind}_tokens"))
                if identity["model"] is not None and count is not None:
                    model = models.setdefault(str(identity["model"]), {})
                    key = f"{split}_{kind}_tokens"
                    model[key] = model.get(key, 0.0) + count
    return models


def errors(grader: dict[str, Any], train: Values, valid: Values) -> list[dict[str, Any]]:
    return [
        each
        | _errors(child, each["type"], "train", train)
        | _errors(child, each["type"], "valid", valid)
        for child, each in identities(grader)
    ]


def _errors(child: str, kind: str, split: str, values: Values) -> Values:
    tried = values.get(names.ROLLOUTS_VALID, 0.0) + values.get(names.DISCARDED_COUNT, 0.0)
    if not tried:
        return {}
    lost = _lost(child, values)
    judged = names.ANSWER_FLAGS if kind in _JUDGED else ()
    counts = {
        flag: values.get(names.grader_metric(child, f"errors/{flag}"), 0.0)
        for flag in ("other_error", "invalid_variable_error", *judged)
    }
    if judged:
        counts["model_grader_server_error"] = max(0.0, lost - sum(counts[flag] for flag in judged))
    else:
        counts["other_error"] += lost
    entry = {f"{split}_{flag}_count": count for flag, count in counts.items()}
    entry.update({f"{split}_{flag}_mean": count / tried for flag, count in counts.items()})
    parse_error = values.get(names.TOOL_PARSE_ERRORS_MEAN, 0.0)
    graded = values.get(names.ROLLOUTS_VALID, 0.0)
    entry[f"{split}_sample_parse_error_count"] = parse_error * graded
    entry[f"{split}_sample_parse_error_mean"] = parse_error
    return entry


def _lost(child: str, values: Values) -> float:
    if child:
        return values.get(names.grader_metric(child, "discarded"), 0.0)
    return sum(
        value
        for name, value in values.items()
        if (names.discarded_class(name) or "").startswith("grader_")
    )


def formula_errors(train: Values, valid: Values) -> Values:
    counted: Values = {}
    for split, values in (("train", train), ("valid", valid)):
        graded = values.get(names.ROLLOUTS_VALID, 0.0)
        if graded:
            count = values.get(names.grader_metric("", "errors/formula_parse_error"), 0.0)
            counted[f"{split}_formula_parse_error_count"] = count
            counted[f"{split}_formula_parse_error_mean"] = count / graded
    return counted


def scores(grader: dict[str, Any], train: Values, valid: Values) -> list[dict[str, Any]]:
    return [
        {**identity, "train_reward_mean": train.get(name), "valid_reward_mean": valid.get(name)}
        for child, identity in identities(grader)
        for name in (names.component_metric(child) if child else names.REWARD_MEAN,)
    ]


def timing(grader: dict[str, Any], train: Values, valid: Values) -> list[dict[str, Any]]:
    return [
        {
            **identity,
            "train_execution_latency_mean": train.get(names.grader_metric(child, "latency_s_mean")),
            "valid_execution_latency_mean": valid.get(names.grader_metric(child, "latency_s_mean")),
        }
        for child, identity in identities(grader)
    ]
