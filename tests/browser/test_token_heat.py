"""The shades of tokens differ in both themes, and a token that turns the text turns no other."""

from tests.support.api.application import Api
from tests.support.dashboard.browser import Tab, Theme
from tests.support.dashboard.scenes import create_job, put_rollout, trace
from tests.support.dashboard.tokens import Token, put_tokens
from tests.support.stack import Database

GROUNDS = """() => [...document.querySelectorAll(".shades span")].map((one) => {
  const style = getComputedStyle(one);
  return `${style.backgroundColor} ${style.textDecorationLine}`;
})"""
LEFT = """() => [...document.querySelectorAll(".heat span")].map(
  (one) => one.getBoundingClientRect().left)"""
THEMES: tuple[Theme, Theme] = ("light", "dark")


async def test_the_shades_differ_and_no_token_moves_another(
    api: Api, tab: Tab, database: Database
) -> None:
    job = await create_job(api)
    put_rollout(database, job, "ro", trace=trace("Q", "A"))
    tokens: list[Token] = [
        ("start", -0.5, 1.0),
        ("\u202eturned", -9.0, 0.1),
        (" next", -1.0, None),
        ("\n", -3.0, 2.5),
    ]
    put_tokens(database, "ro", [tokens])
    await tab.sign_in(api.key)
    for theme in THEMES:
        await tab.show(theme, 1200)
        for by in ("log_prob", "ratio"):
            await tab.open(f"/jobs/{job}/rollouts/ro/tokens?by={by}")
            grounds = await tab.page.evaluate(GROUNDS)
            assert len(grounds) == 8
            # A token that was not trained differs from one of ratio 1 by its ink.
            assert len(set(grounds)) == (8 if by == "log_prob" else 7), theme
            assert await tab.violations() == []
    left = await tab.page.evaluate(LEFT)
    assert left[0] < left[1] < left[2] < left[3]
    await tab.open(f"/jobs/{job}/rollouts/ro")
    await tab.page.get_by_role("link", name="Token heat").click()
    await tab.page.get_by_role("link", name="Ratio").click()
    row = tab.page.get_by_role("region", name="Ratios farthest from 1").get_by_role("row").nth(1)
    assert (await row.inner_text()).split()[-1] == "0.1000"
