"""Commit and BatchWrite on the wire: results, masks, transforms, and refused requests."""

import datetime

import pytest
from google.api_core import exceptions
from google.cloud.firestore_v1 import types

from wire import DATABASE, delete, document, fields, name, update, value

UTC = datetime.timezone.utc


def transform(path, **options):
    return types.DocumentTransform.FieldTransform(field_path=path, **options)


def batch_write(wire, *writes):
    return wire.batch_write(database=DATABASE, writes=list(writes))


def codes(reply):
    return [status.code for status in reply.status]


def test_a_commit_of_nothing_has_a_later_time_each(wire):
    first, second = wire.commit_writes(), wire.commit_writes()
    assert first.commit_time < second.commit_time
    assert list(first.write_results) == []


def test_all_documents_of_a_commit_carry_its_time(wire, group):
    reply = wire.commit_writes(*(update(f"{group}/{n}", {"n": n}) for n in range(3)))
    times = {result.update_time for result in reply.write_results}
    assert times == {reply.commit_time} and len(reply.write_results) == 3
    assert {wire.get(f"{group}/{n}").update_time for n in range(3)} == times


def test_a_delete_has_no_update_time(wire, group):
    reply = wire.commit_writes(delete(f"{group}/nowhere"))
    assert "update_time" not in reply.write_results[0]


def test_identical_data_keeps_the_old_update_time(wire, group):
    first = wire.commit_writes(update(f"{group}/a", {"n": float("nan")}))
    again = wire.commit_writes(update(f"{group}/a", {"n": float("nan")}))
    assert again.write_results[0].update_time == first.commit_time < again.commit_time
    assert wire.get(f"{group}/a").update_time == first.commit_time


def test_writes_to_one_document_make_one_version_and_see_each_other(wire, group):
    increment = transform("n", increment=value(1))
    reply = wire.commit_writes(
        update(f"{group}/a", {"n": 1}),
        update(f"{group}/a", {}, update_mask={}, update_transforms=[increment]),
        update(f"{group}/a", {}, update_mask={}, update_transforms=[increment]))
    made = wire.get(f"{group}/a")
    assert made.fields == fields({"n": 3})
    assert made.create_time == made.update_time == reply.commit_time
    assert [list(result.transform_results) for result in reply.write_results] == [
        [], [value(2)], [value(3)]]


def test_transform_results_come_one_for_each_in_order(wire, group):
    reply = wire.commit_writes(update(
        f"{group}/a", {"n": 1, "list": [1]}, update_transforms=[
            transform("n", increment=value(1.5)),
            transform("list", append_missing_elements={"values": [value(1), value(2)]}),
            transform("at", set_to_server_value="REQUEST_TIME"),
            transform("also", set_to_server_value="REQUEST_TIME"),
            transform("most", maximum=value(7))]))
    results = reply.write_results[0].transform_results
    assert [results[0], results[1], results[4]] == [value(2.5), value(None), value(7)]
    assert results[2] == results[3], "a commit has one request time"
    assert results[2].timestamp_value.microsecond % 1000 == 0, "in whole milliseconds"
    assert wire.get(f"{group}/a").fields["list"] == value([1, 2])


def test_a_transform_write_alone_needs_no_document(wire, group):
    write = types.Write(transform={
        "document": name(f"{group}/a"), "field_transforms": [transform("n", increment=value(2))]})
    wire.commit_writes(write)
    wire.commit_writes(write)
    assert wire.get(f"{group}/a").fields == fields({"n": 4})


def test_a_mask_with_transforms_leaves_the_rest_alone(wire, group):
    wire.commit_writes(update(f"{group}/a", {"keep": 1, "n": 1}))
    wire.commit_writes(update(
        f"{group}/a", {}, update_mask={}, update_transforms=[transform("n", increment=value(1))]))
    assert wire.get(f"{group}/a").fields == fields({"keep": 1, "n": 2})


@pytest.mark.parametrize("writes", [
    [types.Write()],
    [types.Write(update={"name": name("a")})],
    [types.Write(update={"name": name("a/b", "projects/other/databases/(default)")})],
    [update("a/b", {"x": 1}, update_mask={"field_paths": ["__x__"]})],
    [update("a/b", {"": 1})],
    [update("a/b", {"__x__": 1})],
    [update("a/b", {"list": [{"deep": {"__x__": 1}}]})],
    [update("a/b", {"x" * 1501: 1})],
    [update("a/b", {}, update_transforms=[transform("n")])],
    [update("a/b", {}, update_transforms=[transform("", increment=value(1))])],
    [update("a/b", {}, update_transforms=[transform("n", increment=value("no number"))])],
], ids=["empty write", "collection's name", "another database",
        "reserved mask", "empty field", "reserved field", "reserved inside a list", "long field",
        "empty transform", "transform of nothing", "increment by a text"])
