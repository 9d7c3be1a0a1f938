"""Faults by the vocabulary of Google's test server, and Google's client that retries through them."""

import io
import os
import socket
import time
import uuid

import pytest
import requests
from google.cloud.storage.retry import DEFAULT_RETRY

from accounts.conftest import TOKEN
from conftest import Server
from storage.conftest import BUCKET, connect
from storage.dialects import BLOCK, Android, Ios, Web

MIB = 1 << 20
RETRY = DEFAULT_RETRY.with_delay(initial=0.05, multiplier=1.5, maximum=0.5)


class Faults:
    """A retry test of the server, and a client whose requests name it."""

    def __init__(self, server, instructions, **more):
        self.base = f"http://127.0.0.1:{server.storage_port}"
        made = requests.post(
            f"{self.base}/retry_test", json={"instructions": instructions, **more}, timeout=30)
        assert made.status_code == 200, made.text
        self.id = made.json()["id"]
        assert made.json() == {
            "id": self.id, "instructions": instructions, "transport": "HTTP", "completed": False,
            "everyRequest": more.get("everyRequest", False)}
        self.headers = {"x-retry-test-id": self.id}
        self.bucket = connect(server).bucket(BUCKET)
        self.bucket.client._http.headers.update(self.headers)

    def state(self):
        return requests.get(f"{self.base}/retry_test/{self.id}", timeout=30).json()

    def check_completed(self):
        assert self.state()["completed"], self.state()

    def delete(self):
        return requests.delete(f"{self.base}/retry_test/{self.id}", timeout=30)


def refusal(server, body):
    answer = requests.post(
        f"http://127.0.0.1:{server.storage_port}/retry_test", json=body, timeout=30)
    assert answer.status_code == 400, answer.text
    return answer.json()["error"]["message"]


CALLS = {
    "storage.buckets.list": lambda bucket, name: list(bucket.client.list_buckets(retry=RETRY)),
    "storage.buckets.get": lambda bucket, name: bucket.reload(retry=RETRY),
    "storage.objects.list": lambda bucket, name: list(bucket.list_blobs(retry=RETRY)),
    "storage.objects.get": lambda bucket, name: bucket.blob(name).download_as_bytes(retry=RETRY),
    "storage.objects.insert": lambda bucket, name: bucket.blob(name).upload_from_string(
        b"new", retry=RETRY),
    "storage.objects.patch": lambda bucket, name: bucket.blob(name).patch(retry=RETRY),
    "storage.objects.update": lambda bucket, name: bucket.blob(name).update(retry=RETRY),
    "storage.objects.delete": lambda bucket, name: bucket.blob(name).delete(retry=RETRY),
    "storage.objects.copy": lambda bucket, name: bucket.copy_blob(
        bucket.blob(name), bucket, name + "2", retry=RETRY),
    "storage.objects.rewrite": lambda bucket, name: bucket.blob(name + "2").rewrite(
        bucket.blob(name), retry=RETRY),
    "storage.objects.compose": lambda bucket, name: bucket.blob(name + "2").compose(
        [bucket.blob(name)], retry=RETRY),
}


@pytest.mark.parametrize("method", sorted(CALLS))
def test_each_call_is_repeated_until_it_succeeds(files, bucket, name, method):
    bucket.blob(name).upload_from_string(b"old")
    faults = Faults(files, {method: [
        "return-503", "return-reset-connection", "return-408", "return-429"]})
    CALLS[method](faults.bucket, name)
    faults.check_completed()
    if method == "storage.objects.insert":
        found = bucket.get_blob(name)
        assert found.download_as_bytes() == b"new"


def test_a_fault_is_for_its_method_and_its_test_alone(files, bucket, name):
    bucket.blob(name).upload_from_string(b"old")
    faults = Faults(files, {"storage.objects.get": ["return-503"]})
    assert faults.bucket.list_blobs(max_results=1, retry=None)
    assert bucket.blob(name).download_as_bytes(retry=None) == b"old"
    url = f"{faults.base}/storage/v1/b/{BUCKET}/o?maxResults=1"
    assert requests.get(url, headers={"x-retry-test-id": "unknown"}, timeout=30).ok
    assert not faults.state()["completed"]


@pytest.mark.parametrize("instruction", [
    "return-broken-stream", "return-broken-stream-after-256K", "return-broken-stream-after-1023K",
    "return-reset-connection", "stall-for-1s-after-256K"])
def test_a_download_that_breaks_is_whole_in_the_end(files, bucket, name, instruction):
    data = os.urandom(MIB + 7)
    bucket.blob(name).upload_from_string(data)
    # A pause is no error, so the first request succeeds.
    count = 1 if instruction.startswith("stall") else 2
    faults = Faults(files, {"storage.objects.get": [instruction] * count})
    assert faults.bucket.blob(name).download_as_bytes(retry=RETRY, checksum="md5") == data
    if instruction.startswith("return-broken-stream-after"):
        # The second request asks for the rest alone, which may be too short for the fault.
        left = faults.state()["instructions"]["storage.objects.get"]
        assert len(left) <= 1
    else:
        faults.check_completed()


