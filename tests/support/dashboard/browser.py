"""A real browser in front of the dashboard: Debian's Chromium, driven by Playwright.

No browser is ever downloaded. A tab notes what must not happen: an error on the console, a breach
of the policy of contents, a request to another host, a dialog that a script opened.
"""

import importlib.util
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from tests.support.patience import PATIENCE_S

CHROMIUM: Final = shutil.which("chromium")
AXE: Final = Path(__file__).parents[2] / "browser" / "vendor" / "axe.min.js"
_ARGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_BREACHES: Final = """
document.addEventListener("securitypolicyviolation",
  (event) => console.error(`policy breached: ${event.violatedDirective} ${event.blockedURI}`));
"""
_RUN_AXE: Final = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations.flatMap((one) =>
    one.nodes.map((node) => `${one.id}: ${node.target.join(" ")}`));
}"""
_WIDTH: Final = "() => document.documentElement.scrollWidth"
Theme = Literal["light", "dark"]


def missing() -> str:
    """Returns why no browser can be started here; empty where one can."""
    if CHROMIUM is None:
        return "no chromium is installed (Debian: apt-get install chromium)"
    if importlib.util.find_spec("playwright") is None:
        return "the package playwright is not installed"
    return ""


@dataclass(slots=True)
class Tab:
    page: Any
    base_url: str
    problems: list[str] = field(default_factory=list)

    async def open(self, path: str) -> None:
        await self.page.goto(f"{self.base_url}{path}", wait_until="load")

    async def sign_in(self, key: str, *, heading: str = "Jobs") -> None:
        await self.open("/")
        await self.page.get_by_label("API key of a project").fill(key)
        await self.page.get_by_role("button", name="Sign in").click()
        await self.page.get_by_role("heading", name=heading, exact=True).wait_for()

    async def show(self, theme: Theme, width: int) -> None:
        await self.page.set_viewport_size({"width": width, "height": 900})
        await self.page.emulate_media(color_scheme=theme)

    async def violations(self) -> list[str]:
        """Returns what axe-core finds on the page, and how far it is wider than the window."""
        if not await self.page.evaluate("() => 'axe' in window"):
            await self.page.evaluate(AXE.read_text())
        found: list[str] = await self.page.evaluate(_RUN_AXE)
        width = await self.page.evaluate(_WIDTH)
        window = self.page.viewport_size["width"]
        return found if width <= window else [*found, f"{width - window} px too wide"]

    def note(self, problem: str) -> None:
        self.problems.append(problem)

    def watch(self) -> None:
        host = urlsplit(self.base_url).netloc

        def sent(request: Any) -> None:
            if urlsplit(request.url).netloc != host:
                self.note(f"request to another host: {request.url}")

        def said(message: Any) -> None:
            if message.type in ("error", "warning"):
                self.note(f"console: {message.text}")

        async def asked(dialog: Any) -> None:
            self.note(f"dialog: {dialog.message}")
            await dialog.dismiss()

        self.page.on("request", sent)
        self.page.on("console", said)
        self.page.on("pageerror", lambda error: self.note(f"script: {error}"))
        self.page.on("dialog", asked)


@asynccontextmanager
async def browsing(base_url: str) -> AsyncIterator[Tab]:
    """Starts the browser with one tab."""
    from playwright.async_api import async_playwright  # noqa: PLC0415 - a machine may lack it

    async with async_playwright() as playwright:
        # Playwright's own limits, 30 s each, would measure the machine.
        patience_ms = 1000 * PATIENCE_S
        browser = await playwright.chromium.launch(
            executable_path=CHROMIUM, args=list(_ARGS), timeout=patience_ms
        )
        try:
            context = await browser.new_context(viewport={"width": 1440, "height": 900})
            context.set_default_timeout(patience_ms)
            await context.add_init_script(_BREACHES)
            tab = Tab(await context.new_page(), base_url)
            tab.watch()
            yield tab
        finally:
            await browser.close()
