"""The pages of documentation in a browser: their own files are enough, and the search finds."""

import pytest

from tests.browser.test_accessibility import forms_of
from tests.support.dashboard.browser import Tab
from tests.support.documentation import built_site, serve


@pytest.fixture
def _served(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(built_site(tmp_path_factory), monkeypatch)


@pytest.mark.usefixtures("_served")
async def test_a_reader_searches_a_curve_and_opens_the_reference(tab: Tab) -> None:
    await tab.open("/docs")
    await tab.page.get_by_role("textbox", name="Search").fill("staleness")
    await tab.page.keyboard.press("Enter")
    await tab.page.get_by_role("link", name="Curves", exact=True).first.click()
    await tab.page.get_by_role("heading", name="Time and overlap").wait_for()
    await tab.open("/docs/#/Jobs")
    await tab.page.wait_for_url("**/docs/reference/#/Jobs")
    await tab.page.get_by_text("/v1/fine_tuning/jobs", exact=True).first.wait_for()


@pytest.mark.usefixtures("_served")
async def test_pages_are_accessible(tab: Tab) -> None:
    found = {}
    for path in ("/docs/", "/docs/quickstart.html", "/docs/metrics.html", "/docs/search.html"):
        await tab.open(path)
        found |= await forms_of(tab, path)
    assert found == {}
