"""Texts of pages whose content a stranger chose."""

import json

from app.pages.rendering import pretty
from tests.support.cases import cases


def test_json_is_split_into_lines_and_other_texts_stay() -> None:
    assert pretty('{"a": [1]}') == pretty({"a": [1]}) == '{\n  "a": [\n    1\n  ]\n}'
    assert pretty("no [JSON") == "no [JSON"


@cases("depth", [21, 850, 1900])
def test_nested_json_is_not_indented(depth: int) -> None:
    text = "[" * depth + "]" * depth  # indented, its length grows with the square of the depth
    assert pretty(text) == text
    assert len(pretty(json.loads(text) if depth < 900 else [text])) < 3 * len(text)
