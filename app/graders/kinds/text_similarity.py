"""Similarity of two texts, 0…1, by the metrics of the hosted grader.

The hosted guide leaves these choices open:
- `fuzzy_match`: rapidfuzz `ratio` (normalised indel similarity of characters, case-sensitive).
- `bleu`: sentence BLEU as sacrebleu computes it by default (exponential smoothing, effective order:
  a text of three words has no 4-grams to miss), words split at white space.
- `gleu`: NLTK sentence GLEU, 1- to 4-grams, words split at white space.
- `meteor`: NLTK METEOR with its exact and stem stages; the synonym stage has no synonyms, because
  the WordNet corpus is not shipped. Texts that match by synonyms only score lower than hosted.
- `cosine`: of the embeddings of both texts; a negative one scores 0, and so does a blank text.
- `rouge_1` … `rouge_5`, `rouge_l`: F1 as of rouge-score without stemming, over words of any script.
"""

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError
from typing_extensions import override

from app.graders.embeddings import EmbeddingFault, Embeddings
from app.graders.grader_model import RowRule, TemplateText, UnitGrader
from app.graders.scorer import (
    GradeRequest,
    GraderErrors,
    GradingPorts,
    Scorer,
    ScoreResult,
    TokenUsage,
    run_on_scoring_thread,
    server_fault,
)
from app.graders.templates import (
    Unrenderable,
    parse_template,
    render_all,
    too_long,
    unusable_text_fault,
)
from app.graders.texts import LocalScorer, words
from app.kit.endpoints import FaultKind
from app.kit.fields import EmbeddingMark

COSINE: Final = "cosine"

MAX_COMPARED: Final = 262_144

MAX_PRODUCT: Final = 2**33
"""Product of the lengths of both texts for `fuzzy_match`, whose time it bounds: about a second."""

MAX_FUZZY: Final = math.isqrt(MAX_PRODUCT)

MAX_EMBEDDED: Final = 32_768
"""Largest number of characters of each text for `cosine`, about the context of embedding models."""

# fmt: off
SimilarityMetric = Literal[
    "fuzzy_match", "bleu", "gleu", "meteor", "cosine",
    "rouge_1", "rouge_2", "rouge_3", "rouge_4", "rouge_5", "rouge_l",
]
# fmt: on
_OF_NLTK: Final = frozenset({"bleu", "gleu", "meteor"})


class TextSimilarityGrader(UnitGrader):
    """The similarity of two texts, from 0 to 1."""

    required_in_evals: ClassVar[tuple[str, ...]] = ("pass_threshold",)

    type: Literal["text_similarity"]
    name: str = Field(default="text_similarity", min_length=1, max_length=256)
    input: TemplateText
    """Template of the text that is compared, such as `{{sample.output_text}}`."""
    reference: TemplateText
    """Template of the text that it is compared with."""
    evaluation_metric: Annotated[SimilarityMetric, EmbeddingMark(COSINE)]
    """The measure of similarity; `cosine` needs the operator's embedding endpoint."""

    @field_validator("reference")
    @classmethod
    def _is_a_text(cls, reference: str) -> str:
        if not reference.strip():
            fault = "it is blank, so that there is nothing to compare with"
            raise PydanticCustomError("grader_error", "{fault}", {"fault": fault})
        return reference

    @field_validator("evaluation_metric")
    @classmethod
    def _is_installed(cls, metric: SimilarityMetric) -> SimilarityMetric:
        if metric in _OF_NLTK and find_spec("nltk") is None:
            raise ValueError(
                f"'{metric}' is not installed here: the operator adds it with "
                "pip install 'agent-rft[texts]'"
            )
        return metric

    @property
    def longest(self) -> tuple[int, int]:
        """Most characters of an answer, which scores 0 beyond, and of a row, which is a fault."""
        match self.evaluation_metric:
            case "cosine":
                return MAX_EMBEDDED, MAX_EMBEDDED
            case "fuzzy_match":
                return MAX_COMPARED, MAX_FUZZY
            case _:
                return MAX_COMPARED, MAX_COMPARED

    @property
    @override
    def row_rules(self) -> Mapping[str, RowRule]:
        _, most = self.longest
        rule = RowRule("a text to compare with", partial(_length_fault, most))
        return {"input": rule, "reference": rule}

    @override
    def scorer(self, ports: GradingPorts, *, source: str) -> Scorer:
        pair = TextPair(self, source=source)
        if self.evaluation_metric == COSINE:
            return CosineScorer(pair, ports.embeddings, source=source)
        return LocalScorer(lambda request: self._compared(*pair.render(request)))

    def _compared(self, text: str, reference: str) -> ScoreResult:
        metric = self.evaluation_metric
        if metric == "fuzzy_match" and len(text) * len(reference) > MAX_PRODUCT:
            details = f"the texts' lengths have a product above {MAX_PRODUCT}"
            return ScoreResult(0.0, GraderErrors(other_error=True, details=details))
        return ScoreResult(similarity(metric, text, reference))


def _length_fault(most: int, text: str) -> str | None:
    return too_long(most) if len(text) > most else None


_BLEU_ORDER: Final = 4
_LONG: Final = 4_096
"""Number of characters from which texts are compared without the interpreter lock."""


