from pathlib import Path

import pytest

from tests.house import prose

PATH = Path("x.py")


@pytest.mark.parametrize(
    "sentence",
    [
        "Of all committed work.",
        "What a run holds.",
        "Whether something answers HTTP.",
        "Whose adapter is published.",
        "How a job learns is configurable.",
        "Where a job pauses.",
        "Given to each worker.",
        "Kept until the next start.",
        "Prepared at once: planning takes long.",
        "Those of the last step.",
        "Sealed; see the module.",
        "Reads rows. What it returns is checked.",
        "Reads rows. Of equals the earlier one wins.",
    ],
)
def test_a_fragment_is_found_as_docstring_field_note_comment_and_paragraph(sentence: str) -> None:
    texts = [
        f'"""{sentence}"""\n',
        f'class A:\n    x: int\n    """{sentence}"""\n',
        f"# {sentence}\nx = 1\n",
    ]
    assert [len(list(prose.find_in_python(PATH, text))) for text in texts] == [1, 1, 1]
    assert len(list(prose.find_in_markdown(PATH, f"# Page\n\n{sentence}\n"))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "Runs one rollout: samples, calls tools, grades.",
        "When the lease has run out, another worker claims the job.",
        "Where rows repeat, the first one counts.",
        "Registered graders on the wire.",
        "Raised when a stop is requested before everything was ready.",
        "Finished rollouts that wait for a later step.",
        "How to add a grader.",
        "What happens to the others?",
        "Offset of the first token.",
        "Of course the key is sealed.",
        "That is the newest version.",
        "Read and check an adapter.",
        "Seed of the sampler: equal seeds give equal tokens.",
    ],
)
def test_plain_sentences_pass(sentence: str) -> None:
    assert list(prose.find_in_python(PATH, f'"""{sentence}"""\n# {sentence}\nx = 1\n')) == []
    assert list(prose.find_in_markdown(PATH, sentence)) == []


def test_house_words_are_found_in_prose_and_error_texts_with_their_replacement() -> None:
    source = '"""Sends the wake-up."""\nraise ValueError(f"nobody knows {x}, whoever asks")\n'
    messages = [each.message for each in prose.find_in_python(PATH, source)]
    assert len(messages) == 3
    assert messages[0].endswith("write notification")


@pytest.mark.parametrize(
    ("sentence", "count"),
    [
        ("Ids of runs that are none are refused.", 1),
        ("Versions that are none of the known ones are refused.", 0),
        ("Returns the addresses without doubles.", 1),
        ("A page that nobody looks at asks for nothing.", 1),
    ],
)
def test_a_reader_is_not_left_to_find_the_noun(sentence: str, count: int) -> None:
    assert len(list(prose.find_in_markdown(PATH, sentence))) == count


@pytest.mark.parametrize(
    ("docstring", "count"),
    [
        ("Return the newest version.", 1),
        ("Stop a run.", 1),
        ("Returns the newest version.", 0),
        ("Stop rules of a job.", 0),
        ("Store of files.", 0),
    ],
)
def test_a_docstring_that_commands_is_found_unless_it_is_the_help_of_a_command(
    docstring: str, count: int
) -> None:
    function = f'def newest():\n    """{docstring}"""\n'
    assert len(list(prose.find_in_python(PATH, function))) == count
    assert list(prose.find_in_python(PATH, f"@app.command()\n{function}")) == []


def test_a_message_that_is_returned_is_read_like_one_that_is_raised() -> None:
    source = 'def refusal():\n    return Refused("the wake-up was lost")\n'
    lines = [each.line for each in prose.find_in_python(Path("app/x.py"), source)]
    assert lines == [2]


def test_the_visible_text_of_a_template_is_read_and_nothing_else() -> None:
    page = (
        "{# the wake-up #}\n<p title='lanes'>{{ wake_up }}\n</p><script>arenas</script>\n"
        "<p class='shall'>It {% if lanes %}shall{% endif %}\nbegin</p>\n"
    )
    assert [each.line for each in prose.find_in_template(PATH, page)] == [2, 4]


def test_a_name_that_was_renamed_is_found_where_it_is_made_not_where_it_is_used() -> None:
    source = "def remembered(told): ...\nPlaces = 1\nother.remembered()\ndef _told(): ...\n"
    assert sorted(each.line for each in prose.find_in_python(PATH, source)) == [1, 1, 2, 4]


@pytest.mark.parametrize(
    ("path", "source", "count"),
    [
        ("workers/x.py", "class Found: ...\nclass _Kept: ...\nclass Resumed: ...", 3),
        ("tests/support/x.py", "class Received: ...\ndef received(): ...", 1),
        ("app/x.py", "def shown(): ...\nasync def fetched(): ...", 2),
        ("app/x.py", "class ShownCall: ...\nclass Speed: ...\nclass Seed: ...", 0),
        ("app/x.py", "def _shown(): ...\nclass A:\n    def closed(self): ...", 0),
        ("app/api/schemas/x.py", "class Deleted: ...", 0),
    ],
)
def test_a_class_or_public_function_named_by_a_participle_is_found(
    path: str, source: str, count: int
) -> None:
    assert len(list(prose.find_in_python(Path(path), source))) == count


@pytest.mark.parametrize(
    ("path", "messages"),
    [
        ("app/disk/committed.py", ["committed is a participle without its noun"]),
        ("workers/exports/merged/__init__.py", ["merged is a participle without its noun"]),
        ("tests/support/scored.py", ["scored is a participle without its noun"]),
        ("tests/support/reinforcement/scored_rollouts.py", []),
        ("app/jobs/supervised.py", []),
        ("workers/supervised/__init__.py", []),
        ("benchmarks/measured.py", []),
    ],
)
def test_a_module_named_by_a_participle_is_found(path: str, messages: list[str]) -> None:
    found = prose.find_in_python(Path(path), '"""Reads rows."""')
    assert [each.message for each in found] == messages


def test_a_retired_word_is_found_in_the_name_of_a_test() -> None:
    source = "def test_a_fault_is_told(): ...\ndef test_hours_are_counted(): ...\ndef ours(): ...\n"
    [found] = prose.find_in_tests(PATH, source)
    assert found.message == "test_a_fault_is_told: 'told': write reported"


def test_docstrings_of_tests_are_read_and_their_comments_and_names_are_not() -> None:
    source = 'def test_a(told):\n    """Killed before its commit."""\n    # of another key\n'
    path = Path("tests/app/test_x.py")
    [found] = prose.find_in_tests(path, source)
    assert (found.line, found.message.partition(":")[0]) == (2, "a participle without its subject")
    assert list(prose.find_in_tests(Path("tests/support/x.py"), source)) == []


def test_code_is_no_prose() -> None:
    page = "Run this:\n\n    Of course not\n\n```\nWhat a mess.\n```\n\nCall `wake_up` then.\n"
    assert list(prose.find_in_markdown(PATH, page)) == []
    assert list(prose.find_in_python(PATH, "x = 'What a day'  # noqa: E501 - whose line\n")) == []


def test_lines_of_one_comment_are_read_as_one_text() -> None:
    source = "# Rows come in\n# what order they were written.\n\n# Of two rows.\n"
    assert [each.line for each in prose.find_in_python(PATH, source)] == [4]
