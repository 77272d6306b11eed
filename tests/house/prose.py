"""Finds the prose that a machine can distinguish from plain English.

A docstring opens with its subject and a verb; `docs/decisions/0025-plain-words.md` has the rule and
its reason. Run `python -m tests.house.prose` to list every violation.
"""

import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

from tests.house import names
from tests.house.templates import visible_texts
from tests.house.tree import (
    Violation,
    comment_tokens,
    markdown_files,
    module_tree,
    nodes,
    python_files,
    report,
    template_files,
)
from tests.house.words import (
    IMPERATIVE,
    IN_TEST_NAMES,
    PARTICIPLE,
    PHRASE,
    TEST_NAME,
    replacement,
)

ROOMS = (
    "app",
    "workers",
    "migrations",
    "openapi",
    "benchmarks",
    "constraints",
    "docs",
    "examples",
    "tests/support",
    "tests/house",
    "bootstrap.py",
)
_QUESTION_WORD = re.compile(
    r"what|which|who|whom|whose|whoever|whomever|whatever|whichever|whether|how|why"
)
DANGLING = frozenset(["those", "that", "ours"])
"""Words that point at something a reader of one docstring has not read."""

_CONVENTIONAL = frozenset(["raised", "deprecated", "based", "enforced", "supervised"])
_AFTER_A_PARTICIPLE = re.compile(
    r"about|after|again|alone|and|apart|as|at|before|behind|beside|between|by|for|from|"
    r"here|if|in|into|like|next|not|of|on|once|only|or|out|over|per|so|than|that|there|"
    r"through|to|together|under|until|up|when|where|while|with|within|without"
)
_WORD = re.compile(r"[A-Za-z'-]+")
_SENTENCE = re.compile(r"(?<=[a-z0-9)`\"'][.:;!?])\s+(?=[A-Z])")
_LEAD = re.compile(r"^(?:(?:#+|[-*>]|\d+\.)\s+)?(?:\*\*[^*]+\*\*[:,.]?\s*)?")
"""Marks of headings and lists, and the bold label of a paragraph."""
_PRODUCT = ("app", "workers", "examples")
_SENTENCE_WORDS = 3
"""Words from which on a string is read; a shorter one is a name, a label or a format."""
_DIRECTIVES = ("noqa", "type:", "pragma", "fmt:", "!", "mypy:")


def find_in_python(path: Path, source: str) -> Iterator[Violation]:
    """Yields each violation in the docstrings, comments, error texts and names of a module."""
    tree = module_tree(source)
    yield from find_in_docstrings(path, source)
    for line, text in comments(source):
        yield from _prose(path, line, text)
    for line, text in _sentences(tree) if path.parts[0] in _PRODUCT else _raised(tree):
        yield from _phrases(path, line, text)
    yield from names.find(path, tree)


def find_in_docstrings(path: Path, source: str) -> Iterator[Violation]:
    """Yields each violation in the docstrings of a module."""
    for line, text in docstrings(source):
        yield from _prose(path, line, text)
    for line, name, verb in _imperatives(path, module_tree(source)):
        yield Violation(path, line, f"the docstring of {name} opens with {verb!r}: write {verb}s")


def find_in_tests(path: Path, source: str) -> Iterator[Violation]:
    """Yields each violation in docstrings of tests, and each test whose name has a word that was
    given up.
    """
    if path.parts[:2] not in (("tests", "support"), ("tests", "house")):
        yield from find_in_docstrings(path, source)
    for line, name in names.definitions(module_tree(source)):
        if name.startswith("test_") and (found := TEST_NAME.search(name)):
            yield Violation(path, line, f"{name}: {found[1]!r}: write {IN_TEST_NAMES[found[1]]}")


def find_in_markdown(path: Path, text: str) -> Iterator[Violation]:
    """Yields each violation in the headings and paragraphs of a page, code blocks apart."""
    for line, paragraph in _paragraphs(text):
        is_table = paragraph.startswith("|")
        yield from (_phrases if is_table else _prose)(path, line, paragraph)


def find_in_template(path: Path, text: str) -> Iterator[Violation]:
    """Yields each violation in the text that a page shows. Labels are not sentences, so that only
    words count.
    """
    for line, shown in visible_texts(text):
        yield from _phrases(path, line, shown)


def _prose(path: Path, line: int, text: str) -> Iterator[Violation]:
    for number, sentence in enumerate(_SENTENCE.split(" ".join(text.split()))):
        complaint = opener(sentence, first=number == 0)
        if complaint:
            yield Violation(path, line, f"{complaint}: {sentence[:60]}")
    yield from _phrases(path, line, text)


