"""The pages of documentation in a browser: their own files are enough, and the search finds."""

from typing import get_args
from urllib.parse import urlsplit

import pytest

from tests.support.dashboard.browser import Tab, Theme
from tests.support.dashboard.documentation import built_site, serve


@pytest.fixture
def _served(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(built_site(tmp_path_factory), monkeypatch)


@pytest.mark.usefixtures("_served")
async def test_a_reader_searches_a_curve_and_opens_the_reference(tab: Tab) -> None:
    """Pages and reference run under their policies: a breach would be a problem of the tab."""
    await tab.open("/docs")
    found = {}
    for theme in get_args(Theme):
        for width in (1440, 360):
            await tab.show(theme, width)
            if violations := await tab.violations():
                found[theme, width] = violations
    assert found == {}
    await tab.open("/docs/search.html?q=staleness")
    await (
        tab.page.locator("#search-results")
        .get_by_role("link", name="Curves", exact=True)
        .wait_for()
    )
    await tab.open("/docs/#/Jobs")
    await tab.page.locator(".swagger-ui").first.wait_for()
    assert urlsplit(tab.page.url).path == "/docs/reference/"