@pytest.mark.parametrize("kind", ["chunks", "one request", "multipart"])
@pytest.mark.parametrize("instruction", [
    "return-503", "return-503-after-256K", "return-503-after-700K", "return-reset-connection",
    "return-broken-stream", "return-broken-stream-after-300K", "stall-for-1s-after-256K",
    "return-broken-stream-final-chunk-after-0B", "return-broken-stream-final-chunk-after-10B"])
def test_an_upload_that_breaks_is_whole_in_the_end(files, bucket, name, kind, instruction):
    if "final-chunk" in instruction and kind == "multipart":
        pytest.skip("a multipart upload has no chunks")
    data = os.urandom(MIB + 7)
    count = 1 if instruction.startswith("stall") else 2
    faults = Faults(files, {"storage.objects.insert": [instruction] * count})
    blob = faults.bucket.blob(name, chunk_size=BLOCK if kind == "chunks" else None)
    # The library sends an upload of unknown size in chunks.
    size = len(data) if kind == "multipart" else None
    blob.upload_from_file(io.BytesIO(data), size=size, retry=RETRY, checksum="crc32c")
    faults.check_completed()
    found = bucket.get_blob(name)
    assert found.size == len(data) and found.metageneration == 1
    assert found.download_as_bytes() == data


def begin(faults, name, size):
    begun = requests.post(
        f"{faults.base}/upload/storage/v1/b/{BUCKET}/o", json={"name": name}, timeout=30,
        params={"uploadType": "resumable"}, headers={"X-Upload-Content-Length": str(size)})
    return begun.headers["Location"]


def stored(url):
    """How many bytes of an upload the server has."""
    answer = requests.put(url, headers={"Content-Range": "bytes */*"}, timeout=30)
    assert answer.status_code == 308, answer.text
    return int(answer.headers.get("Range", "bytes=0--1").split("-", 1)[1]) + 1


@pytest.mark.parametrize("instruction", [
    "return-503-after-512K", "return-broken-stream-after-512K"])
def test_a_session_dies_at_a_byte(files, bucket, name, instruction):
    """The bytes before the fault stay, also if earlier requests have sent some of them."""
    data = os.urandom(MIB)
    faults = Faults(files, {"storage.objects.insert": [instruction]})
    url = begin(faults, name, MIB)
    first = requests.put(url, data=data[:BLOCK], timeout=30, headers={
        "Content-Range": f"bytes 0-{BLOCK - 1}/{MIB}", **faults.headers})
    assert first.status_code == 308 and not faults.state()["completed"]
    later = {"Content-Range": f"bytes {BLOCK}-{MIB - 1}/{MIB}", **faults.headers}
    try:
        answer = requests.put(url, data=data[BLOCK:], timeout=30, headers=later)
        assert answer.status_code == 503 and instruction.startswith("return-503")
    except requests.ConnectionError:
        assert instruction.startswith("return-broken")
    faults.check_completed()
    assert stored(url) == 2 * BLOCK
    last = {"Content-Range": f"bytes {2 * BLOCK}-{MIB - 1}/{MIB}", **faults.headers}
    assert requests.put(url, data=data[2 * BLOCK:], timeout=30, headers=last).ok
    assert bucket.blob(name).download_as_bytes() == data


def test_a_lost_final_answer(files, bucket, name):
    """The object is there, and the client that asks gets its metadata."""
    faults = Faults(files, {"storage.objects.insert": [
        "return-broken-stream-final-chunk-after-0B"]})
    url = begin(faults, name, 3)
    whole = {"Content-Range": "bytes 0-2/3", **faults.headers}
    with pytest.raises(requests.ConnectionError):
        requests.put(url, data=b"abc", timeout=30, headers=whole)
    assert bucket.blob(name).download_as_bytes() == b"abc"
    again = requests.put(url, headers={"Content-Range": "bytes */3"}, timeout=30)
    assert again.status_code == 200 and again.json()["size"] == "3"


def test_a_reset_has_no_effect(files, bucket, name):
    faults = Faults(files, {"storage.objects.delete": ["return-reset-connection"]})
    bucket.blob(name).upload_from_string(b"x")
    with pytest.raises(requests.ConnectionError) as error:
        requests.delete(
            f"{faults.base}/storage/v1/b/{BUCKET}/o/{requests.utils.quote(name, safe='')}",
            headers=faults.headers, timeout=30)
    assert "reset" in str(error.value).lower()
    assert bucket.blob(name).exists()


def test_a_pause_takes_its_time(files, bucket, name):
    data = os.urandom(2 * BLOCK)
    bucket.blob(name).upload_from_string(data)
    faults = Faults(files, {"storage.objects.get": ["stall-for-1s-after-256K"]})
    began = time.monotonic()
    assert faults.bucket.blob(name).download_as_bytes() == data
    assert time.monotonic() - began >= 1


