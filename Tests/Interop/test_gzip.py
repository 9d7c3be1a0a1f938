"""Requests in gzip, as Google's client sends them on request, and compression bombs."""

import concurrent.futures
import gzip
import uuid

import grpc
import pytest
from google.cloud.firestore_v1 import types

from conftest import Server

MIB = 1 << 20
# The server unpacks at most 64 MiB at the same time, and 11 MiB for one request.
GROWTH = 160 * MIB


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("gzip"))
    yield server
    server.stop()


@pytest.fixture
def packed(served):
    """A channel whose requests are compressed."""
    with grpc.insecure_channel(served.host, compression=grpc.Compression.Gzip) as channel:
        yield channel


def method(channel, name, kind="unary_unary"):
    return getattr(channel, kind)(
        "/google.firestore.v1.Firestore/" + name, request_serializer=lambda raw: raw,
        response_deserializer=lambda raw: raw)


def commit(project, padding=0):
    """Returns a commit of one document, with `padding` bytes in an unknown field."""
    database = f"projects/{project}/databases/(default)"
    write = types.Write(update=types.Document(
        name=f"{database}/documents/c/d", fields={"text": types.Value(string_value="x" * 5_000)}))
    raw = types.CommitRequest.serialize(types.CommitRequest(database=database, writes=[write]))
    # The unknown field has the number 2000 and contains bytes.
    return raw + (b"\x82\x7d" + varint(padding) + bytes(padding) if padding else b"")


def varint(number):
    data = b""
    while number > 127:
        data += bytes([number & 127 | 128])
        number >>= 7
    return data + bytes([number])


def peak(server):
    """Returns the peak memory of the process since `forget`, in bytes."""
    with open(f"/proc/{server.process.pid}/status") as status:
        line, = [line for line in status if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


def forget(server):
    with open(f"/proc/{server.process.pid}/clear_refs", "w") as file:
        file.write("5")


def project():
    return "z" + uuid.uuid4().hex[:8]


def test_a_call_in_gzip_is_done(served, packed):
    name = project()
    method(packed, "Commit")(commit(name))
    assert served.client(name).document("c/d").get().get("text") == "x" * 5_000


def test_short_and_long_messages_in_gzip(served, packed):
    """The client does not compress messages that compression would not make smaller."""
    name = project()
    for padding in (0, 1, 100_000, 10 * MIB):
        method(packed, "Commit")(commit(name, padding))
    batch = types.BatchGetDocumentsRequest(
        database=f"projects/{name}/databases/(default)",
        documents=[f"projects/{name}/databases/(default)/documents/c/d"])
    answers = list(method(packed, "BatchGetDocuments", "unary_stream")(
        types.BatchGetDocumentsRequest.serialize(batch)))
    assert b"x" * 5_000 in answers[0]


def test_streams_in_gzip(served, packed):
    name = project()
    database = f"projects/{name}/databases/(default)"
    writes = types.WriteRequest.serialize(types.WriteRequest(database=database))
    answers = method(packed, "Write", "stream_stream")(iter([writes + b"\x82\x7d\x05" + bytes(5)]))
    assert types.WriteResponse.deserialize(next(answers)).stream_token


def test_a_bomb_is_refused_and_takes_no_memory(served, packed):
    name = project()
    method(packed, "Commit")(commit(name, 10 * MIB))
    before = peak(served)
    bomb = commit(name, 200 * MIB)
    forget(served)
    for _ in range(5):
        with pytest.raises(grpc.RpcError) as refusal:
            method(packed, "Commit")(bomb)
        assert refusal.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED
        assert "unpacks to more than 11534336 bytes" in refusal.value.details()
    assert peak(served) < before + GROWTH
    method(packed, "Commit")(commit(name))


def test_bombs_below_the_limit_are_bounded_together(served, packed):
    """40 concurrent calls of 10 MiB each, and one stream with 100 such messages in a row."""
    name = project()
    before = peak(served)
    forget(served)
    call = method(packed, "Commit")
    message = commit(name, 10 * MIB)
    with concurrent.futures.ThreadPoolExecutor(40) as pool:
        codes = list(pool.map(lambda _: code(call, message), range(40)))
    assert set(codes) <= {grpc.StatusCode.OK, grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert grpc.StatusCode.OK in codes
    with pytest.raises(grpc.RpcError) as refusal:
        list(method(packed, "Listen", "stream_stream")(iter([bytes(10 * MIB)] * 100)))
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert peak(served) < before + GROWTH
    method(packed, "Commit")(commit(name))


def code(call, message):
    try:
        call(message, timeout=30)
        return grpc.StatusCode.OK
    except grpc.RpcError as error:
        return error.code()


def test_what_is_no_gzip_has_no_effect(served):
    """A client declares gzip, and sends data that are cut off, damaged, correct, or not
    compressed."""
    from test_browsers import call_of, pour

    def exists(body, name):
        pour(served.port, call_of(
            served.port, "Commit", body, "application/grpc", {"grpc-encoding": "gzip"}))
        return served.client(name).document("c/d").get().exists

    for change, has_effect in [
            (lambda whole: whole[:-1], False), (lambda whole: whole + b"x", False),
            (lambda whole: whole[:-8] + bytes(8), False), (lambda whole: whole, True)]:
        name = project()
        assert exists(change(gzip.compress(commit(name))), name) is has_effect
    name = project()
    assert exists(commit(name), name)


def test_other_encodings_are_refused_by_name(served):
    with grpc.insecure_channel(served.host, compression=grpc.Compression.Deflate) as channel:
        with pytest.raises(grpc.RpcError) as refusal:
            method(channel, "Commit")(commit(project(), 100_000))
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED
