"""`tidemark audit objects`: objects without a document and documents without their object."""

import hashlib
import json
import os
import random
import subprocess

import pytest

from conftest import BINARY, Server
from storage.conftest import connect

BUCKET = "interop.appspot.com"
OBJECTS = int(os.environ.get("TIDEMARK_AUDIT_OBJECTS", "2500"))


@pytest.fixture
def place(tmp_path):
    server = Server(tmp_path, 0, "--storage")
    yield server, server.client(), connect(server).bucket(BUCKET)
    server.stop()


def audit(server, *flags):
    """Runs the audit without an age, unless the flags name one."""
    result = server.run(
        "audit", "objects", "--project", "interop", "--bucket", BUCKET, "--storage-host",
        f"127.0.0.1:{server.storage_port}", "--grace", "0", "--json", *flags)
    return result.returncode, json.loads(result.stdout) if result.stdout else result.stderr


def field(name, data):
    return {"path": name, "size": len(data), "type": "image/png",
            "hash": hashlib.sha256(data).hexdigest()}


def send(client, bucket, document, name, data=b"picture"):
    """Stores an object, and a document that names it."""
    bucket.blob(name).upload_from_string(data)
    client.document(document).set({"photo": field(name, data)})


def names(found, kind="objectsWithoutDocument"):
    assert found[kind]["count"] == len(found[kind]["items"])
    return [item.get("name") or item["object"] for item in found[kind]["items"]]


def test_both_directions_and_other_sizes(place):
    server, client, bucket = place
    send(client, bucket, "chats/a/messages/1", "chats/a/1.png")
    send(client, bucket, "chats/b/messages/1", "chats/b/é %#?.png")
    # Two documents can name one object.
    client.document("chats/c/messages/1").set({"photo": field("chats/a/1.png", b"picture")})
    # A pending field, another form and other documents name nothing.
    client.document("chats/a/messages/2").set({"photo": {"pending": True, "size": 3, "type": "x"}})
    client.document("chats/a/messages/3").set({"photo": "chats/a/none.png"})
    client.document("users/ann").set({"photo": field("users/ann.png", b"")})
    code, found = audit(server, "--group", "messages:photo")
    assert (code, found["count"], found["objects"], found["documents"]) == (0, 0, 2, 3)

    bucket.blob("chats/a/lost.png").upload_from_string(b"12345")
    client.document("chats/a/messages/4").set({"photo": field("chats/a/gone.png", b"123")})
    client.document("chats/a/messages/5").set({"photo": {"path": "chats/a/1.png", "size": 99}})
    code, found = audit(server, "--group", "messages:photo")
    assert code == 2 and found["count"] == 3
    assert names(found) == ["chats/a/lost.png"]
    assert found["objectsWithoutDocument"]["items"][0]["size"] == 5
    assert found["documentsWithoutObject"]["items"] == [
        {"document": "chats/a/messages/4", "field": "photo", "object": "chats/a/gone.png",
         "size": 3}]
    assert [item["document"] for item in found["otherSizes"]["items"]] == ["chats/a/messages/5"]

    # A second field, of one collection alone.
    code, found = audit(server, "--group", "messages:photo", "--field", "users:photo")
    assert names(found, "documentsWithoutObject") == ["chats/a/gone.png", "users/ann.png"]
    code, found = audit(server, "--field", "chats/b/messages:photo", "--prefix", "chats/b/")
    assert (code, found["objects"], found["documents"]) == (0, 1, 1)


def test_young_objects_are_not_judged(place):
    server, client, bucket = place
    bucket.blob("a").upload_from_string(b"1")
    code, found = audit(server, "--field", "users:photo", "--grace", "600")
    assert (code, found["count"], found["tooYoung"]) == (0, 0, 1)
    assert names(found) == []
    code, found = audit(server, "--field", "users:photo")
    assert (code, found["tooYoung"], names(found)) == (2, 0, ["a"])