@pytest.mark.parametrize("dialect", [Web, Ios, Android], ids=["web", "ios", "android"])
def test_faults_of_firebases_clients(files, name, dialect):
    """An app cannot add a header, so the faults are for every request."""
    device = dialect(files)
    data = os.urandom(MIB + 1)
    faults = Faults(files, {"storage.objects.insert": [
        "return-503", "return-broken-stream-after-300K", "return-503-after-600K",
        "return-broken-stream-final-chunk-after-0B"]}, everyRequest=True)
    try:
        assert device.begin(name, data).status_code == 503
        url = device.begin(name, data).headers["X-Goog-Upload-URL"]
        answers = [attempt(device, url, "upload, finalize", data, 0)]
        offset = int(device.later(url, "query").headers["X-Goog-Upload-Size-Received"])
        assert offset == BLOCK, "whole blocks stay"
        answers.append(attempt(device, url, "upload, finalize", data[offset:], offset))
        offset = int(device.later(url, "query").headers["X-Goog-Upload-Size-Received"])
        assert offset == 2 * BLOCK
        answers.append(attempt(device, url, "upload, finalize", data[offset:], offset))
        assert answers == [None, 503, None]
        faults.check_completed()
        asked = device.later(url, "query")
        assert asked.headers["X-Goog-Upload-Status"] == "final"
        assert asked.json()["size"] == str(len(data))
        assert device.download(name).content == data
    finally:
        faults.delete()


def attempt(device, *request):
    """Returns the status of the answer; None if the connection broke."""
    try:
        return device.later(*request).status_code
    except (requests.ConnectionError, socket.error):
        device.session = requests.Session()
        return None


def test_tests_are_listed_and_deleted(files):
    faults = Faults(files, {"storage.objects.list": ["return-503"]})
    listed = requests.get(f"{faults.base}/retry_tests", timeout=30).json()["retry_test"]
    assert faults.state() in listed
    assert faults.delete().status_code == 200
    assert faults.delete().status_code == 404
    assert requests.get(f"{faults.base}/retry_test/{faults.id}", timeout=30).status_code == 404
    assert requests.put(f"{faults.base}/retry_test", timeout=30).status_code == 405
    # A deleted test has no faults.
    assert list(faults.bucket.list_blobs(max_results=1, retry=None)) is not None


@pytest.mark.parametrize("name", [
    "return-200", "return-503-after-256", "return-503-after-K", "return-broken", "stall-for-1s",
    "stall-for-601s-after-1K", "stall-for-1-after-1K", "return-503-after-99999999999999999999K",
    "return--1", "", "return-broken-stream-final-chunk-after-1K", "redirect-send-token-T"])
def test_unknown_instructions_are_refused(files, name):
    assert name[:20] in refusal(files, {"instructions": {"storage.objects.get": [name]}})


def test_other_bad_orders_are_refused(files):
    known = {"storage.objects.get": ["return-503"]}
    assert "storage.objects.take is no known method" in refusal(
        files, {"instructions": {"storage.objects.take": ["return-503"]}})
    assert "HTTP alone" in refusal(files, {"instructions": known, "transport": "GRPC"})
    assert "1 to 1000" in refusal(files, {"instructions": {"storage.objects.get": []}})
    assert "1 to 1000" in refusal(
        files, {"instructions": {"storage.objects.get": ["return-503"] * 1_001}})
    assert "list of texts" in refusal(
        files, {"instructions": {"storage.objects.get": "return-503"}})
    assert "The body must be" in refusal(files, {})
    assert "true or false" in refusal(files, {"instructions": known, "everyRequest": 1})


def test_a_guarded_server_takes_orders_of_administrators_alone(tmp_path):
    server = Server(
        tmp_path, 0, "--storage", "--accounts", "secure", environment={"TIDEMARK_TOKEN": TOKEN})
    order = {"instructions": {"storage.objects.list": ["return-503"]}}
    url = f"http://127.0.0.1:{server.storage_port}/retry_test"
    assert requests.post(url, json=order, timeout=30).status_code == 401
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    made = requests.post(url, json=order, headers=bearer, timeout=30)
    assert made.status_code == 200, made.text
    assert requests.get(f"{url}/{made.json()['id']}", timeout=30).status_code == 401
    server.stop()


def test_the_number_of_tests_is_bounded(tmp_path):
    """A further test takes the place of a completed one. With open ones alone, it is refused."""
    server = Server(tmp_path, 0, "--storage")
    done = Faults(server, {"storage.objects.list": ["return-503"]})
    list(done.bucket.list_blobs(retry=RETRY))
    done.check_completed()
    order = {"instructions": {"storage.objects.get": ["return-503"]}}
    with requests.Session() as session:
        for _ in range(1_000):
            made = session.post(f"{done.base}/retry_test", json=order, timeout=30)
            assert made.status_code == 200, made.text
        assert done.delete().status_code == 404
        refused = session.post(f"{done.base}/retry_test", json=order, timeout=30)
        assert refused.status_code == 429 and "Delete some first" in refused.text
    server.stop()
