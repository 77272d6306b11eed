"""Pages load their own files only, under a policy that admits nothing else, and stay small."""

import gzip
import hashlib
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import app.pages
from tests.support.api.application import ENDPOINT, Api
from tests.support.dashboard.scenes import create_job, put_points, train
from tests.support.dashboard.tokens import put_tokens
from tests.support.dashboard.visits import Markup, Visit
from tests.support.stack import Database

STATIC = Path(app.pages.__file__).with_name("static")
SCRIPTS = {
    *("charts.js", "copy.js", "keys.js", "live.js", "playground.js", "sign_in.js"),
    *("students_chat.js", "students_plan.js", "students_wait.js"),
}
"""The scripts of this project; others' have a digest."""
HEAVIEST = 150_000


async def shown(api: Api, database: Database) -> list[str]:
    job = await create_job(api)
    train(database, job)
    put_tokens(database, "ro_0_1_0")
    body = {"name": "clerk", "base_model": "tiny-agent"}
    await api.call("POST", "/v1/students", json=body)
    student = "/teach/students/clerk"
    definition = {"name": "search", "server_url": ENDPOINT}
    tool = (await api.call("POST", "/v1/tools", json=definition)).json()["id"]
    return [
        "/", "/sign-in", f"/jobs/{job}", f"/jobs/{job}/rollouts", f"/jobs/{job}/report",
        f"/jobs/{job}/events", f"/jobs/{job}/rollouts/ro_0_1_0", f"/jobs/{job}/rows/report/1",
        f"/jobs/{job}/rollouts/ro_0_1_0/tokens",
        "/usage", f"/jobs/{job}/baseline", "/models", "/endpoints",
        f"/endpoints/tools/{tool}", "/jobs/never", "/teach", "/teach/examples", student,
        f"{student}/chat", f"{student}/practice", f"{student}/plan?recipe=reasoning",
        f"{student}/jobs/{job}",
    ]  # fmt: skip


async def test_pages_load_their_own_files_and_run_nothing_inline(
    api: Api, visit: Visit, database: Database
) -> None:
    assets: set[str] = set()
    for path in await shown(api, database):
        page = await visit.get(path)
        policy = dict(
            part.strip().split(" ", 1)
            for part in page.headers["content-security-policy"].split(";")
        )
        assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
        for kind in ("script-src", "style-src", "connect-src", "img-src", "form-action"):
            assert policy[kind] == "'self'", path
        assert page.headers["referrer-policy"] == "same-origin"
        assert page.headers["x-content-type-options"] == "nosniff"
        markup = Markup(page.text)
        assert markup.inline == [], path
        assert len(markup.ids) == len(set(markup.ids)), path
        hosts = {urlsplit(urljoin("http://test/", address)).netloc for address in markup.addresses}
        assert hosts == {"test"}, path
        assets |= {address for address in markup.addresses if address.startswith("/assets/")}
    own = {path.name for path in STATIC.iterdir()} - {"SHA256SUMS"}
    licences = {name for name in own if name.startswith("LICENSE")}
    assert assets == {f"/assets/{name}" for name in own - licences}
    for asset in sorted(assets):
        reply = await visit.get(asset)
        assert reply.content == (STATIC / asset.removeprefix("/assets/")).read_bytes()
        again = await visit.get(asset, **{"if-none-match": reply.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert (await visit.get("/assets/none.js")).status_code == 404
    assert (await visit.get("/assets/..%2fpages.py")).status_code == 404


def test_the_files_of_others_are_unchanged_and_have_their_licence() -> None:
    lines = (STATIC / "SHA256SUMS").read_text().splitlines()
    sums = {line.split()[1]: line.split()[0] for line in lines if not line.startswith("#")}
    own = {"SHA256SUMS", "style.css", "students.css", "icon.svg", *SCRIPTS}
    assert sums.keys() | own == {path.name for path in STATIC.iterdir()}
    for name, digest in sums.items():
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == digest, name
    assert "Zero-Clause BSD" in (STATIC / "LICENSE.htmx.txt").read_text()
    assert "MIT License" in (STATIC / "LICENSE.uPlot.txt").read_text()


def test_no_script_requests_another_host() -> None:
    sums = (STATIC / "SHA256SUMS").read_text()
    scripts = [path for path in STATIC.glob("*.js") if path.name not in sums]
    assert {path.name for path in scripts} == SCRIPTS
    for path in scripts:
        assert "//" not in path.read_text().replace("// ", ""), path.name


async def test_the_heaviest_page_stays_small(api: Api, visit: Visit, database: Database) -> None:
    """The page of a job of 2,000 steps with every chart, and all files that it loads."""
    job = await create_job(api)
    values = [1 / (step + 3) for step in range(2000)]
    tools = [f"tool/tool{n}/{quantity}" for n in range(3) for quantity in _QUANTITIES]
    curves = {(name, "train"): values for name in (*_NAMES, *tools)}
    put_points(database, job, {**curves, ("reward/mean", "valid"): values})
    page = await visit.get(f"/jobs/{job}")
    assert page.text.count('<figure class="chart"') > 15
    files = {a for a in Markup(page.text).addresses if a.startswith("/assets/")}
    contents = [page.content, *[(await visit.get(file)).content for file in files]]
    assert sum(len(gzip.compress(content)) for content in contents) < HEAVIEST


_QUANTITIES = ("calls_mean", "latency_s_mean", "errors", "tokens_per_call")
_NAMES = (
    *("reward/mean", "discarded/share", "reward/component/a", "reward/component/b"),
    *("tool_calls/mean", "tokens/completion_mean", "tokens/reasoning_mean", "tokens/prompt_mean"),
    *("groups/trained", "groups/zero_variance", "groups/masked", "rollouts/limit_stop_share"),
    *("grader/error_share", "train/entropy", "train/sampler_kl_k3", "train/base_kl"),
    *("train/clipped_share", "train/masked_share", "train/grad_norm", "train/learning_rate"),
    *("staleness/mean", "staleness/max", "time/step_s", "time/sampling_s", "time/training_s"),
    *("time/publish_s", "time/eval_s", "idle/trainer_share", "idle/sampler_share"),
    "tool_calls/parse_errors_mean",
)
