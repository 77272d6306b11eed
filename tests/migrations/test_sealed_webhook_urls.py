import psycopg
import pytest
from alembic import command
from alembic.config import Config

from app.kit.sealing import SecretBox
from app.local.servers import package_dir
from app.webhooks.events import EndpointCredentials, SigningSecret
from app.webhooks.sending import EndpointSecrets
from tests.support.stack import Database

CANARY = "canary-hook"
URL = f"https://r.example/hook?token={CANARY}&v"
SHOWN = "https://r.example/hook?token=[redacted]&[redacted]"
PLAIN = "https://r.example/plain"
SIGNING = (SigningSecret("whsec_a"), SigningSecret("whsec_b", 17))


@pytest.mark.parametrize("with_key", [True, False])
def test_old_urls_are_sealed_or_redacted(
    database: Database, monkeypatch: pytest.MonkeyPatch, *, with_key: bool
) -> None:
    key = database.settings.secret_key.get_secret_value()
    ours = EndpointSecrets(SecretBox(key), "proj_m")
    foreign = EndpointSecrets(SecretBox("k" * 40), "proj_m")
    scripts = package_dir("migrations")
    assert scripts is not None
    config = Config(str(scripts / "alembic.ini"))
    config.attributes["url"] = database.owner_url
    command.downgrade(config, "0014")
    earlier = EndpointCredentials(SIGNING)
    before = {
        "whe_1": (URL, ours.seal("whe_1", earlier)),
        "whe_2": (PLAIN, ours.seal("whe_2", earlier)),
        "whe_3": (URL, foreign.seal("whe_3", earlier)),
    }
    url = database.superuser_url.replace("+psycopg", "")
    with psycopg.connect(url) as connection:
        _insert(connection, before)
    monkeypatch.delenv("AGENT_RFT_SECRET_KEY", raising=False)
    if with_key:
        monkeypatch.setenv("AGENT_RFT_SECRET_KEY", key)
    command.upgrade(config, "head")
    with psycopg.connect(url) as connection:
        texts = connection.execute("SELECT t::text FROM webhook_endpoints t").fetchall()
        rows = connection.execute("SELECT id, url, secrets FROM webhook_endpoints").fetchall()
        forced = connection.execute(
            "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'webhook_endpoints'"
        ).fetchone()
    after = {row[0]: (row[1], row[2]) for row in rows}
    assert CANARY not in repr(texts)
    assert forced == (True,)
    assert {name: url for name, (url, _) in after.items()} == {
        "whe_1": SHOWN,
        "whe_2": PLAIN,
        "whe_3": SHOWN,
    }
    opened = {name: ours.open(name, after[name][1]) for name in ("whe_1", "whe_2")}
    assert [envelope.signing for envelope in opened.values()] == [SIGNING, SIGNING]
    assert opened["whe_1"].whole_url(SHOWN) == (URL if with_key else None)
    assert opened["whe_2"].whole_url(PLAIN) == PLAIN
    assert {name: after[name][1] for name in ("whe_2", "whe_3")} == {
        name: before[name][1] for name in ("whe_2", "whe_3")
    }


def _insert(
    connection: psycopg.Connection[tuple[object, ...]], endpoints: dict[str, tuple[str, bytes]]
) -> None:
    """Endpoints as an earlier version stored them."""
    connection.execute("INSERT INTO organizations (id, slug, title) VALUES ('org-m', 'm', 'm')")
    connection.execute(
        "INSERT INTO projects (id, organization_id, name) VALUES ('proj_m', 'org-m', 'm')"
    )
    for endpoint_id, (url, sealed) in endpoints.items():
        connection.execute(
            "INSERT INTO webhook_endpoints (id, project_id, name, url, event_types, subscribed_at,"
            " secrets, secret_hint) VALUES (%s, 'proj_m', 'n', %s, '{}', '{}', %s, 'whsec_***')",
            [endpoint_id, url, sealed],
        )
