"""The page of a rollout's tokens: values, legend, table, limits and hostile texts."""

import gzip
import re
from html import unescape
from random import Random

import pytest

from app.pages.rendering import _ROOM
from app.pages.transcripts import MEASURES
from tests.support.api.application import Api
from tests.support.dashboard.scenes import HOSTILE, create_job, put_rollout, trace
from tests.support.dashboard.tokens import Token, put_tokens
from tests.support.dashboard.visits import Markup, Visit, rows_of, texts_of
from tests.support.stack import Database

HEAVIEST = 150_000
SPAN = re.compile(r'<span class="(\w+)" title="([^"]*)">(.*?)</span>', re.DOTALL)
HEADINGS = ["Token", "Turn", "Position", "Probability", "Log-prob", "Ratio"]


@pytest.fixture
async def path(api: Api, database: Database) -> str:
    job = await create_job(api)
    put_rollout(database, job, "ro", trace=trace("Q", "A"))
    return f"/jobs/{job}/rollouts/ro"


def spans(page: str) -> list[tuple[str, str, str]]:
    return [(shade, title, unescape(text)) for shade, title, text in SPAN.findall(page)]


async def test_the_rollouts_page_has_a_link_and_reads_no_token(
    visit: Visit, path: str, database: Database
) -> None:
    put_tokens(database, "ro", [[("canary", -0.5, None)]])
    page = (await visit.get(path)).text
    assert f'<a href="{path}/tokens">Token heat</a>' in page
    assert "canary" not in page
    assert "canary" not in (await visit.get(f"{path}/raw.json")).text


async def test_tokens_are_coloured_by_log_prob(visit: Visit, path: str, database: Database) -> None:
    put_tokens(database, "ro", omitted=1234)
    page = (await visit.get(f"{path}/tokens")).text
    assert spans(page) == [
        ("p1", "probability 99.49%, log-prob -0.0051, ratio 1.0000", "The"),
        ("p6", "probability 10.00%, log-prob -2.3026, ratio 1.3000", " Nile"),
        ("p2", "probability 90.48%, log-prob -0.1000, not trained", "∅"),
        ("p8", "probability 0.10%, log-prob -6.9078, ratio 0.2500", "↵\n"),
        ("blank", "no log-prob, ratio 0.9000", "!"),
    ]
    assert [text for text in texts_of(page, "h2") if text.startswith("Turn")] == [
        "Turn 1 3 tokens",
        "Turn 2 2 tokens",
    ]
    assert rows_of(page, "Least likely tokens") == [
        HEADINGS,
        ["↵", "2", "1", "0.10%", "-6.9078", "0.2500"],
        ["Nile", "1", "2", "10.00%", "-2.3026", "1.3000"],
        ["∅", "1", "3", "90.48%", "-0.1000", "–"],
        ["The", "1", "1", "99.49%", "-0.0051", "1.0000"],
    ]
    assert "1,234 more tokens at the end are not shown" in page
    assert texts_of(page, "dd") == ["5", "4", "-2.329", "0.8625"]


async def test_tokens_are_coloured_by_ratio(visit: Visit, path: str, database: Database) -> None:
    put_tokens(database, "ro")
    page = (await visit.get(f"{path}/tokens?by=ratio")).text
    assert [shade for shade, _, _ in spans(page)] == ["r4", "r6", "blank", "r1", "r3"]
    assert [row[2:3] + row[5:] for row in rows_of(page, "Ratios farthest from 1")[1:]] == [
        ["1", "0.2500"],
        ["2", "1.3000"],
        ["2", "0.9000"],
        ["1", "1.0000"],
    ]
    assert "more tokens at the end" not in page
    assert "None of these tokens was trained" not in page
    assert (await visit.get(f"{path}/tokens?by=color")).status_code == 400


async def test_an_untrained_rollout_has_no_ratio(
    visit: Visit, path: str, database: Database
) -> None:
    put_tokens(database, "ro", [[("a", -0.5, None)]])
    page = (await visit.get(f"{path}/tokens?by=ratio")).text
    assert "None of these tokens was trained" in page
    assert "No token has this value" in page


async def test_a_rollout_without_tokens_has_a_reason(visit: Visit, path: str) -> None:
    reply = await visit.get(f"{path}/tokens")
    assert reply.status_code == 404
    assert "was written before this installation stored them" in reply.text


async def test_hostile_tokens_are_shown_as_text(
    visit: Visit, path: str, database: Database
) -> None:
    put_tokens(database, "ro", [[(HOSTILE, -9.0, 3.0), ("</pre>", -1.0, 1.0)]])
    for by in MEASURES:
        page = (await visit.get(f"{path}/tokens?by={by}")).text
        assert "&lt;script&gt;alert(1)" in page
        assert "<script>alert" not in page
        assert "<img" not in page
        assert page.count("</pre>") == 1
        assert Markup(page).inline == []
    style = (_ROOM / "static/style.css").read_text()
    assert re.search(r"\.heat span[^{]*\{[^}]*unicode-bidi: isolate", style)


async def test_the_longest_page_stays_small(visit: Visit, path: str, database: Database) -> None:
    random = Random(3)
    letters = "abcdefghijklmnopqrstuvwxyzäöüßあいう "

    def token() -> Token:
        text = "".join(random.choices(letters, k=random.randint(1, 9)))
        return text, -round(random.expovariate(0.5), 4), round(random.lognormvariate(0, 0.3), 4)

    put_tokens(database, "ro", [[token() for _ in range(4096)]], omitted=50_000)
    for by in MEASURES:
        page = (await visit.get(f"{path}/tokens?by={by}")).content
        assert len(SPAN.findall(page.decode())) == 4096
        assert len(gzip.compress(page)) < HEAVIEST, by


def luminance(color: str) -> float:
    digits = color if len(color) == 6 else "".join(2 * one for one in color)
    parts = [int(digits[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_ink_is_readable_on_every_shade_of_both_themes() -> None:
    style = (_ROOM / "static/style.css").read_text()
    light, dark = style.split("prefers-color-scheme: dark", 1)
    for theme in (light, dark.split("\n* {", 1)[0]):
        colors = dict(re.findall(r"--([\w-]+): #(\w+)", theme))
        grounds = [name for name in colors if name.startswith(("hot-", "cold-"))]
        assert len(grounds) == 10
        for name in grounds:
            pair = sorted((luminance(colors["ink"]), luminance(colors[name])))
            assert (pair[1] + 0.05) / (pair[0] + 0.05) > 6, name
