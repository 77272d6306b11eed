"""Similarity of two texts, 0…1, by the metrics of the hosted grader.

The hosted guide leaves these choices open (`cosine`, which calls a server, is in
`app.graders.embeddings`):
- `fuzzy_match`: rapidfuzz `ratio` (normalised indel similarity of characters, case-sensitive).
- `bleu`: sentence BLEU as sacrebleu computes it by default (exponential smoothing, effective order:
  a text of three words has no 4-grams to miss), words split at white space.
- `gleu`: NLTK sentence GLEU, 1- to 4-grams, words split at white space.
- `meteor`: NLTK METEOR with its exact and stem stages; the synonym stage has no synonyms, because
  the WordNet corpus is not shipped. Texts that match by synonyms only score lower than hosted.
- `rouge_1` … `rouge_5`, `rouge_l`: F1 as of rouge-score without stemming, over words of any script.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from typing_extensions import override

from app.graders.scorer import GradeRequest, GraderErrors, ScoreResult
from app.graders.text_definitions import MAX_PRODUCT, TextSimilarityGrader
from app.graders.text_scorer import LocalScorer, TextPair, words

_BLEU_ORDER: Final = 4
"""The longest n-grams that are counted."""
_LONG: Final = 4_096
"""Number of characters from which texts are compared without the interpreter lock."""


class TextSimilarityScorer(LocalScorer):
    def __init__(self, spec: TextSimilarityGrader, *, source: str) -> None:
        self._source = source
        self._metric = spec.evaluation_metric
        self._pair = TextPair(spec, source=source)

    @override
    def grade(self, request: GradeRequest) -> ScoreResult:
        text, reference = self._pair.render(request)
        if self._metric == "fuzzy_match" and len(text) * len(reference) > MAX_PRODUCT:
            details = f"the texts' lengths have a product above {MAX_PRODUCT}"
            return ScoreResult(0.0, GraderErrors(other_error=True, details=details))
        return ScoreResult(similarity(self._metric, text, reference))


def similarity(metric: str, text: str, reference: str) -> float:
    """Returns the similarity, 0…1. For two empty texts it is 1 by `fuzzy_match`, else 0."""
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
    from nltk.translate.bleu_score import (  # noqa: PLC0415 - a slow import
        SmoothingFunction,
        sentence_bleu,
    )

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
    """Empty replacement of the WordNet corpus for NLTK's METEOR."""

    def synsets(self, word: str) -> tuple[Any, ...]:  # noqa: ARG002 - signature of NLTK's reader
        return ()


def _meteor(text: str, reference: str) -> float:
    from nltk.translate.meteor_score import single_meteor_score  # noqa: PLC0415 - a slow import

    return float(single_meteor_score(reference.split(), text.split(), wordnet=_NoSynonyms()))


def _rouge(size: str, text: str, reference: str) -> float:
    """Returns the F1 of n-grams, or of the longest common subsequence of words for `l`."""
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
    """Returns the F1 of n-grams. rouge-score's class computes the same, but imports all of NLTK for
    a stemmer: 2 s of processor time at the first grade.
    """
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
