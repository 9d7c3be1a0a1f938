"""Many uploads at a time, a large one in little memory, and kills."""

import hashlib
import json
import os
import random
import select
import signal
import subprocess
import threading
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from conftest import BINARY, Server
from storage.dialects import BLOCK, Android, Ios, Web
from test_attacks import memory

ROUNDS = int(os.environ.get("TIDEMARK_KILL_ROUNDS", "4"))
GIB = 1 << 30
# A debug build computes checksums slowly, so it uploads less; the memory does not depend on it.
LARGE = int(os.environ.get("TIDEMARK_LARGE_UPLOAD", GIB // 2))


def test_64_parallel_uploads(files):
    def upload(number):
        kind = [Web, Ios, Android][number % 3]
        data = random.Random(number).randbytes(BLOCK + number * 10_007)
        device = kind(files)
        name = f"parallel/{number}"
        made = device.upload(name, data)
        return made["size"] == str(len(data)) and device.download(name).content == data

    with ThreadPoolExecutor(64) as pool:
        assert all(pool.map(upload, range(64)))


@pytest.mark.bound(600)
def test_a_large_file_needs_little_memory(tmp_path):
    """The client's file is sparse: it has a size and no blocks."""
    (tmp_path / "data").mkdir()
    server = Server(tmp_path / "data", 0, "--storage")
    path = tmp_path / "sparse"
    with open(path, "wb") as file:
        file.truncate(LARGE)
    web = Web(server)
    begun = requests.post(
        web.base, params={"name": "large"}, data="{}", headers={
            "X-Goog-Upload-Protocol": "resumable", "X-Goog-Upload-Command": "start",
            "X-Goog-Upload-Header-Content-Length": str(LARGE)})
    web.multipart("small", b"x" * BLOCK)
    with open(path, "rb") as file:
        made = requests.post(
            begun.headers["X-Goog-Upload-URL"], data=file, headers={
                "X-Goog-Upload-Command": "upload, finalize", "X-Goog-Upload-Offset": "0"})
    assert made.status_code == 200, made.text
    assert made.json()["size"] == str(LARGE)
    digest = hashlib.md5()
    with requests.get(web.url("large") + "?alt=media", stream=True) as answer:
        for part in answer.iter_content(1 << 20):
            digest.update(part)
    expected = hashlib.md5()
    for _ in range(LARGE >> 20):
        expected.update(bytes(1 << 20))
    assert digest.digest() == expected.digest()
    peak = memory(server, "VmHWM")
    server.stop()
    print(f"{LARGE >> 20} MiB, at most {peak >> 20} MiB of memory")
    assert peak < 80 << 20


@pytest.mark.bound(60 + ROUNDS * 15)
def test_no_acknowledged_object_is_lost_in_a_kill(tmp_path):
    """Uploads in chunks while the server is killed. An acknowledged object has its bytes, and every
    object that is listed is whole."""
    seed = int(os.environ.get("TIDEMARK_KILL_SEED", random.randrange(1 << 32)))
    chance = random.Random(seed)
    acknowledged, resumed = {}, [0]
    # The uploads that go on after a kill: their address without the port, their name and bytes.
    open_uploads = []
    for round_number in range(ROUNDS):
        server = Server(tmp_path, 0, "--storage")
        check(server, acknowledged, chance)
        stop = threading.Event()
        threads = [
            threading.Thread(target=work, args=(
                server, f"{round_number}-{thread}", stop, acknowledged, open_uploads, resumed))
            for thread in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.3 + chance.random())
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
        stop.set()
        for thread in threads:
            thread.join()
    server = Server(tmp_path, 0, "--storage")
    check(server, acknowledged, chance, most=10_000)
    server.stop()
    blobs = [file for file in (tmp_path / "objects").rglob("*") if file.is_file()]
    print(f"seed {seed}: {len(acknowledged)} objects, {resumed[0]} uploads went on after a kill, "
          f"{len(blobs)} files, {ROUNDS} kills")
    assert len(acknowledged) > ROUNDS


def work(server, name, stop, acknowledged, open_uploads, resumed):
    web = Web(server)
    number = 0
    try:
        while not stop.is_set():
            try:
                path, target, data = open_uploads.pop()
                url = f"http://127.0.0.1:{server.storage_port}{path}"
                resumed[0] += 1
            except IndexError:
                number += 1
                target = f"kill/{name}-{number}"
                data = random.randbytes(number % 3 * BLOCK + number)
                url = web.begin(target, data).headers["X-Goog-Upload-URL"]
                path = "/v0" + url.split("/v0", 1)[1]
            finish(web, url, target, data, acknowledged, (path, target, data), open_uploads)
    except requests.RequestException:
        pass


def finish(web, url, target, data, acknowledged, upload, open_uploads):
    try:
        answer = web.later(url, "query")
        if answer.headers.get("X-Goog-Upload-Status") == "final":
            acknowledged[target] = data
            return
        assert answer.status_code == 200, answer.text
        offset = int(answer.headers["X-Goog-Upload-Size-Received"])
        assert offset <= len(data)
        while True:
            part = data[offset:offset + BLOCK]
            is_last = offset + len(part) == len(data)
            answer = web.later(url, "upload, finalize" if is_last else "upload", part, offset)
            assert answer.status_code == 200, answer.text
            offset += len(part)
            if is_last:
                acknowledged[target] = data
                return
    except requests.RequestException:
        open_uploads.append(upload)
        raise


def check(server, acknowledged, chance, most=50):
    web = Web(server)
    for target in chance.sample(sorted(acknowledged), min(most, len(acknowledged))):
        assert web.download(target).content == acknowledged[target], target
    for item in web.list(prefix="kill/").json()["items"]:
        found = web.download(item["name"])
        made = web.metadata(item["name"]).json()
        assert str(len(found.content)) == made["size"]
        assert found.headers["x-goog-hash"].split("md5=")[1] == made["md5Hash"]
        number = int(item["name"].rsplit("-", 1)[1])
        assert len(found.content) == number % 3 * BLOCK + number, "no object is half"


def test_files_are_removed_with_their_objects(files):
    web = Web(files)
    name = uuid.uuid4().hex
    before = count(files)
    web.multipart(name, b"1")
    web.multipart(name, b"2")
    assert count(files) == before + 1
    web.delete(name)
    assert count(files) == before


def count(server):
    return sum(1 for file in (server.data / "objects").rglob("*") if file.is_file())


def test_a_server_in_memory_leaves_nothing(tmp_path):
    environment = {"TMPDIR": str(tmp_path / "temporary")}
    (tmp_path / "temporary").mkdir()
    (tmp_path / "ports").mkdir()
    server = MemoryServer(tmp_path / "ports", environment)
    Web(server).multipart("a", b"data")
    assert list((tmp_path / "temporary").rglob("*"))
    server.kill()
    # The next server removes what a killed one has left.
    server = MemoryServer(tmp_path / "ports", environment)
    assert Web(server).metadata("a").status_code == 404
    server.stop()
    assert not [path for path in (tmp_path / "temporary").glob("tidemark-objects*")]


class MemoryServer(Server):
    """A server with --memory instead of a folder."""

    def __init__(self, folder, environment):
        self.data = folder
        ports = folder / "ports.json"
        self.process = subprocess.Popen(
            [BINARY, "serve", "--port", "0", "--control-port", "0", "--memory", "--storage",
             "--ports-file", ports], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=dict(os.environ, **environment))
        readable, _, _ = select.select([self.process.stdout], [], [], 30)
        assert readable and self.process.stdout.readline().startswith("ready ")
        self.storage_port = json.loads(ports.read_text())["storage"]
