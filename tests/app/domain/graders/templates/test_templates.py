from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.graders.templates import (
    MAX_RENDERED,
    MissingVariable,
    RenderedTooLong,
    TemplateError,
    parse_template,
)
from tests.support.cases import cases

CALL = {"id": "c", "function": {"name": "search", "arguments": '{"q": "ü"}'}}
SAMPLE: dict[str, Any] = {
    "output_text": "42",
    "output_json": {"a": [1, {"b": "deep"}], "flag": True, "nothing": None, "7": "seven"},
    "output_tools": [CALL],
    "output_reasoning_summary": None,
}
ITEM: dict[str, Any] = {
    "answer": "{{ item.other }}", "n": 1.5, "none": None, "tools": None, "key with space": "x",
    "ü": "y", "a-b": 1,
}  # fmt: skip


@cases(
    ("text", "expected"),
    [
        ("", ""),
        ("}} { } }", "}} { } }"),
        (r"\boxed{25\%} {#top}", r"\boxed{25\%} {#top}"),
        ("{{ sample.output_text }}", "42"),
        ("{{\n item.n\t}}", "1.5"),
        ("a{{sample.output_text}}b{{ item.n }}c", "a42b1.5c"),
        ("{{ sample.output_tools[0].function.arguments }}", '{"q": "ü"}'),
        ("{{ sample.output_json.a[1].b }}", "deep"),
        ("{{ sample.output_json.a }}", '[1, {"b": "deep"}]'),
        ("{{ sample.output_json.7 }}", "seven"),
        ("{{ sample.output_json[7] }}", "seven"),
        ("{{ item.tools }}", "null"),
        ('{{ item["key with space"] }}', "x"),
        ("{{ item['n'] }}{{ item.ü }}{{ item.a-b }}", "1.5y1"),
        ("{{ item.answer }}", "{{ item.other }}"),
    ],
)
def test_rendering(text: str, expected: str) -> None:
    assert parse_template(text).render(sample=SAMPLE, item=ITEM) == expected


@cases(
    "path",
    [
        *("item.absent", "item.n.deeper", "sample.output_tools[1]", "sample.output_tools.name"),
        *("sample.output_text[0]", "sample.output_reasoning_summary", "sample.output_json.nothing"),
        *("item.none", "item.none.x", "sample.output_json.a.b", "sample.output_audio"),
    ],
)
def test_a_path_that_leads_nowhere_is_named(path: str) -> None:
    with pytest.raises(MissingVariable) as caught:
        parse_template(f"x {{{{ {path} }}}}").render(sample=SAMPLE, item=ITEM)
    assert caught.value.path == path
    assert caught.value.namespace == path[: path.index(".")]


@cases(
    ("text", "part"),
    [
        ("{{ item.a", "has no '}}'"),
        ("{{}}", "holds no path"),
        ("{{ foo.bar }}", "unknown namespace 'foo'"),
        ("{{ item. }}", "not a path"),
        ("{{ item.a b }}", "not a path"),
        ("{{ item[-1] }}", "not a path"),
        ("{{ item.a | upper }}", "not a path"),
        ("{{ sample.output_text.__class__() }} {{ item[x] }}", "not a path"),
        ("{{ item" + ".a" * 65 + " }}", "not a path"),
        ("{{ item.a }}" * 1001, "more than 1000"),
        ("x {% if item.a %}{{ item.a }}{% endif %}", "'{% if item.a %}' is plain text"),
        ("{# note #}{{ item.a }}", "no statements and comments"),
        ("{%- if item.a", "no statements and comments"),
    ],
)
def test_wrong_syntax_is_reported(text: str, part: str) -> None:
    with pytest.raises(TemplateError) as caught:
        parse_template(text)
    assert part in str(caught.value)


def test_nothing_but_data_is_reached() -> None:
    template = parse_template("{{ sample.output_text.__class__ }}")
    with pytest.raises(MissingVariable):
        template.render(sample=SAMPLE, item=ITEM)


def test_a_flood_is_stopped() -> None:
    template = parse_template("{{ item.big }}" * 1000)
    with pytest.raises(RenderedTooLong):
        template.render(sample={}, item={"big": "x" * (MAX_RENDERED // 500)})


@given(st.text() | st.text(alphabet="{} item.sample[0]'\"", max_size=40))
def test_any_text_is_a_template_or_an_error(text: str) -> None:
    try:
        template = parse_template(text)
        template.render(sample=SAMPLE, item=ITEM)
    except (TemplateError, MissingVariable):
        return


@cases("text", ["{{" * 500_000, "{{" * 250_000 + "}}" * 250_000, "{{item.a}}" * 200_000])
def test_a_hostile_text_is_refused_in_a_moment(text: str) -> None:
    """A scan whose work is quadratic in a million characters would run into the suite's limit."""
    with pytest.raises(TemplateError):
        parse_template(text)
