"""Clients that request much and read nothing: a limit for the server's memory that they use."""

import re
import socket
import struct

import pytest

from conftest import Server

PROJECT = "interop"
ROOT = f"projects/{PROJECT}/databases/(default)/documents"
READERS = 12
# 400 documents of 100 KB are 40 MB; twelve readers request 480 MB.
DOCUMENTS, SIZE = 400, 100_000


@pytest.fixture
def large(tmp_path):
    server = Server(tmp_path)
    collection = server.client(PROJECT).collection("large")
    for start in range(0, DOCUMENTS, 50):
        batch = collection._client.batch()
        for number in range(start, start + 50):
            batch.set(collection.document(f"{number:04}"), {"text": "x" * SIZE})
        batch.commit()
    yield server, collection
    if server.process.poll() is None:
        server.stop()
    assert server.process.returncode == 0


def resident(server):
    """Returns the memory of the process in MiB."""
    status = open(f"/proc/{server.process.pid}/status").read()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def field(number, contents):
    length = len(contents)
    return bytes([number << 3 | 2]) + bytes([length]) + contents


def frame(kind, flags, stream, payload):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(
        ">I", stream) + payload


def ask(server, method, message):
    """Sends one request over a new socket, with an unlimited window, and reads nothing."""
    connection = socket.create_connection(("127.0.0.1", server.port))
    headers = b""
    for name, value in [
            (":method", "POST"), (":scheme", "http"), (":authority", "localhost"),
            (":path", "/google.firestore.v1.Firestore/" + method),
            ("content-type", "application/grpc"), ("te", "trailers")]:
        headers += bytes([0, len(name)]) + name.encode() + bytes([len(value)]) + value.encode()
    connection.sendall(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        + frame(4, 0, 0, struct.pack(">HI", 4, 2**31 - 1))
        + frame(8, 0, 0, struct.pack(">I", 2**31 - 65_536))
        + frame(1, 4, 1, headers)
        + frame(0, 0, 1, b"\0" + struct.pack(">I", len(message)) + message))
    return connection


def query():
    return field(1, ROOT.encode()) + field(2, field(2, field(2, b"large")))


def listen():
    database = ROOT.removesuffix("/documents").encode()
    target = field(2, query()) + bytes([5 << 3, 1])
    return field(1, database) + field(2, target)


@pytest.mark.parametrize("method, message", [("RunQuery", query()), ("Listen", listen())])
def test_readers_that_read_nothing_hold_little_and_stop_nobody(large, method, message):
    server, collection = large
    # One complete answer is read first, so the server's own memory for one answer is already
    # included.
    assert sum(1 for _ in collection.stream()) == DOCUMENTS
    before = resident(server)
    readers = [ask(server, method, message) for _ in range(READERS)]
    most = before
    for number in range(200):
        assert collection.document(f"{number % DOCUMENTS:04}").get().exists
        most = max(most, resident(server))
    # A stream holds at most 1 MiB and the part that filled it, once as messages and once as bytes.
    assert most - before < 64
    assert sum(1 for _ in collection.stream()) == DOCUMENTS
    for reader in readers:
        reader.close()


def test_a_reader_that_was_slow_gets_everything(large):
    server, collection = large
    rows = collection.order_by("__name__").stream()
    first = next(rows)
    collection.document("0399").delete()
    collection.document("0100").set({"text": "changed"})
    rest = list(rows)
    assert [first.id] + [row.id for row in rest] == [f"{n:04}" for n in range(DOCUMENTS)]
    assert all(len(row.get("text")) == SIZE for row in rest)
    assert len({row.read_time for row in rest}) == 1


def test_readers_that_read_nothing_do_not_keep_the_server_from_stopping(large):
    server, collection = large
    readers = [ask(server, method, message) for method, message in
               [("RunQuery", query()), ("Listen", listen())] * 3]
    for number in range(50):
        assert collection.document(f"{number:04}").get().exists
    server.stop()
    for reader in readers:
        reader.close()
