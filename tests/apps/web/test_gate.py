# SPDX-License-Identifier: Apache-2.0
import pytest
from starlette.websockets import WebSocketDisconnect

from equipoise.apps.web.settings import ServerSettings
from equipoise.core.errors import ConfigError
from tests.apps.web.asking import BASE, HOST, refusal


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8140", "127.0.0.1.evil.example", "", "[::1]evil:8140", "localhost:80:80"]
)
def test_foreign_hosts_are_refused(client, host):
    answer = client.get("/api/status", headers={"host": host})
    assert (answer.status_code, refusal(answer)["code"]) == (403, "forbidden")


@pytest.mark.parametrize("host", ["localhost:8140", "127.0.0.1", "[::1]:8140"])
def test_own_hosts_are_answered(client, host):
    assert client.get("/api/status", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:9999", "http://[", "", f"{BASE}@evil.example"]
)
def test_requests_of_other_sites_are_refused(client, origin):
    answer = client.post("/api/range", json={"text": "AA"}, headers={"origin": origin})
    assert (answer.status_code, refusal(answer)["field"]) == (403, "origin")
    assert client.post("/api/range", json={"text": "AA"}, headers={"origin": BASE}).status_code == 200


def test_a_second_origin_does_not_hide_behind_the_first(client):
    headers = [("origin", BASE), ("origin", "http://evil.example"), ("host", HOST["host"])]
    assert client.get("/api/status", headers=headers).status_code == 403


def test_reads_of_other_sites_are_refused_but_links_to_the_page_are_not(client):
    site = {"sec-fetch-site": "cross-site"}
    assert client.get("/api/solutions", headers=site).status_code == 403
    assert client.get("/s/river/x", headers=site).status_code == 200
    assert client.get("/api/solutions", headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_bodies_that_plain_forms_can_send_are_refused(client):
    answer = client.post("/api/range", content=b'{"text": "AA"}', headers={"content-type": "text/plain"})
    assert (answer.status_code, refusal(answer)["field"]) == (415, "content-type")


def test_large_bodies_are_refused_whatever_their_header_says(serve):
    client = serve(most_body_bytes=1000)
    assert client.post("/api/range", json={"text": "A" * 2000}).status_code == 413
    pieces = (b"x" * 600 for _ in range(3))
    chunked = client.post("/api/range", content=pieces, headers={"content-type": "application/json"})
    assert (chunked.status_code, refusal(chunked)["code"]) == (413, "body_too_large")


def test_large_uploads_are_refused_and_leave_nothing(serve, tmp_path):
    client = serve(most_upload_bytes=1000)
    kind = {"content-type": "application/octet-stream"}
    answer = client.post("/api/solutions", content=(b"x" * 600 for _ in range(3)), headers=kind)
    assert answer.status_code == 413
    assert not list((tmp_path / "runs" / "uploads").iterdir())


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://["},
        {"host": "evil.example"},
        {"sec-fetch-site": "cross-site"},
    ],
)
def test_sockets_of_other_sites_are_refused(client, headers):
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/events", headers={**HOST, **headers}):
        pass


def test_own_sockets_are_greeted(client):
    with client.websocket_connect("/api/events", headers={**HOST, "origin": BASE}) as socket:
        assert socket.receive_json()["type"] == "hello"


def test_addresses_that_others_reach_need_a_token(serve):
    client = serve(host="0.0.0.0", token="secret", base_url="http://192.168.1.2:8140")
    assert refusal(client.get("/api/status"))["code"] == "token"
    assert client.get("/api/status", headers={"authorization": "Bearer wrong"}).status_code == 401
    assert client.get("/api/status", headers={"authorization": "Bearer secret"}).status_code == 200
    opened = client.get("/?token=secret", follow_redirects=False)
    assert opened.status_code == 303
    assert "secret" not in opened.headers["location"]
    assert client.get("/api/status").status_code == 200  # by the cookie
    client.cookies.clear()
    assert client.get("/api/status", headers={"cookie": "a/b=1"}).status_code == 401  # a cookie that cannot be read
    assert client.get("/api/status", headers={"host": "evil.example"}).status_code == 403


def test_settings_without_a_token_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="needs a token"):
        ServerSettings(runs=tmp_path, host="0.0.0.0")


def test_answers_keep_other_pages_out(client):
    headers = client.get("/").headers
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")


@pytest.mark.parametrize(
    "path",
    ["/assets/../settings.py", "/assets/%2e%2e/settings.py", "/..%2f..%2fsettings.py", "/assets/..%5csettings.py"],
)
def test_files_beside_the_page_are_not_served(serve, tmp_path, path):
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("the page")
    (tmp_path / "settings.py").write_text("hidden")
    client = serve(page=page)
    assert "hidden" not in client.get(path).text
    assert client.get("/s/turn/x").text == "the page"


def test_files_of_the_page_are_served(serve, tmp_path):
    (tmp_path / "page" / "assets").mkdir(parents=True)
    (tmp_path / "page" / "index.html").write_text("the page")
    (tmp_path / "page" / "assets" / "a1.js").write_text("code")
    client = serve(page=tmp_path / "page")
    assert client.get("/assets/a1.js").text == "code"
    assert "immutable" in client.get("/assets/a1.js").headers["cache-control"]
    assert client.get("/assets/a2.js").status_code == 404
    assert client.get("/").headers["cache-control"] == "no-cache"
