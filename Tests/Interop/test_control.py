"""The control endpoint of `tidemark serve`, over plain HTTP."""

import json
import urllib.error
import urllib.request

import pytest


def ask(server, path, body=None, method=None):
    """Returns the status and the decoded JSON."""
    data = body.encode() if isinstance(body, str) else body
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.control_port}{path}", data=data, method=method,
        headers={"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_it_is_alive(server):
    assert ask(server, "/") == (200, {"status": "alive"})


def test_the_meter_counts_what_was_read(server):
    def reads():
        status, rows = ask(server, "/tidemark/v1/meter")
        assert status == 200
        return sum(row["reads"] for row in rows)

    client = server.client()
    document = client.document("metered/one")
    document.set({"n": 1})
    before = reads()
    document.get()
    assert reads() == before + 1


def test_the_clock_is_set_and_followed_again(tmp_path):
    from conftest import Server

    server = Server(tmp_path)
    try:
        microseconds = 1_000_000_000_000_000  # September 2001
        body = json.dumps({"time": microseconds})
        assert ask(server, "/tidemark/v1/clock", body)[0] == 200
        result = server.client().document("a/b").set({"n": 1})
        assert result.update_time.year == 2001
        # Commit times never decrease.
        status, answer = ask(server, "/tidemark/v1/clock", '{"time": 0}')
        assert status == 409 and answer["error"]
        assert ask(server, "/tidemark/v1/clock", '{"time": null}')[0] == 200
    finally:
        server.stop()


@pytest.mark.parametrize("body", [
    "", "{}", "[]", "not json", '{"time": "x"}', '{"time": 9223372036854775807}',
    '{"time": 1.5}', "\ud83d".encode("utf-8", "surrogatepass")])
def test_a_bad_clock_is_refused_with_a_sentence(server, body):
    status, answer = ask(server, "/tidemark/v1/clock", body, method="POST")
    assert status == 400
    assert "microseconds since 1970" in answer["error"]


def test_a_large_body_is_refused(server):
    status, answer = ask(server, "/tidemark/v1/clock", "x" * 10_000)
    assert status == 413
    assert "4096" in answer["error"]


def test_unknown_paths_and_methods_are_refused_with_a_sentence(server):
    assert ask(server, "/nothing/here")[0] == 404
    status, answer = ask(server, "/tidemark/v1/meter", "{}")
    assert status == 405 and "POST" in answer["error"]
