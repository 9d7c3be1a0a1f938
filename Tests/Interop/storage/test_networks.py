"""Networks in front of the storage port. One order changes them for documents and for files."""

import contextlib
import io
import json
import os
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest
import requests
from google.api_core import exceptions
from google.cloud.storage.retry import DEFAULT_RETRY

from conftest import Server
from storage.conftest import BUCKET, connect
from storage.dialects import BLOCK, Web
from test_faults import connects

# Bad networks take their time, and more of it on a busy machine.
pytestmark = pytest.mark.bound(180)

MIB = 1 << 20
# The bandwidth of 3G in bytes per second.
RATE = 200_000
GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
RETRY = DEFAULT_RETRY.with_delay(initial=0.05, multiplier=1.5, maximum=0.5)
# Errors of a network that breaks or does not answer.
BROKEN = (requests.ConnectionError, requests.Timeout)


class Place(Server):
    """A server whose network changes while it runs."""

    def __init__(self, folder, *options, **more):
        super().__init__(folder, 0, "--storage", *options, **more)
        ports = json.loads((self.data / "ports.json").read_text())
        # The port behind the gate.
        self.direct = ports.get("storageDirect")

    def order(self, body=None):
        """Returns the status and the state after an order; without a body, only asks."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.control_port}/tidemark/v1/faults",
            method="PUT" if body else "GET", headers={"content-type": "application/json"},
            data=json.dumps(body).encode() if body else None)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def play(self, network):
        status, state = self.order({"network": network})
        assert (status, state["network"]) == (200, network)

    def heard(self, wait=30.0):
        """Returns what new connections to the ports for documents and for files meet."""
        ports = (self.port, self.storage_port)
        return [kind(connects(port, GET, wait)) for port in ports]

    def object(self, name):
        """Returns the bytes of an object without the network; None if there is none."""
        answer = requests.get(
            f"http://127.0.0.1:{self.direct or self.storage_port}/storage/v1/b/{BUCKET}/o/{name}",
            params={"alt": "media"}, timeout=30)
        return answer.content if answer.status_code == 200 else None


def kind(heard):
    if isinstance(heard, str):
        return heard
    return "portal" if heard.startswith(b"HTTP/1.1 302 ") and b"<p>" in heard else "server"


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path, "--network", "healthy")
    yield place
    place.stop()
    assert place.process.returncode == 0, "the server did not end cleanly"


@pytest.fixture
def ungated(tmp_path):
    """A server without gates."""
    place = Place(tmp_path)
    yield place
    place.stop()


def attempt(call, *arguments, **options):
    """Returns the answer; None if the network broke."""
    try:
        return call(*arguments, **options)
    except BROKEN:
        return None


def stored(web, url):
    """The number of bytes that an upload has."""
    answer = web.later(url, "query")
    assert answer.headers["X-Goog-Upload-Status"] == "active", answer.headers
    return int(answer.headers["X-Goog-Upload-Size-Received"])


def test_one_order_changes_both_ports(place):
    for network, expected in [
        ("healthy", "server"), ("captive", "portal"), ("refuse", "refused"), ("3g", "server"),
        ("refuse", "refused"), ("blackhole", "silence"), ("flaky-30", None), ("healthy", "server"),
    ]:
        place.play(network)
        if expected:
            wait = 0.5 if expected == "silence" else 30.0
            assert place.heard(wait) == [expected] * 2, network
        assert place.order()[1]["network"] == network
    assert place.direct and place.direct != place.storage_port
    assert kind(connects(place.direct, GET)) == "server"


@pytest.mark.parametrize("network, expected", [
    ("refuse", "refused"), ("captive", "portal"), ("blackhole", "silence")])
def test_a_server_starts_on_a_bad_network(tmp_path, network, expected):
    place = Place(tmp_path, "--network", network)
    assert place.heard(0.5 if expected == "silence" else 30.0) == [expected] * 2
    assert kind(connects(place.direct, GET)) == "server"
    place.stop()


def test_the_address_of_an_upload_is_the_gates(place):
    web = Web(place)
    begun = web.begin("a", b"abc")
    assert f"127.0.0.1:{place.storage_port}/" in begun.headers["X-Goog-Upload-URL"]
    emulators = requests.get(f"http://127.0.0.1:{place.control_port}/emulators", timeout=30).json()
    assert emulators["storage"]["port"] == place.storage_port


def test_3g_is_as_narrow_as_it_says(place):
    """A slow machine is slower, and never faster than the network."""
    place.play("3g")
    bucket, data = connect(place).bucket(BUCKET), os.urandom(500_000)
    began = time.monotonic()
    bucket.blob("narrow").upload_from_string(data)
    assert time.monotonic() - began >= len(data) / RATE + 0.4
    assert place.object("narrow") == data
    began = time.monotonic()
    assert bucket.blob("narrow").download_as_bytes() == data
    assert time.monotonic() - began >= len(data) / RATE + 0.4


def test_each_connection_has_the_whole_bandwidth(place):
    """Each connection is a link of its own: a large upload does not hold up a small one."""
    web, data = Web(place), os.urandom(8 * MIB)
    url = web.begin("large", data).headers["X-Goog-Upload-URL"]
    place.play("3g")
    large = Sending(web, url, data)
    large.until(BLOCK)
    Web(place).multipart("small", b"x" * 1_000)
    assert place.object("small") == b"x" * 1_000
    assert large.thread.is_alive(), "the large upload takes 40 s"
    place.play("refuse")
    assert large.answer() is None


class Sending:
    """An upload whose body is sent by another thread, which counts the bytes that it hands over."""

    def __init__(self, web, url, data, offset=0):
        self.sent, self.passed, self.result = 0, threading.Condition(), None
        self.arguments = (web, url, data, offset)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        web, url, data, offset = self.arguments
        self.result = attempt(web.later, url, "upload, finalize", self.body(data, offset), offset)

    def body(self, data, offset):
        for start in range(offset, len(data), 16_384):
            yield data[start:start + 16_384]
            with self.passed:
                self.sent += 16_384
                self.passed.notify_all()

    def until(self, count):
        with self.passed:
            assert self.passed.wait_for(lambda: self.sent >= count, 60)

    def answer(self):
        self.thread.join(60)
        assert not self.thread.is_alive()
        return self.result


def test_an_upload_that_is_refused_goes_on_afterwards(place):
    web, data = Web(place), os.urandom(8 * MIB)
    url = web.begin("cut", data).headers["X-Goog-Upload-URL"]
    place.play("3g")
    sending = Sending(web, url, data)
    sending.until(BLOCK)
    place.play("refuse")
    assert sending.answer() is None, "the open connection is reset"
    assert attempt(Web(place).begin, "other", b"x") is None
    assert connects(place.storage_port) == "refused"
    assert place.object("cut") is None
    place.play("healthy")
    web = Web(place)
    offset = stored(web, url)
    assert 0 <= offset < len(data) and offset % BLOCK == 0
    made = web.later(url, "upload, finalize", data[offset:], offset)
    assert made.status_code == 200 and place.object("cut") == data


# The rest of an upload. The second one is larger than what systems keep for a connection, so its
# last bytes leave the client's system only when the network has returned.
@pytest.mark.parametrize("rest", [20_000, 4 * MIB + 7])
def test_a_blackhole_leaves_the_offset_of_an_upload(place, rest):
    web, data = Web(place), os.urandom(BLOCK + rest)
    url = web.begin("held", data).headers["X-Goog-Upload-URL"]
    assert web.later(url, "upload", data[:BLOCK], 0).status_code == 200
    place.play("blackhole")
    with pytest.raises(BROKEN):
        # On the connection that is open, and then on a new one.
        web.session.post(url, data=data[BLOCK:], timeout=1, headers={
            "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": str(BLOCK)})
    with pytest.raises(BROKEN):
        requests.post(url, timeout=1, headers={"X-Goog-Upload-Command": "query"})
    assert place.object("held") is None
    direct = url.replace(f":{place.storage_port}/", f":{place.direct}/", 1)
    assert stored(web, direct) == BLOCK
    place.play("healthy")
    web = Web(place)
    asked = web.later(url, "query")
    if asked.headers["X-Goog-Upload-Status"] == "active":
        offset = int(asked.headers["X-Goog-Upload-Size-Received"])
        assert offset == BLOCK if rest == 20_000 else offset >= BLOCK
        asked = web.later(url, "upload, finalize", data[offset:], offset)
    assert asked.json()["size"] == str(len(data)) and place.object("held") == data


def test_bytes_that_a_blackhole_holds_arrive_with_the_network(place):
    web, data = Web(place), os.urandom(BLOCK)
    url = web.begin("late", data).headers["X-Goog-Upload-URL"]
    place.play("blackhole")
    sending = Sending(web, url, data)
    sending.until(BLOCK)
    assert place.object("late") is None
    place.play("healthy")
    assert sending.answer().status_code == 200
    assert place.object("late") == data


def test_a_portals_page_is_no_object(place):
    bucket, web = connect(place).bucket(BUCKET), Web(place)
    bucket.blob("there").upload_from_string(b"old")
    url = web.begin("new", b"abc").headers["X-Goog-Upload-URL"]
    place.play("captive")
    # The connections from before the portal are reset, and new ones meet its page.
    assert attempt(web.session.post, url, timeout=30, headers={
        "X-Goog-Upload-Command": "query"}) is None
    answer = requests.post(url, data=b"abc", timeout=30, allow_redirects=False, headers={
        "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"})
    assert answer.status_code == 302 and "X-Goog-Upload-Status" not in answer.headers
    with pytest.raises((exceptions.GoogleAPICallError, *BROKEN)):
        bucket.blob("there").upload_from_string(b"new", retry=None)
    with pytest.raises((exceptions.GoogleAPICallError, *BROKEN)):
        bucket.blob("there").download_as_bytes(retry=None)
    assert place.object("there") == b"old" and place.object("new") is None
    place.play("healthy")
    web = Web(place)
    assert stored(web, url) == 0
    assert web.later(url, "upload, finalize", b"abc", 0).json()["size"] == "3"
    assert connect(place).bucket(BUCKET).blob("there").download_as_bytes() == b"old"


@pytest.mark.parametrize("options", [(), ("--network", "healthy")], ids=["no gates", "gates"])
def test_three_requests_in_ten_fail(tmp_path, options):
    """Half of the failures come before the effect and half after it, and all look alike."""
    place = Place(tmp_path, *options)
    place.play("flaky-30")
    failed = kept = 0
    for number in range(300):
        with requests.Session() as session:
            answer = attempt(
                session.post, f"http://127.0.0.1:{place.storage_port}/upload/storage/v1/b/{BUCKET}/o",
                params={"uploadType": "media", "name": f"flaky{number}"}, data=b"x", timeout=30)
        assert answer is None or answer.status_code == 200
        failed += answer is None
        if answer is None:
            kept += whole(place, f"flaky{number}")
    assert 45 <= failed <= 140, failed
    assert 10 <= kept <= failed - 10, (kept, failed)
    place.play("healthy")
    bucket = connect(place).bucket(BUCKET)
    assert len(list(bucket.list_blobs())) == 300 - failed + kept
    place.stop()


def whole(place, name):
    """Returns true if an object is there, asked until the answer arrives."""
    for _ in range(100):
        answer = attempt(
            requests.get, f"http://127.0.0.1:{place.storage_port}/storage/v1/b/{BUCKET}/o/{name}",
            timeout=30)
        if answer is not None:
            return answer.status_code == 200
    raise AssertionError("100 requests failed")


def test_a_slow_server_stores_at_once_and_answers_late(ungated):
    web = Web(ungated)
    url = web.begin("slow", b"abc").headers["X-Goog-Upload-URL"]
    ungated.play("backend-18s")
    with pytest.raises(requests.Timeout):
        requests.post(url, data=b"abc", timeout=2, headers={
            "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"})
    ungated.play("healthy")
    # A busy machine may need longer than the client had patience.
    while ungated.object("slow") is None:
        time.sleep(0.1)
    assert ungated.object("slow") == b"abc"
    assert web.later(url, "query").headers["X-Goog-Upload-Status"] == "final"
    ungated.play("backend-18s")
    began = time.monotonic()
    assert web.download("slow").content == b"abc"
    assert time.monotonic() - began >= 18


def test_orders_of_faults_do_not_meet_the_network(ungated):
    ungated.play("flaky-30")
    base = f"http://127.0.0.1:{ungated.storage_port}"
    body = {"instructions": {"storage.objects.list": ["return-503"]}}
    made = [requests.post(f"{base}/retry_test", json=body, timeout=30) for _ in range(60)]
    assert {answer.status_code for answer in made} == {200}


def test_google_s_client_uploads_through_failures(place):
    place.play("flaky-30")
    bucket, data = connect(place).bucket(BUCKET), os.urandom(MIB + 7)
    for number in range(5):
        bucket.blob(f"again{number}", chunk_size=BLOCK).upload_from_file(
            io.BytesIO(data), size=len(data), retry=RETRY)
    place.play("healthy")
    assert all(place.object(f"again{number}") == data for number in range(5))
    assert {blob.metageneration for blob in bucket.list_blobs(prefix="again")} == {1}


def test_without_the_option_there_is_no_gate(ungated):
    for network in ["3g", "refuse", "blackhole", "captive"]:
        status, answer = ungated.order({"network": network})
        assert status == 409 and "--network" in answer["error"]
    assert ungated.order()[1]["network"] == "healthy" and ungated.direct is None
    assert ungated.heard() == ["server", "server"]


def test_a_gate_that_cannot_listen_again_changes_nothing(tmp_path):
    """Another process takes the port of the files while the network refuses connections. Both ports
    then stay as they were, until a later order succeeds."""
    other = socket.socket()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    other.bind(("127.0.0.1", 0))
    port = other.getsockname()[1]
    place = Place(tmp_path, "--network", "healthy", "--storage-port", port)
    assert place.storage_port == port
    # A port that a socket without the option has cannot be reserved.
    other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
    place.play("refuse")
    other.listen()
    for network in ["healthy", "captive", "flaky-30"]:
        status, answer = place.order({"network": network})
        assert status == 409 and f":{port}:" in answer["error"], answer
        assert answer["error"].endswith("The network is still refuse."), answer
        assert place.order()[1]["network"] == "refuse"
        assert connects(place.port, GET) == "refused"
    other.close()
    assert place.heard() == ["refused", "refused"]
    place.play("healthy")
    assert place.heard() == ["server", "server"]
    place.stop()


def test_many_orders_at_a_time_end_in_one_network(place):
    names = ["refuse", "captive", "healthy"] * 8
    threads = [
        threading.Thread(target=place.order, args=({"network": name},)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    expected = {"refuse": "refused", "captive": "portal", "healthy": "server"}
    assert place.heard() == [expected[place.order()[1]["network"]]] * 2


def test_silent_connections_leave_room_for_others(tmp_path):
    """Callers behind a blackhole hold descriptors of both gates, and a server may have few.

    A gate without room resets further connections, also before the system reports them as open.
    """
    place = Place(tmp_path, "--network", "blackhole", limits="ulimit -n 400")
    callers = []
    for _ in range(300):
        for port in (place.port, place.storage_port):
            with contextlib.suppress(ConnectionResetError):
                callers.append(socket.create_connection(("127.0.0.1", port), timeout=30))
    # The gates have room for 25 and 18 connections (PortShares).
    assert len(callers) >= 43
    assert place.object("none") is None
    web = Web(place)
    web.base = web.base.replace(f":{place.storage_port}/", f":{place.direct}/")
    web.upload("direct", b"abc")
    place.play("healthy")
    for caller in callers:
        caller.close()
    # A gate has room as soon as it has seen that callers have left.
    deadline = time.monotonic() + 30
    while (heard := place.heard()) != ["server", "server"]:
        assert time.monotonic() < deadline, heard
    Web(place).upload("later", b"abc")
    place.stop()
