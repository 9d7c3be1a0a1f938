"""The Write stream, with which mobile clients send every ordinary write."""

import grpc
import pytest
from google.cloud.firestore_v1 import types

from wire import delete, fields, name, update, value


@pytest.fixture
def stream(wire):
    """A stream after its handshake, and the handshake's answer."""
    with wire.write() as stream:
        stream.send()
        stream.opened = stream.next()
        yield stream


def send(stream, token, *writes):
    stream.send(stream_token=token, writes=list(writes))


def test_the_handshake_has_an_id_and_a_token_and_no_results(stream):
    assert stream.opened.stream_id and stream.opened.stream_token
    assert list(stream.opened.write_results) == []


def test_every_request_has_one_answer_in_order(wire, group, stream):
    token, times = stream.opened.stream_token, []
    for number in range(3):
        send(stream, token, update(f"{group}/{number}", {"n": number}),
             update(f"{group}/last", {"n": number}))
        answer = stream.next()
        assert len(answer.write_results) == 2
        assert answer.write_results[0].update_time == answer.commit_time
        token = answer.stream_token
        times.append(answer.commit_time)
    assert times == sorted(set(times))
    assert wire.get(f"{group}/last").fields == fields({"n": 2})


def test_ten_batches_may_be_in_flight(wire, group, stream):
    increment = types.DocumentTransform.FieldTransform(field_path="n", increment=value(1))
    for number in range(10):
        send(stream, stream.opened.stream_token,
             update(f"{group}/a", {}, update_mask={}, update_transforms=[increment]))
    answers = [stream.next() for _ in range(10)]
    assert [a.write_results[0].transform_results[0] for a in answers] == [
        value(n) for n in range(1, 11)], "each in order, each once"
    assert len({answer.stream_token for answer in answers}) == 10
    assert wire.get(f"{group}/a").fields == fields({"n": 10})


def test_the_answers_are_those_of_a_commit(wire, group, stream):
    send(stream, stream.opened.stream_token, update(f"{group}/a", {"n": 1}))
    first = stream.next()
    send(stream, first.stream_token, update(f"{group}/a", {"n": 1}), delete(f"{group}/nowhere"))
    second = stream.next()
    assert second.write_results[0].update_time == first.commit_time, "nothing was changed"
    assert "update_time" not in second.write_results[1]
    assert second.commit_time > first.commit_time


def test_a_batch_is_all_or_nothing_and_its_failure_ends_the_stream(wire, group, stream):
    send(stream, stream.opened.stream_token, update(f"{group}/a", {"n": 1}),
         update(f"{group}/nowhere", {}, current_document={"exists": True}))
    error, answers = stream.error()
    assert error.code() == grpc.StatusCode.NOT_FOUND and not answers
    assert error.details().startswith("No document to update: projects/")
    with wire.listen() as listen:
        listen.target(2, [name(f"{group}/a")])
        assert listen.boundary()[1].document_delete.document == name(f"{group}/a")


def test_what_was_answered_before_a_failure_stays(wire, group, stream):
    token = stream.opened.stream_token
    send(stream, token, update(f"{group}/a", {"n": 1}))
    send(stream, token, update(f"{group}/a", {}, current_document={"exists": False}))
    send(stream, token, update(f"{group}/a", {"n": 3}))
    error, answers = stream.error()
    assert error.code() == grpc.StatusCode.ALREADY_EXISTS and len(answers) == 1
    assert wire.get(f"{group}/a").fields == fields({"n": 1}), "what came after is not applied"


@pytest.mark.parametrize("writes", [
    [update("a/b", {"__x__": 1})], [types.Write()], [update("bad", {})],
    [types.Write(update={"name": name("a/b", "projects/other/databases/(default)")})],
], ids=["reserved field", "empty write", "collection's name", "another database"])
def test_a_bad_batch_ends_the_stream_with_its_cause(stream, writes):
    send(stream, stream.opened.stream_token, *writes)
    error, _ = stream.error()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT and error.details()


def test_a_token_of_nobody_ends_the_stream(wire, group, stream):
    send(stream, b"never given", update(f"{group}/a", {}))
    error, _ = stream.error()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert wire.found(types.StructuredQuery(from_=[{"collection_id": group}])) == []


def test_the_first_message_may_not_write(wire, group):
    with wire.write() as stream:
        send(stream, b"", update(f"{group}/a", {}))
        error, _ = stream.error()
    assert error.code() == grpc.StatusCode.INVALID_ARGUMENT
    assert wire.found(types.StructuredQuery(from_=[{"collection_id": group}])) == []


def test_a_stream_needs_a_database(wire):
    with wire.write(database="") as stream:
        stream.send()
        assert stream.error()[0].code() == grpc.StatusCode.INVALID_ARGUMENT


def test_the_stream_ends_well_when_its_client_has_finished(wire, group, stream):
    send(stream, stream.opened.stream_token, update(f"{group}/a", {"n": 1}))
    stream.finish()
    assert [len(answer.write_results) for answer in stream.call] == [1]
    assert stream.call.code() == grpc.StatusCode.OK
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_an_empty_last_request_is_answered(stream):
    send(stream, stream.opened.stream_token)
    assert list(stream.next().write_results) == []


def test_two_streams_have_ids_of_their_own(wire):
    with wire.write() as first, wire.write() as second:
        first.send()
        second.send()
        assert first.next().stream_id != second.next().stream_id


def test_a_verify_of_an_unchanged_document_is_a_write_with_a_result(wire, group, stream):
    """Write.verify is field 5, which the public classes do not have."""
    wire.commit_writes(update(f"{group}/a", {"n": 1}))
    verify = verifying(f"{group}/a", exists=True)
    send(stream, stream.opened.stream_token, verify, update(f"{group}/b", {"n": 2}))
    assert len(stream.next().write_results) == 2
    assert wire.get(f"{group}/a").fields == fields({"n": 1})


def test_a_verify_that_does_not_hold_fails_the_batch(wire, group, stream):
    send(stream, stream.opened.stream_token, verifying(f"{group}/a", exists=True),
         update(f"{group}/b", {"n": 2}))
    error, _ = stream.error()
    assert error.code() == grpc.StatusCode.NOT_FOUND
    assert wire.found(types.StructuredQuery(from_=[{"collection_id": group}])) == []


def verifying(path, exists):
    text = name(path).encode()
    precondition = types.Write.pb(types.Write(current_document={"exists": exists}))
    field = bytes([5 << 3 | 2]) + varint(len(text)) + text
    return types.Write.deserialize(field + precondition.SerializeToString())


def varint(number):
    digits = []
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def test_a_stream_is_resumed_where_its_client_has_heard_of_it(wire, group, stream):
    """The server sends the answers after the given token again. No batch is applied again."""
    increment = types.DocumentTransform.FieldTransform(field_path="n", increment=value(1))
    write = update(f"{group}/a", {}, update_mask={}, update_transforms=[increment])
    send(stream, stream.opened.stream_token, write)
    send(stream, stream.opened.stream_token, write)
    first, second = stream.next(), stream.next()
    stream.call.cancel()
    with wire.write() as again:
        again.send(stream_id=stream.opened.stream_id, stream_token=first.stream_token)
        missed = again.next()
        assert (missed.commit_time, missed.write_results) == (
            second.commit_time, second.write_results)
        opened = again.next()
        assert opened.stream_id == stream.opened.stream_id and not opened.write_results
        send(again, opened.stream_token, write)
        assert again.next().write_results[0].transform_results[0] == value(3)
    assert wire.get(f"{group}/a").fields == fields({"n": 3})
