"""Scores a text that is JSON, and valid by a schema, with 1, and any other with 0."""

from typing import Any, Final

from typing_extensions import override

from app.graders.json_schemas import JsonSchemaFault, TooMuchWork, schema_fault
from app.graders.scorer import ScoreResult, unusable_grader
from app.graders.text_definitions import JsonValidGrader
from app.graders.text_scorer import TextScorer, unreadable
from app.graders.texts import FENCE, check_fences, fenced_blocks
from app.kit.fields import pointer
from app.kit.strict_json import TooManyValues, strict_loads

_SHOWN: Final = 200


class JsonValidScorer(TextScorer):
    def __init__(self, spec: JsonValidGrader, *, source: str) -> None:
        super().__init__([spec.input], source=source)
        self._fenced = spec.fenced
        self._schema = spec.json_schema

    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        try:
            value = _fenced_loads(text) if self._fenced else strict_loads(text)
        except RecursionError:
            return _result(parsed=False, valid=False, reason="the JSON is nested too deeply")
        except TooManyValues as many:
            return unreadable(str(many))
        except ValueError as error:
            return _result(parsed=False, valid=False, reason=f"it is not JSON: {error}")
        if self._schema is None:
            return _result(parsed=True, valid=True, reason="it is valid")
        try:
            fault = schema_fault(self._schema, value)
        except RecursionError:
            fault = (), "it is nested too deeply to be compared with the schema"
        except JsonSchemaFault as refused:
            raise unusable_grader(str(refused), source=self._source) from None
        except TooMuchWork as much:
            return unreadable(str(much))
        reason = "it is valid" if fault is None else f"at '{pointer(fault[0])}': {fault[1]}"
        return _result(parsed=True, valid=fault is None, reason=reason)


def _fenced_loads(text: str) -> Any:
    """Parses a text, or else its one Markdown block. Raises as `strict_loads` does.

    Strings of the JSON may contain fences: therefore the whole text is tried first, and a block may
    extend to the last fence.
    """
    try:
        return strict_loads(text)
    except ValueError:
        check_fences(text)
        first = next(iter(fenced_blocks(text)), None)
        if first is None:
            raise
    end = text.rfind(FENCE)
    try:
        return strict_loads(text[text.index("\n", text.index(FENCE)) : end])
    except ValueError:
        if len(fenced_blocks(text)) > 1:
            raise
    return strict_loads(first.text)


def _result(*, parsed: bool, valid: bool, reason: str) -> ScoreResult:
    return ScoreResult(
        float(parsed and valid),
        sub_scores={"parsed": float(parsed), "valid": float(valid)},
        reason=reason[:_SHOWN],
    )