def _phrases(path: Path, line: int, text: str) -> Iterator[Violation]:
    plain = re.sub(r"`[^`]*`", "", " ".join(text.split())).lower()
    for match in PHRASE.finditer(plain):
        found = match.group()
        yield Violation(path, line, f"{found!r}: write {replacement(found)}")


def opener(sentence: str, *, first: bool) -> str | None:
    """Returns the fault of a sentence's first words, or `None`."""
    words = [word.lower() for word in _WORD.findall(sentence)[:3]]
    if not words or not sentence[0].isalpha() or sentence.rstrip().endswith("?"):
        return None
    faults = {
        "opens with 'Of'": words[0] == "of" and words[1:2] != ["course"],
        "a question word as subject": _QUESTION_WORD.fullmatch(words[0]) is not None
        and words[:2] != ["how", "to"],
        "a clause without its main clause": words[0] in ("where", "when") and "," not in sentence,
        "points at something that is not here": first and _dangles(words),
        "a participle without its subject": first
        and _is_participle(words[0])
        and _continues_as_a_clause(sentence, words),
    }
    return next((fault for fault, found in faults.items() if found), None)


def _dangles(words: list[str]) -> bool:
    return words[0] in DANGLING and words[1:2] != ["is"]


def _is_participle(word: str) -> bool:
    return word not in _CONVENTIONAL and PARTICIPLE.fullmatch(word) is not None


def _continues_as_a_clause(sentence: str, words: list[str]) -> bool:
    alone = re.match(r"[A-Za-z]+[,;:.]", sentence)
    follower = words[1] if len(words) > 1 else ""
    return bool(alone) or _AFTER_A_PARTICIPLE.fullmatch(follower) is not None


@cache
def docstrings(source: str) -> tuple[tuple[int, str], ...]:
    """Returns strings that stand as statements: a definition's docstring or a field's."""
    bodies = (getattr(node, "body", None) for node in nodes(module_tree(source)))
    statements = chain.from_iterable(body for body in bodies if isinstance(body, list))
    return tuple(
        (statement.lineno, statement.value.value.strip())
        for statement in statements
        if isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
        and statement.value.value.strip()
    )


def comments(source: str) -> Iterator[tuple[int, str]]:
    """Yields each block of comment lines as one text, and each trailing comment."""
    block: list[str] = []
    start = last = 0
    for token in comment_tokens(source):
        line, text = token.start[0], token.string.lstrip("#").strip()
        if text.startswith(_DIRECTIVES):
            continue
        alone = token.line.lstrip().startswith("#")
        if block and not (alone and line == last + 1):
            yield start, " ".join(block)
            block = []
        if not block:
            start = line
        block.append(text)
        last = line if alone else -1
    if block:
        yield start, " ".join(block)


def _sentences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields the strings of several words that are not docstrings: errors, messages, help."""
    statements = {id(node.value) for node in nodes(tree) if isinstance(node, ast.Expr)}
    for node in nodes(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in statements:
                if len(text.split()) >= _SENTENCE_WORDS:
                    yield node.lineno, text
            case _:
                pass


def _raised(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in nodes(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.lineno, part.value


def _imperatives(path: Path, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yields each function whose docstring commands. The help of a command does, by custom."""
    for node in nodes(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if _is_command(node) or path.stem == f"{node.name}_command":
            continue
        found = IMPERATIVE.match(ast.get_docstring(node) or "")
        if found is not None:
            yield node.lineno, node.name, found[1]


def _is_command(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    calls = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(isinstance(call, ast.Attribute) and call.attr == "command" for call in calls)


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yields headings, list items, table cells and paragraphs without their code."""
    fenced = False
    block: list[str] = []
    start = 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        bare = line.strip()
        fenced ^= bare.startswith("```")
        starts_anew = not bare or bare.startswith(("#", "|", "- ", "* ", ">"))
        if starts_anew and block:
            yield start, " ".join(block)
            block = []
        if fenced or bare.startswith("```") or line.startswith("    ") or not bare:
            continue
        if not block:
            start = number
        block.append(_LEAD.sub("", bare))
        if bare.startswith("#"):
            yield start, block.pop()


def violations() -> Iterator[Violation]:
    """Yields every violation in the repository."""
    for path, source in python_files(*ROOMS):
        if path.name != "words.py":
            yield from find_in_python(path, source)
    for path, source in python_files("tests"):
        yield from find_in_tests(path, source)
    for path, text in markdown_files():
        yield from find_in_markdown(path, text)
    for path, text in template_files():
        yield from find_in_template(path, text)


if __name__ == "__main__":
    sys.exit(report(violations()))
