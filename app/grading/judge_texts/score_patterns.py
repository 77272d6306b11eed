"""Finds the scores that a judge writes in words, and the words by which one is that of the whole
answer. Pure.
"""

import re
from typing import Final

NUMBER: Final = (
    r"(\d{1,6}(?:\.\d{1,6})?)(?!\d|[.,]\d|[eE][+-]?\d|\s?%|\s?percent"
    r"|\s?(?:[-\u2013\u2014\u2026~]|\.{2,3}|to\b)\s?\d)"
)
"""A complete number: not the 8 of `8,5`, `8%`, `8-9` or `8 to 9`, nor the 1 of `1e1`."""
OF: Final = r"\s{0,3}(?:/|out\s{1,3}of)\s{0,3}"
MARKDOWN: Final = r"[\s*_`\"']{0,6}"
BRACKETS: Final = re.compile(rf"\[\[\s{{0,16}}{NUMBER}\s{{0,16}}\]\]", re.ASCII)
LABEL: Final = re.compile(
    rf"\b(?:score|rating|grade)\b(?:\s?\([^()\n]{{0,60}}\))?{MARKDOWN}[:=]{MARKDOWN}{NUMBER}"
    rf"[*_`\"']{{0,3}}+(?:{OF}{NUMBER}|(?!{OF}\d))",
    re.ASCII | re.IGNORECASE,
)
SHARE: Final = re.compile(
    rf"(?<![\w./\-\u2212\u2013])(?<!\d,){NUMBER}{OF}{NUMBER}(?![\d/])", re.ASCII | re.IGNORECASE
)
_POINTS: Final = rf"\d[\d.]{{0,9}}{OF}\d[\d.]{{0,9}}"
_SCALE_END: Final = (
    rf"[.;](?!{MARKDOWN}(?:an?\s)?\d|[^\d\n.;]{{0,40}}\b(?:where|best|worst|perfect|\w{{0,4}}est|m(?:ax|in)))"
    rf"|,\s?(?:I|my|overall|total|final)\b"
    rf"|(?<!\w)(?<![a-z]\s)(?:(?:my|the|overall|total|final)\s){{0,3}}(?:score|rating|grade)"
    rf"(?:{MARKDOWN}[:=]|\s(?:is|of)\b)"
)
"""The end of words about a scale: a sentence about another thing than its bounds, or a score."""
BOUNDS: Final = re.compile(
    rf"[(\[]\s?{MARKDOWN}(?:scale|range)\b[^()\[\]\n]{{0,200}}[)\]]"
    rf"|^{MARKDOWN}(?:scale|range){MARKDOWN}:[^\n]*?(?={_SCALE_END}|$)"
    rf"|{_POINTS}\s?(?:[-\u2013\u2014\u2026~]|\.{{2,3}}|to\b)\s?{_POINTS}"
    rf"|\bbetween\s{_POINTS}\sand\s{_POINTS}",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)
"""The bounds of a scale, which a judge repeats from its prompt: `(Scale: 0/10 … 10/10)`."""
_WHOLE: Final = r"(?:overall|(?:in\s)?total|final)"
_LINK: Final = (
    r"(?:[,\s*_`\"':=|\-\u2013\u2014]"
    r"|\b(?:is|of|at|be|would|it|I|give|gets|earns|deserves|an?)\b){0,16}"
)
BEFORE: Final = re.compile(
    rf"\b{_WHOLE}(?:\s(?:score|rating|grade))?(?:\s?\([^()\n]{{0,40}}\))?{_LINK}\Z",
    re.ASCII | re.IGNORECASE,
)
_BEHIND: Final = re.compile(
    rf"[*_`\"']{{0,3}} ?\(?(?:(?:as|is|the|my)\s){{0,3}}{_WHOLE}\b", re.ASCII | re.IGNORECASE
)
"""Words at a share by which it is the score of the whole: `Overall: 6/10`, `6/10 in total`."""
NAMED: Final = re.compile(
    rf"(?:\A|[.!?;\n]){MARKDOWN}(?:(?:so|thus|then|and|the|my|its)\s){{0,2}}"
    rf"(?:score|rating|grade){_LINK}\Z",
    re.ASCII | re.IGNORECASE,
)
"""The beginning of a sentence by which a share is most likely that of the whole."""
_REACH: Final = 80
"""Number of characters before a share that are searched for such words."""


def is_overall(share: re.Match[str]) -> bool:
    return stands_before(BEFORE, share) or _BEHIND.match(share.string, share.end()) is not None


def stands_before(words: re.Pattern[str], share: re.Match[str]) -> bool:
    start = share.start()
    return words.search(share.string, max(0, start - _REACH), start) is not None
