"""A hub that sends more than was asked for, over real sockets."""

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from typing_extensions import override

from app.curricula.curricula import HubSource
from app.files.hub_data_sets import HubLocation, open_data_set
from app.kit.egress import EgressPolicy
from app.kit.errors import EndpointRefused
from app.kit.hub import MAX_REPLY_BYTES, DataSetFault, HubReplyRefused, guarded_client

BLOCK = b"0" * (1 << 20)
MOST_SENT = 64
"""Blocks that would be sent to a client that reads everything."""


class Hub(BaseHTTPRequestHandler):
    """Answers by path: with the commit in it, compressed, or with a long body."""

    sent = 0
    encodings: tuple[str | None, ...] = ()

    def do_GET(self) -> None:
        Hub.encodings += (self.headers["Accept-Encoding"],)
        kind = self.path.split("?")[0].rsplit("/", 1)[1]
        self.send_response(200)
        if kind == "long":
            self.end_headers()
            self._long()
            return
        if kind == "gzip":
            self.send_header("Content-Encoding", "gzip")
        commit = {"climbing": "../../x/z", "number": 7, "short": "a" * 39}.get(kind, "a" * 40)
        reply = json.dumps({"id": f"own/{kind}", "sha": commit, "siblings": [
            {"rfilename": "train.csv"}]}).encode()  # fmt: skip
        self.end_headers()
        self.wfile.write(gzip.compress(reply) if kind == "gzip" else reply)

    def _long(self) -> None:
        try:
            for _ in range(MOST_SENT):
                self.wfile.write(BLOCK)
                Hub.sent += 1
        except OSError:
            return

    @override
    def log_message(self, *_args: Any) -> None:
        return


@pytest.fixture
def location() -> Iterator[HubLocation]:
    Hub.sent, Hub.encodings = 0, ()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        server.daemon_threads = False
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        name = f"127.0.0.1:{server.server_port}"
        yield HubLocation(f"http://{name}", EgressPolicy(frozenset({name}), True), None)
        server.shutdown()


def code_of(location: HubLocation, name: str) -> str:
    source = HubSource.model_validate({"type": "huggingface", "data_set": f"own/{name}"})
    with pytest.raises(DataSetFault) as caught:
        open_data_set(source, location)
    return caught.value.code


def test_a_compressed_reply_is_refused_unread(location: HubLocation) -> None:
    assert code_of(location, "gzip") == "hub_unavailable"
    assert set(Hub.encodings) == {"identity"}


def test_a_reply_is_read_up_to_its_limit(location: HubLocation) -> None:
    assert code_of(location, "long") == "hub_unavailable"
    assert 8 <= Hub.sent < MOST_SENT


def test_a_range_that_is_ignored_ends_the_reading(location: HubLocation) -> None:
    with guarded_client(location.policy) as client:
        with pytest.raises(HubReplyRefused, match="more than 100 bytes"):
            client.get(f"{location.endpoint}/long", headers={"range": "bytes=50-149"})
        with pytest.raises(HubReplyRefused, match=f"more than {MAX_REPLY_BYTES} bytes"):
            client.get(f"{location.endpoint}/long")
        whole = client.get(f"{location.endpoint}/a", headers={"range": "bytes=0-999"})
    assert whole.json()["sha"] == "a" * 40


@pytest.mark.parametrize("name", ["climbing", "short"])
def test_a_commit_is_forty_hexadecimal_digits(location: HubLocation, name: str) -> None:
    assert code_of(location, name) == "hub_unavailable"


def test_a_plain_reply_is_read(location: HubLocation) -> None:
    source = HubSource.model_validate({"type": "huggingface", "data_set": "own/plain"})
    found = open_data_set(source, location)
    assert (found.revision, [name for name, _ in found.files]) == ("a" * 40, ["train.csv"])


@pytest.mark.parametrize("addresses", [["10.0.0.1"], ["93.184.215.14", "127.0.0.1"]])
def test_a_name_is_not_dialled_if_one_of_its_addresses_is_private(
    monkeypatch: pytest.MonkeyPatch, addresses: list[str]
) -> None:
    found = [(0, 0, 0, "", (address, 443)) for address in addresses]
    monkeypatch.setattr("app.kit.hub.socket.getaddrinfo", lambda *_, **__: found)
    with guarded_client(EgressPolicy()) as client, pytest.raises(EndpointRefused):
        client.get("https://hub.example/")