def similarity(metric: str, text: str, reference: str) -> float:
    if metric.startswith("rouge_"):
        return _rouge(metric.removeprefix("rouge_"), text, reference)
    return _METRICS[metric](text, reference)


def _fuzzy_match(text: str, reference: str) -> float:
    from rapidfuzz.fuzz import ratio  # noqa: PLC0415 - not before the first such grader

    if max(len(text), len(reference)) < _LONG:
        return float(ratio(text, reference)) / 100
    from rapidfuzz.process import cdist  # noqa: PLC0415 - rapidfuzz loads only where it is used

    # `cdist` returns the same number. `ratio` does not release the interpreter lock: in a thread it
    # would still block the event loop for a second.
    return float(cdist([text], [reference], scorer=ratio, dtype=float)[0][0]) / 100


def _bleu(text: str, reference: str) -> float:
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu  # noqa: PLC0415 - a slow import

    words, expected = text.split(), reference.split()
    if not words or not expected:
        return 0.0
    order = min(_BLEU_ORDER, len(words))
    weights = (1 / order,) * order
    return float(sentence_bleu([expected], words, weights, SmoothingFunction().method3))


def _gleu(text: str, reference: str) -> float:
    from nltk.translate.gleu_score import sentence_gleu  # noqa: PLC0415 - a slow import

    words, expected = text.split(), reference.split()
    return float(sentence_gleu([expected], words)) if words and expected else 0.0


class _NoSynonyms:
    def synsets(self, word: str) -> tuple[Any, ...]:  # noqa: ARG002 - signature of NLTK's reader
        return ()


def _meteor(text: str, reference: str) -> float:
    from nltk.translate.meteor_score import single_meteor_score  # noqa: PLC0415 - a slow import

    return float(single_meteor_score(reference.split(), text.split(), wordnet=_NoSynonyms()))


def _rouge(size: str, text: str, reference: str) -> float:
    found, expected = words(text), words(reference)
    if not found or not expected:
        return 0.0
    if size != "l":
        return _shared_ngrams(found, expected, int(size))
    # rouge-score's own table needs time and memory proportional to words × words. `cdist` releases
    # the interpreter lock, for strings: each word becomes one character.
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - rapidfuzz loads only where it is used
    from rapidfuzz.process import cdist  # noqa: PLC0415 - as above

    numbers: dict[str, int] = {}
    coded, expected_coded = (
        "".join(chr(numbers.setdefault(word, len(numbers))) for word in each)
        for each in (found, expected)
    )
    common = int(cdist([coded], [expected_coded], scorer=LCSseq.similarity, dtype=int)[0][0])
    return 2 * common / (len(found) + len(expected))


def _shared_ngrams(found_words: list[str], expected: list[str], size: int) -> float:
    """Returns the F1 of n-grams. rouge-score computes the same, but imports all of NLTK: 2 s."""
    found, wanted = (
        Counter(zip(*(each[start:] for start in range(size)), strict=False))
        for each in (found_words, expected)
    )
    shared, total = (found & wanted).total(), found.total() + wanted.total()
    return 2 * shared / total if total else 0.0


_METRICS: Final[dict[str, Callable[[str, str], float]]] = {
    "fuzzy_match": _fuzzy_match,
    "bleu": _bleu,
    "gleu": _gleu,
    "meteor": _meteor,
}


class TextPair:
    def __init__(self, spec: TextSimilarityGrader, *, source: str) -> None:
        self._templates = [parse_template(text) for text in (spec.input, spec.reference)]
        answer, reference = spec.longest
        self._limits = [
            answer if template.reads_sample else reference for template in self._templates
        ]
        self._source = source

    def render(self, request: GradeRequest) -> list[str]:
        texts = render_all(self._templates, request, source=self._source)
        over = [
            (template, limit)
            for template, text, limit in zip(self._templates, texts, self._limits, strict=True)
            if len(text) > limit
        ]
        if over:
            templates = [template for template, _ in over]
            longest = next((n for each, n in over if not each.reads_sample), over[0][1])
            errors = GraderErrors(other_error=True, details=too_long(longest))
            raise unusable_text_fault(templates, errors, source=self._source)
        return texts


class CosineScorer:
    def __init__(self, pair: TextPair, embeddings: Embeddings, *, source: str) -> None:
        self._source = source
        self._embeddings = embeddings
        self._pair = pair

    async def score(self, request: GradeRequest) -> ScoreResult:
        started = time.perf_counter()
        try:
            text, reference = await run_on_scoring_thread(partial(self._pair.render, request))
        except Unrenderable as fault:
            return fault.result
        if not text.strip() or not reference.strip():
            return ScoreResult(0.0, reason="a text is blank")
        try:
            left, right = await self._embeddings.embed([text, reference])
        except EmbeddingFault as fault:
            message = f"embeddings: {fault.message}"
            raise server_fault(fault.kind, message, source=self._source) from fault
        cosine = left.cosine(right)
        if cosine is None:
            message = "the embeddings have different lengths"
            raise server_fault(FaultKind.BAD_REPLY, message, source=self._source)
        tokens = left.tokens + right.tokens
        model = self._embeddings.model
        return ScoreResult(
            max(0.0, cosine),
            execution_time_s=time.perf_counter() - started,
            token_usage={model: TokenUsage(tokens, calls=1)} if tokens else {},
        )
