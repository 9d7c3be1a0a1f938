"""The memory of an app that sends a large file, and that downloads it.

TIDEMARK_LARGE_FILE sets the size of the file in bytes (default 256 MiB; `make long` has 4 GiB).
"""

import base64
import hashlib
import os
import subprocess
import time

import pytest

from conftest import LAB, Server
from storage.conftest import connect

SIZE = int(os.environ.get("TIDEMARK_LARGE_FILE", "268435456"))
BUCKET = "large.appspot.com"
LIMIT = 80_000_000


class Peaks:
    """The peaks of a process's memory in bytes.

    Its own memory counts against the limit. The pages of program and libraries do not: a debug
    build has 70 MiB of them, and the system drops them when it needs the space."""

    FIELDS = {"RssAnon": "own", "VmHWM": "all"}

    def __init__(self):
        self.own = self.all = 0

    def look(self, process):
        with open(f"/proc/{process.pid}/status") as status:
            for line in status:
                field, _, value = line.partition(":")
                if field in self.FIELDS:
                    name = self.FIELDS[field]
                    setattr(self, name, max(getattr(self, name), int(value.split()[0]) << 10))

    def __str__(self):
        return f"{self.own >> 20} MiB of memory ({self.all >> 20} MiB with its program)"


def run(*command, **more):
    """Runs a command to its end. Returns the peaks of its memory, its seconds and its output."""
    began, peaks = time.monotonic(), Peaks()
    process = subprocess.Popen([LAB, *command], stdout=subprocess.PIPE, text=True, **more)
    while process.poll() is None:
        try:
            peaks.look(process)
        except OSError:
            break
        time.sleep(0.005)
    output = process.communicate()[0]
    assert process.wait() == 0, output
    return peaks, time.monotonic() - began, output


def md5(path):
    digest = hashlib.md5()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return base64.b64encode(digest.digest()).decode()


@pytest.mark.bound(60 + (SIZE >> 20))
def test_a_large_file_needs_little_memory_of_the_app(tmp_path):
    """The file is sparse, with some blocks of data."""
    (tmp_path / "files").mkdir(), (tmp_path / "server").mkdir()
    server = Server(tmp_path / "server", 0, "--storage")
    path = tmp_path / "files" / "0.bin"
    with open(path, "wb") as file:
        file.truncate(SIZE)
        for place in [0, SIZE // 3 - 5, SIZE // 2, SIZE - 4_000]:
            file.seek(place)
            file.write(os.urandom(4_000))
    expected = md5(path)
    host = f"127.0.0.1:{server.storage_port}"
    sending, seconds, output = run(
        "send-files", "--project", "interop", "--cache", tmp_path / "cache", "--files",
        tmp_path / "files", "--count", "1", "--storage", host, "--bucket", BUCKET,
        env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host))
    assert "sent all" in output
    blob = next(iter(connect(server).bucket(BUCKET).list_blobs()))
    assert (blob.size, blob.md5_hash) == (SIZE, expected)
    fetching, more, _ = run(
        "fetch-file", "--storage", host, "--bucket", BUCKET, "--name", blob.name,
        "--to", tmp_path / "copy", env=dict(os.environ, FIRESTORE_EMULATOR_HOST=server.host))
    subprocess.run(["cmp", path, tmp_path / "copy"], check=True)
    server.stop()
    print(f"{SIZE >> 20} MiB: sent in {seconds:.0f} s with at most {sending}, "
          f"fetched in {more:.0f} s with {fetching}")
    assert sending.own < LIMIT and fetching.own < LIMIT
    for file in [tmp_path / "copy", tmp_path / "server"]:
        subprocess.run(["rm", "-r", file], check=True)
