"""`agent-rft profiles`, and the address and key that a command takes."""

import json
import os
import stat
from pathlib import Path

import pytest

from app.cli.profiles.profiles import Named, Profile, address_of, write_profiles
from app.cli.service_errors import ServiceError
from tests.support.command_line import agent_rft

KEY = "art_project_secret"
URL = "http://service.example/v1"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return str(tmp_path / "config")


def file_of(home: str) -> Path:
    return Path(home) / "agent-rft" / "profiles.json"


def named(
    base_url: str | None = None,
    api_key: str | None = None,
    profile: str | None = None,
    *sent: str,
) -> Named:
    return Named(base_url, api_key, profile, frozenset(sent))


def test_profiles_are_added_listed_and_removed_without_a_key_in_sight(home: str) -> None:
    umask = os.umask(0)
    try:
        for name in ("staging", "default"):
            arguments = ("profiles", "add", name, "--base-url", URL)
            added = agent_rft(*arguments, stdin=f"{KEY}\n", XDG_CONFIG_HOME=home)
            assert (added.returncode, added.stdout) == (0, "")
            assert added.stderr == f"agent-rft: profile {name} is in {file_of(home)}\n"
    finally:
        os.umask(umask)
    assert stat.S_IMODE(file_of(home).stat().st_mode) == 0o600
    assert stat.S_IMODE(file_of(home).parent.stat().st_mode) == 0o700
    content = json.loads(file_of(home).read_text())
    assert content["staging"] == {"base_url": URL, "api_key": KEY}
    listed = agent_rft("profiles", "list", "--json", XDG_CONFIG_HOME=home)
    assert json.loads(listed.stdout) == {
        "version": 1,
        "command": "profiles list",
        "data": [{"name": name, "base_url": URL} for name in ("default", "staging")],
        "has_more": False,
        "error": None,
    }
    shown = agent_rft("profiles", "list", XDG_CONFIG_HOME=home)
    assert KEY not in listed.stdout + shown.stdout + shown.stderr
    removed = agent_rft("profiles", "remove", "default", XDG_CONFIG_HOME=home)
    assert removed.returncode == 0
    assert list(json.loads(file_of(home).read_text())) == ["staging"]
    assert list(file_of(home).parent.iterdir()) == [file_of(home)]


@pytest.mark.parametrize(
    ("arguments", "stdin", "told"),
    [
        (("add", "a/b", "--base-url", URL), KEY, "a name has letters"),
        (("add", "a", "--base-url", "ftp://x"), KEY, "begins with http:// or https://"),
        (("add", "a", "--base-url", "http://u:p@x/v1"), KEY, "no user and no password"),
        (("add", "a", "--base-url", "http://x:port/v1"), KEY, "begins with http:// or https://"),
        (("add", "a", "--base-url", URL), "", "standard input has no API key"),
        (("add", "a", "--base-url", URL), "two words", "standard input has no API key"),
        (("add", "kept", "--base-url", URL), KEY, "pass --force to replace it"),
        (("remove", "never"), "", "no profile never"),
    ],
)
def test_a_profile_that_cannot_be_used_is_refused(
    home: str, arguments: tuple[str, ...], stdin: str, told: str
) -> None:
    write_profiles({"kept": Profile(base_url=URL, api_key=KEY)})
    done = agent_rft("profiles", *arguments, stdin=stdin, XDG_CONFIG_HOME=home)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert KEY not in done.stderr
    assert list(json.loads(file_of(home).read_text())) == ["kept"]


@pytest.mark.usefixtures("home")
def test_options_come_first_then_a_chosen_profile_then_variables() -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    variables = named("http://v/v1", "variable")
    assert address_of(variables).base_url == "http://v/v1"
    chosen = address_of(named("http://v/v1", "variable", "p"))
    assert (chosen.base_url, chosen.api_key) == (URL, KEY)
    sent = address_of(named("http://o/v1", "option", "p", "base_url", "api_key"))
    assert (sent.base_url, sent.api_key) == ("http://o/v1", "option")
    assert KEY not in repr(chosen)
    assert address_of(named()).base_url is None
    write_profiles({"default": Profile(base_url=URL, api_key=KEY)})
    assert address_of(named()).api_key == KEY
    assert address_of(variables).api_key == "variable"


@pytest.mark.usefixtures("home")
def test_a_profiles_key_goes_to_its_own_address_only() -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    with pytest.raises(ServiceError, match=r"is for http://service\.example/v1 only") as refused:
        address_of(named("http://o/v1", None, "p", "base_url"))
    assert (refused.value.exit_code, KEY in str(refused.value)) == (2, False)
    with pytest.raises(ServiceError, match="no profile q; there are: p"):
        address_of(named(profile="q"))


def test_a_file_that_others_may_read_is_refused(home: str) -> None:
    write_profiles({"p": Profile(base_url=URL, api_key=KEY)})
    file_of(home).chmod(0o640)
    with pytest.raises(ServiceError, match="run chmod 600 on it"):
        address_of(named(profile="p"))
    file_of(home).chmod(0o600)
    file_of(home).write_text('{"p": {"base_url": 1}}')
    with pytest.raises(ServiceError, match="is no file of profiles") as refused:
        address_of(named(profile="p"))
    assert refused.value.exit_code == 2


def test_a_command_calls_the_service_of_its_profile(home: str) -> None:
    write_profiles({"p": Profile(base_url="http://127.0.0.1:9/v1", api_key=KEY)})
    for chosen, variables in ((("--profile", "p"), {}), ((), {"AGENT_RFT_PROFILE": "p"})):
        done = agent_rft("jobs", "list", *chosen, XDG_CONFIG_HOME=home, **variables)
        assert done.returncode == 15
        assert done.stderr.startswith("agent-rft: no answer from http://127.0.0.1:9/v1: ")
        assert KEY not in done.stderr
