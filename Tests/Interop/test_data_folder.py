"""The data folder if it is full, damaged, or in use by another server."""

import os
import subprocess

import pytest
from google.api_core import exceptions

from conftest import BINARY, Server

FILE = "tidemark-server.sqlite"


def refusal(data):
    """Returns the error of a server that cannot start with the folder."""
    process = subprocess.run(
        [BINARY, "serve", "--port", "0", "--data", data], capture_output=True, text=True,
        timeout=30)
    assert process.returncode not in (0, None) and process.returncode > 0, process
    assert process.stdout == "", "it must not say that it is ready"
    return process.stderr


def test_a_second_server_on_the_same_data_is_refused(tmp_path):
    server = Server(tmp_path)
    client = server.client("folder")
    client.document("c/a").set({"n": 1})
    assert "in use by another process" in refusal(tmp_path)
    client.document("c/a").update({"n": 2})
    server.kill()
    server = Server(tmp_path)
    assert server.client("folder").document("c/a").get().to_dict() == {"n": 2}
    server.stop()


@pytest.mark.parametrize("damage", ["header", "pages", "not a database"])
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, damage):
    server = Server(tmp_path)
    client = server.client("folder")
    batch = client.batch()
    for row in range(400):
        batch.set(client.document(f"c/{row}"), {"text": "x" * 200})
    batch.commit()
    server.stop()
    path = tmp_path / FILE
    data = bytearray(path.read_bytes())
    if damage == "header":
        data[0:64] = bytes(64)
    elif damage == "pages":
        data[100:4096] = os.urandom(3996)
    else:
        data = bytearray(b"these are words, and no database at all. " * 100)
    path.write_bytes(data)
    assert "damaged" in refusal(tmp_path)
    assert path.read_bytes() == bytes(data), "the file was touched"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 8 MiB. If it cannot be mounted, the test is skipped with that reason."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], capture_output=True)
    if mount.returncode != 0:
        pytest.skip("a small disk cannot be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_refuses_writes_reads_on_and_recovers(small_disk):
    (small_disk / "filler").write_bytes(bytes(4 << 20))
    data = small_disk / "data"
    data.mkdir()
    server = Server(data)
    client = server.client("folder")
    stored = 0
    with pytest.raises(exceptions.ResourceExhausted) as refused:
        while stored < 200:
            client.document(f"c/{stored}").set({"text": "x" * 100_000}, retry=None)
            stored += 1
    assert "space" in refused.value.message
    assert 2 < stored < 60
    rows = client.collection("c").count().get()[0][0].value
    assert rows == stored, "what was refused is not there, what was acknowledged is"
    assert client.document("c/1").get().get("text") == "x" * 100_000
    (small_disk / "filler").unlink()
    client.document("c/after").set({"n": 1}, retry=None)
    server.kill()
    server = Server(data)
    client = server.client("folder")
    assert client.collection("c").count().get()[0][0].value == stored + 1
    server.stop()
