"""Scores a text that is JSON, and valid by a schema, with 1, and any other with 0."""

from typing import Any, Final, Literal

from pydantic import Field
from typing_extensions import override

from app.graders.grader_model import ANSWER, Flag, TemplateText, UnitGrader
from app.graders.json_schemas import JsonSchemaFault, TooMuchWork, check_schema, schema_fault
from app.graders.scorer import GradingPorts, Scorer, ScoreResult, unusable_grader
from app.graders.text_scorer import TextScorer, unreadable
from app.graders.texts import FENCE, check_fences, fenced_blocks
from app.kit.fields import pointer
from app.kit.strict_json import TooManyValues, strict_loads


class JsonValidGrader(UnitGrader):
    """1 when the text is JSON, and valid by the schema if there is one, else 0."""

    type: Literal["json_valid"]
    name: str = Field(default="json_valid", min_length=1, max_length=256)
    input: TemplateText = ANSWER
    """Template of the text."""
    json_schema: dict[str, Any] | None = None
    """JSON Schema (2020-12) of the value; its `$ref` must refer to parts of itself, because nothing
    is fetched.
    """
    fenced: Flag = False
    """True: the JSON may be in the only Markdown block of the text instead."""

    @property
    @override
    def compiled_field(self) -> str | None:
        return None if self.json_schema is None else "json_schema"

    @override
    def check_compiled(self) -> None:
        if self.json_schema is not None:
            check_schema(self.json_schema)

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        return JsonValidScorer(self, [self.input], source=source)


_SHOWN: Final = 200


class JsonValidScorer(TextScorer[JsonValidGrader]):
    @override
    def compute(self, texts: list[str]) -> ScoreResult:
        (text,) = texts
        try:
            value = _fenced_loads(text) if self._spec.fenced else strict_loads(text)
        except RecursionError:
            return _result(parsed=False, valid=False, reason="the JSON is nested too deeply")
        except TooManyValues as many:
            return unreadable(str(many))
        except ValueError as error:
            return _result(parsed=False, valid=False, reason=f"it is not JSON: {error}")
        if self._spec.json_schema is None:
            return _result(parsed=True, valid=True, reason="it is valid")
        try:
            fault = schema_fault(self._spec.json_schema, value)
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
