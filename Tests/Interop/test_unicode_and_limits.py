"""Names and values at their limits: accepted at the limit, and refused above it."""

import pytest
from google.api_core import exceptions

from wire import DOCUMENTS, fields, update

NAMES = ["é", "e\u0301", "日本語", "\U0001f600", "with space", "tick`", "back\\slash", "a.b", "...",
         "[0]", "*", "~", "#", "%2F", "\u0000", "____", "__a", "a__", "\uffff", "\u202e", "'\"",
         "__id7__", "x" * 1500, "é" * 750]


@pytest.mark.parametrize("name", NAMES, ids=[f"{n:02}" for n in range(len(NAMES))])
def test_a_document_of_any_name_is_written_read_found_and_listed(client, collection, name):
    document = collection.document(name)
    document.create({"name": name})
    assert document.get().to_dict() == {"name": name}
    assert [snapshot.id for snapshot in collection.stream()] == [name]
    assert [reference.id for reference in collection.list_documents()] == [name]
    if len(name) < 700:
        below = document.collection("in " + name)
        below.document("x").set({})
        assert [each.id for each in document.collections()] == ["in " + name]
    document.delete()
    assert not document.get().exists


@pytest.mark.parametrize("name", [
    "__x__", "_____", ".", "..", "x" * 1501, "é" * 751],
    ids=["reserved", "reserved bar", "dot", "dots", "long", "long in bytes"])
def test_a_name_that_may_not_be_is_refused(collection, name):
    with pytest.raises(exceptions.InvalidArgument):
        collection.document(name).set({})


FIELDS = ["é", "e\u0301", "日本語", "\U0001f600", "with space", "tick`", "back\\slash", "a.b", " ",
          "1", "-", "\u0000", "__a", "a__", "x" * 1500]


def test_fields_of_any_name(client, collection):
    document = collection.document("a")
    content = {name: number for number, name in enumerate(FIELDS)}
    # The last name is as long as a path may be, so no other name can be beside it.
    inside = {name: content[name] for name in FIELDS[:-1]}
    document.set({"top": inside, **content})
    assert document.get().to_dict() == {"top": inside, **content}
    with pytest.raises(exceptions.InvalidArgument):
        document.set({"top": content})
    for name in FIELDS[:-1]:
        path = client.field_path(name)
        document.update({path: "new", client.field_path("top", name): "new"})
        snapshot = document.get()
        assert snapshot.get(path) == "new" and snapshot.to_dict()["top"][name] == "new"
        assert list(client.get_all([document], field_paths=[path]))[0].to_dict() == {name: "new"}


@pytest.mark.parametrize("content", [
    {"__x__": 1}, {"x" * 1501: 1}, {"a": {"__x__": 1}}, {"a": [{"": 1}]},
    {"a": [{"__x__": 1}]}, {"a": [[1]]}, {"a": [{"b": [[1]]}]},
], ids=["reserved", "long", "reserved inside", "empty in a list", "reserved in a list",
        "list in a list", "list in a list inside"])
def test_fields_that_may_not_be_are_refused(collection, content):
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("a").set(content)
    assert not collection.document("a").get().exists


def nested(depth):
    content = 1
    for _ in range(depth):
        content = {"m": content}
    return content


def test_maps_are_20_deep_at_most(collection):
    """The depth is counted as in the documentation: 20 nested maps and lists."""
    collection.document("a").set(nested(20))
    assert collection.document("a").get().to_dict() == nested(20)
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("b").set(nested(22))


def path_of(group, depth):
    """Returns the path of a document with this many collections in it."""
    return "/".join([group, "d"] + ["c", "d"] * (depth - 1))


def test_collections_are_100_deep_at_most(wire, group):
    wire.commit_writes(update(path_of(group, 100), {"n": 1}))
    assert wire.get(path_of(group, 100)).fields == fields({"n": 1})
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(update(path_of(group, 102), {}))


def test_a_document_is_one_mebibyte_at_most(collection):
    """Two fields of half the limit together are too large. Two kilobytes less are accepted."""
    half = 512 * 1024
    collection.document("a").set({"a": b"x" * half, "b": b"x" * (half - 2_000)})
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("b").set({"a": b"x" * half, "b": b"x" * half})
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("a").update({"c": b"x" * 2_000})
    assert set(collection.document("a").get().to_dict()) == {"a", "b"}


@pytest.mark.parametrize("character, most", [("x", 1_048_487), ("é", 524_243)])
def test_a_text_is_measured_in_bytes(collection, character, most):
    collection.document("a").set({"v": character * most})
    with pytest.raises(exceptions.InvalidArgument):
        collection.document("b").set({"v": character * (most + 1)})


def test_numbers_at_their_bounds(collection):
    numbers = [2**63 - 1, -(2**63), 2**53 + 1, 5e-324, 1.7976931348623157e308, -0.0]
    collection.document("a").set({"numbers": numbers})
    stored = collection.document("a").get().get("numbers")
    assert list(map(repr, stored)) == list(map(repr, numbers))


def test_a_whole_document_of_many_fields(collection):
    content = {f"field {number:04}": number for number in range(3_000)}
    collection.document("a").set(content)
    assert collection.document("a").get().to_dict() == content


def test_the_order_of_fields_is_not_part_of_a_document(collection):
    first = collection.document("a").set({"a": 1, "b": {"c": 1, "d": 2}}).update_time
    assert collection.document("a").set({"b": {"d": 2, "c": 1}, "a": 1}).update_time == first


def test_bad_utf8_is_refused_and_the_server_lives(server, wire, group):
    """A correct library never sends this: bytes that are not UTF-8 in a text field."""
    import grpc
    write = bytes([0x0A, len(DOCUMENTS) + 4]) + DOCUMENTS.encode() + b"/c/\xff"
    call = wire.channel.unary_unary("/google.firestore.v1.Firestore/GetDocument")
    with pytest.raises(grpc.RpcError) as refusal:
        call(write, timeout=10)
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert server.process.poll() is None


@pytest.mark.parametrize("rpc", [
    "GetDocument", "ListDocuments", "CreateDocument", "UpdateDocument", "DeleteDocument",
    "BatchGetDocuments", "BeginTransaction", "Commit", "Rollback", "RunQuery",
    "RunAggregationQuery", "PartitionQuery", "ListCollectionIds", "BatchWrite"])
@pytest.mark.parametrize("request_bytes", [b"", b"\xff" * 40, b"\x0a\x03abc"],
                         ids=["nothing", "no message", "no name"])
def test_no_rpc_answers_garbage_with_an_internal_error(wire, rpc, request_bytes):
    import grpc
    call = wire.channel.unary_stream("/google.firestore.v1.Firestore/" + rpc)
    with pytest.raises(grpc.RpcError) as refusal:
        list(call(request_bytes, timeout=10))
    assert refusal.value.code() == grpc.StatusCode.INVALID_ARGUMENT and refusal.value.details()


def test_an_unknown_rpc_is_unimplemented(wire):
    import grpc
    call = wire.channel.unary_unary("/google.firestore.v1.Firestore/Nothing")
    with pytest.raises(grpc.RpcError) as refusal:
        call(b"", timeout=10)
    assert refusal.value.code() == grpc.StatusCode.UNIMPLEMENTED
