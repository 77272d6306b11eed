"""The number that an answer or a reference gives: the marked one, or else the last one.

This file is also the beginning of the graders that `auto` and environments write, which run in the
sandbox: it imports nothing of the service.
"""

import re
import unicodedata
from decimal import Decimal
from fractions import Fraction
from typing import Final

THINKING: Final = re.compile(
    r"(?:(?<!``)([`\"'])|(?<![`\"'])|(?<=```))"
    r"(?:(?P<end>[<\u25c1]/(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]"
    r"|(?-i:\[/THINK\])|<\|(?:end_of_thought|end_thinking)\|>|<channel\|>|assistantfinal"
    r"|<\|channel\|>\s{0,16}final\s{0,16}(?:<\|constrain\|>\s{0,4}\w{1,16}\s{0,4})?<\|message\|>)"
    r"|[<\u25c1](?:seed:)?(?:think(?:ing)?|thoughts?|reasoning)[>\u25b7]|(?-i:\[THINK\])"
    r"|<\|(?:begin_of_thought|start_thinking)\|>|<\|channel>thought"
    r"|<\|channel\|>\s{0,16}analysis\s{0,16}<\|message\|>|\Aanalysis(?=[a-z]))(?(1)(?!\1))",
    re.IGNORECASE,
)
"""A reasoning mark that is not in quotes; a closing one has the group `end`. Knows tags, Kimi
(`◁think▷`), Seed, Cohere, Gemma and harmony's channels."""

MINUS: Final = re.compile(r"[\u2212\u2013\ufe63\uff0d]")
GROUP: Final = re.compile(r"(?<=\d)(?:\{,\}|\\[,:;!]|[\u00a0\u202f\u2009_'\u2019])(?=\d{3}(?!\d))")
"""A separator that is read as a comma between groups of three digits."""
WORDS: Final = re.compile(r"\\(?:text|textrm|textbf|mathrm|mathbf|mbox|rm) ?\{([^{}]*+)\}")
START: Final = re.compile(r"(?<=[A-Za-z0-9])(?=\\[dtc]?frac|[\u00bc-\u00be\u2150-\u215e\u2189])")
CHARACTER: Final = re.compile(r"[\u00bc-\u00be\u2150-\u215e\u2189]")
FRACTION: Final = re.compile(
    r"\\[dtc]?frac ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))"
    r" ?(?:\{ ?([+-]?[\d.,]{1,40}) ?\}|(\d))",
    re.ASCII,
)
BAR: Final = re.compile(r"(?<=\d) ?(?:[/\u2044\u2215\u00f7]|\\div) ?(?=[+-]?\.?\d)", re.ASCII)
UNIT: Final = re.compile(
    r"(?:\^ ?(?:\\circ|o|\{ ?(?:\\circ|o) ?\})|\\degrees?|[\u00b0\u00ba\u02da])(?![a-z])"
    r"(?: ?[CFK](?![A-Za-z]))?"
    r"|(?<=\d)(?: |~|\\[,;:! ]){0,4}(?:[A-Za-z]{1,16}(?:[ /*\u00b7]|\\cdot ?){1,2}){0,2}"
    r"(?:(?:[kcdmn\u00b5]?m|in|ft|yd|mi|s|sec|h|hr|min|units?"
    r"|inch(?:es)?|f(?:oo|ee)t|yards?|miles?|[a-z]{0,5}met(?:er|re)s?|seconds?|hours?)"
    r" ?(?:\^ ?(?:\{ ?[+-]?\d ?\}|[+-]?\d)|[\u207b\u00b2\u00b3\u00b9]{1,2})[ /*\u00b7]?){1,3}",
    re.ASCII,
)
"""Degrees, and a unit with an exponent, such as `m/s^2`: no part of the number before them."""
NUMBER: Final = re.compile(
    r"(?:(?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)([+-]))?(?:(?:[€£¥]|\\\$|(?<!\$[+-])\$) ?)?"
    r"(?<![A-Za-z0-9.])(?<![A-Za-z0-9]_)(?<!\d[,'\u2019:/^])(?<!\d/[+-])(?:"
    r"(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?:[.,]\d+)?(?![/.,]?\d| \d)|"
    r"(?:(\d{1,15})(?: and | )(?=\d{1,15}/\d))?"
    r"((?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,4}\b)?)"
    r"(?:/([+-]?(?:(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)))?"
    r"(?![.,_'\u2019:]?\d|[\^\u00b2\u00b3\u00b9\u2070-\u2079]|/[+-]?\.?\d)(?![A-Za-z]{1,16}\d)|"
    r"\d+(?:[.,/:_'\u2019]\d+|\^\{?[+-]?\w*+|[\u00b2\u00b3\u00b9\u2070-\u2079])+"
    r"(?![A-Za-z]{1,16}\d))"
    r"|(?:\\[dtc]?(?:frac|binom)|\\sqrt(?:\[\d+\])?|\u221a(?=[\d({])|\^(?=[+-]?[\d{]))"
    r"[+-]?(?: ?\{(?:[^{}]|\{[^{}]*+\})*+\}){0,2}\d*",
    re.ASCII,
)
"""A number, with the groups sign, whole part, numerator and denominator; digits that cannot be read
match without groups. A hyphen after a letter or digit, or between formulas (`$10$-$4$`), is no
sign."""
MARK: Final = re.compile(
    r"\\(?:boxed|fbox) ?\{(?P<box>(?:[^{}]|\{(?:[^{}]|\{[^{}]*+\})*+\})*+)\}"
    r"|<(?P<close>/)?(?:final[ _-]?)?answer>"
    r"|(?:####(?!#)(?![ *]{0,4}\d[.):] )|^[^\w\n]{0,16}(?:the )?(?:final )?answer[*_ ]{0,4}:)"
    r"(?=(?P<line>[^A-Za-z0-9\n]{0,16}\d[^\n]{0,200}))",
    re.IGNORECASE | re.MULTILINE,
)
"""What marks an answer. A line (`#### 42`) does it only with a number behind it, and not as the
first heading of a list (`#### 1. Add`)."""
MARKUP: Final = re.compile(r"(?:\s|[*_$€£¥]|\\[()\[\]$,;:!]){0,32}\.?[\s*_]{0,8}")
BRACKETS: Final = re.compile(r"(?<=\w) \([^()]*+\)")
REMARK: Final = re.compile(r"[\s*_.,;:!%$)}\]-]{0,32}(?:\Z|[A-Za-z]{2,}[^=^\\/*+]*\Z)")
"""What may follow the number that a marked text begins with: nothing, or words."""
LONGEST: Final = 10_000
MOST_DIGITS: Final = 1_000


def said(text: str) -> str:
    """Returns the text outside of reasoning between marks; nothing where reasoning has no end."""
    parts, start, thinking = list[str](), 0, False
    for mark in THINKING.finditer(text):
        ends = mark["end"] is not None
        if ends and not thinking:
            parts.clear()
        elif not thinking:
            parts.append(text[start : mark.start()])
        thinking, start = not ends, mark.end()
    return "" if thinking else "\n".join([*parts, text[start:]])


def plain(text: str) -> str:
    """Writes numbers in one way, and leaves out units with degrees or exponents."""
    text = START.sub(" ", WORDS.sub(r" \1", GROUP.sub(",", MINUS.sub("-", text))))
    text = CHARACTER.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return UNIT.sub(" ", BAR.sub("/", FRACTION.sub(r"\1\2/\3\4", text)))


def marked(text: str) -> str | None:
    """Returns the last marked text of a plain one, the inner one of two; none without a mark."""
    found, at, start = None, -1, -1
    for mark in MARK.finditer(text):
        kind = mark.lastgroup
        if kind is None:
            start = mark.end()
            continue
        inner = mark[kind]
        if kind == "close":
            inner, start = (text[start : mark.start()] if at < start else ""), -1
        if inner.strip():
            found, at = inner, mark.start()
    return found


def value_of(found: re.Match[str] | None) -> Decimal | Fraction | None:
    if found is None or found[3] is None:
        return None
    sign, whole, above, below = found.groups()
    number = Decimal((sign or "") + above.replace(",", ""))
    if below is None:
        return number
    under = Decimal(below.replace(",", ""))
    if len(found[0]) > MOST_DIGITS or not under or (whole and not abs(number) < under):
        return None
    return Fraction(number) / Fraction(under) + int(f"{sign or ''}{whole or 0}")


def number_of(text: str) -> Decimal | Fraction | None:
    """Returns the value of a text that is one number."""
    if len(text) > LONGEST:
        return None
    text = plain(text)
    first = NUMBER.search(text)
    if first is None or not MARKUP.fullmatch(text[: first.start()] + text[first.end() :]):
        return None
    return value_of(first)


def answered_number(text: str) -> Decimal | Fraction | None:
    """Returns the value of the number that a text gives as its answer; none where its digits cannot
    be read. A marked text gives the number that it begins with, if only words follow, or else its
    last one.
    """
    text = plain(text)
    inner, last = marked(text), None
    shown = text if inner is None else BRACKETS.sub("", inner)
    for last in NUMBER.finditer(shown):
        begins = inner is not None and MARKUP.fullmatch(shown, 0, last.start())
        if begins and REMARK.match(shown, last.end()):
            break
    return value_of(last)


def is_answer(text: str) -> bool:
    """Returns whether a reference is a number, or marks one as the answer of its text. A marked
    formula such as `2x+3` is none, though an answer's last number would be read.
    """
    inner = marked(plain(text))
    if inner is None:
        return number_of(text) is not None
    shown = BRACKETS.sub("", inner).rpartition("=")[2]
    first = NUMBER.search(shown)
    if first is None or not MARKUP.fullmatch(shown, 0, first.start()):
        return False
    return value_of(first) is not None and REMARK.match(shown, first.end()) is not None