def test_commit_refuses_and_writes_nothing(wire, group, writes):
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(update(f"{group}/good", {}), *writes)
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/good")


def test_500_transforms_of_a_document_are_the_most(wire, group):
    increments = [transform(f"f{n}", increment=value(1)) for n in range(501)]
    wire.commit_writes(update(f"{group}/a", {}, update_transforms=increments[:500]))
    assert len(wire.get(f"{group}/a").fields) == 500
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(update(f"{group}/a", {}, update_transforms=increments))


def test_a_precondition_of_the_future_is_refused(wire, group):
    wire.commit_writes(update(f"{group}/a", {}))
    future = datetime.datetime.now(UTC) + datetime.timedelta(days=1)
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(delete(f"{group}/a", current_document={"update_time": future}))


def test_a_precondition_finer_than_microseconds_is_refused(wire, group):
    wire.commit_writes(update(f"{group}/a", {}))
    write = types.Write.pb(delete(f"{group}/a"))
    write.current_document.update_time.seconds = 1_000_000_000
    write.current_document.update_time.nanos = 1
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(types.Write.wrap(write))


def test_timestamps_are_cut_to_microseconds(wire, group):
    write = types.Write.pb(update(f"{group}/a", {}))
    write.update.fields["at"].timestamp_value.seconds = 5
    write.update.fields["at"].timestamp_value.nanos = 1_999
    wire.commit_writes(types.Write.wrap(write))
    stored = types.Document.pb(wire.get(f"{group}/a")).fields["at"].timestamp_value
    assert (stored.seconds, stored.nanos) == (5, 1_000)


def test_more_than_500_writes_are_one_commit(wire, group):
    reply = wire.commit_writes(*(update(f"{group}/{n:04}", {"n": n}) for n in range(1_000)))
    assert len(reply.write_results) == 1_000
    assert {result.update_time for result in reply.write_results} == {reply.commit_time}


def test_a_request_of_more_than_10_mebibytes_is_refused(wire, group):
    large = [update(f"{group}/{n}", {"b": b"x" * 1_000_000}) for n in range(12)]
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit_writes(*large)
    wire.commit_writes(*large[:9])


def test_batch_write_judges_each_write_alone(wire, group):
    wire.commit_writes(update(f"{group}/there", {"n": 1}))
    reply = batch_write(
        wire, update(f"{group}/a", {"n": 1}),
        update(f"{group}/there", {}, current_document={"exists": False}),
        update(f"{group}/nowhere", {}, current_document={"exists": True}),
        update(f"{group}/bad", {"__x__": 1}), update(f"{group}/b", {"n": 2}))
    assert codes(reply) == [0, 6, 5, 3, 0] and len(reply.write_results) == 5
    assert reply.status[1].message.startswith("Document already exists: projects/")
    assert wire.get(f"{group}/a").update_time == reply.write_results[0].update_time
    assert wire.get(f"{group}/b").fields == fields({"n": 2})


def test_batch_write_refuses_one_document_twice(wire, group):
    with pytest.raises(exceptions.InvalidArgument):
        batch_write(wire, update(f"{group}/a", {"n": 1}), update(f"{group}/a", {"n": 2}))
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/a")


def test_an_unknown_transaction_commits_nothing(wire, group):
    with pytest.raises((exceptions.Aborted, exceptions.InvalidArgument)):
        wire.commit_writes(update(f"{group}/a", {}), transaction=b"never begun")
    with pytest.raises(exceptions.NotFound):
        wire.get(f"{group}/a")


def test_a_document_keeps_its_name_exactly(wire, group):
    """Two names that look equal are two documents: one is composed, one is decomposed."""
    composed, decomposed = f"{group}/\u00e9", f"{group}/e\u0301"
    wire.commit_writes(update(composed, {"n": 1}), update(decomposed, {"n": 2}))
    assert wire.get(composed) == document_as_stored(wire, composed, {"n": 1})
    assert wire.get(decomposed).fields == fields({"n": 2})


def document_as_stored(wire, path, python):
    stored = wire.get(path)
    expected = document(path, python)
    expected.create_time, expected.update_time = stored.create_time, stored.update_time
    return expected