def test_the_audit_changes_nothing_and_counts_its_reads(place):
    server, client, bucket = place
    for number in range(5):
        send(client, bucket, f"users/{number}", f"users/{number}.png")
    bucket.blob("users/lost.png").upload_from_string(b"1")
    client.document("users/5").set({"photo": field("users/5.png", b"1")})
    import urllib.request
    code, found = audit(server, "--field", "users:photo")
    with urllib.request.urlopen(f"http://127.0.0.1:{server.control_port}/tidemark/v1/meter") as rows:
        billed = {row["label"]: row for row in json.load(rows)}["audit"]
    assert code == 2 and found["reads"] == billed["reads"] and billed["writes"] == 0
    assert len(list(bucket.list_blobs())) == 6 and client.document("users/5").get().exists


@pytest.mark.bound(240)
def test_many_pages_need_little_memory(place, tmp_path):
    """More than two pages of each side, with findings at random places, compared with sets."""
    server, client, bucket = place
    dice = random.Random(7)
    stored, named = set(), set()
    batch = client.batch()
    waiting = 0
    for number in range(OBJECTS):
        name = f"many/{number:05}{dice.choice(['', '/x', '-é', ' b'])}"
        kind = dice.random()
        if kind > 0.01:
            stored.add(name)
        if kind < 0.99:
            named.add(name)
            batch.set(client.document(f"many/{dice.randrange(1 << 60)}"), {"photo": field(name, b"")})
            waiting += 1
            if waiting == 400:
                batch.commit()
                batch, waiting = client.batch(), 0
    batch.commit()
    fill(server, stored)
    code, found = audit(server, "--field", "many:photo")
    assert found["objects"] == len(stored) and found["documents"] == len(named)
    assert names(found) == sorted(stored - named, key=str.encode)
    assert names(found, "documentsWithoutObject") == sorted(named - stored, key=str.encode)
    assert code == 2


def fill(server, names):
    """Stores empty objects, sixteen at a time."""
    from concurrent.futures import ThreadPoolExecutor

    from storage.dialects import Web

    def send(part):
        web = Web(server, BUCKET)
        for name in part:
            made = web.multipart(name, b"")
            assert made.status_code == 200, made.text

    ordered = sorted(names)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, [ordered[start::8] for start in range(8)]))


def test_what_is_missing_is_said(place):
    server, client, bucket = place
    code, text = audit(server)
    assert code == 64 and "--field or --group" in text
    code, text = audit(server, "--group", "chats/a/messages:photo")
    assert code == 64 and "names a path" in text
    result = subprocess.run(
        [BINARY, "audit", "objects", "--bucket", "b", "--field", "users:photo", "--host",
         "127.0.0.1:1"], capture_output=True, text=True, timeout=60,
        env={key: value for key, value in os.environ.items() if "EMULATOR" not in key})
    assert result.returncode == 64 and "--storage-host" in result.stderr


def test_a_failure_is_no_finding(place):
    server, client, bucket = place
    result = server.run(
        "audit", "objects", "--bucket", BUCKET, "--field", "users:photo", "--storage-host",
        "127.0.0.1:1")
    assert result.returncode == 1 and "cannot be reached" in result.stderr


def test_the_text_names_what_was_found(place):
    server, client, bucket = place
    bucket.blob("lost.png").upload_from_string(b"12345")
    client.document("users/1").set({"photo": field("gone.png", b"1")})
    result = server.run(
        "audit", "objects", "--project", "interop", "--bucket", BUCKET, "--field", "users:photo",
        "--grace", "0", "--storage-host", f"127.0.0.1:{server.storage_port}")
    assert result.returncode == 2
    lines = result.stdout.splitlines()
    assert lines[:4] == [
        "1 objects, 1 documents with an object, 3 reads",
        "objects without a document: 1, of 5 bytes", "documents without their object: 1",
        "documents with another size: 0"]
    assert lines[4].startswith("  object lost.png, 5 bytes, of 20")
    assert lines[5] == "  document users/1: its photo gone.png is missing"
