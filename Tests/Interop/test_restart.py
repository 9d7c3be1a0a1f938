"""The state that survives a restart of the server: tokens, streams, versions, pages and the
time."""

import datetime

import pytest
from google.api_core import exceptions

from conftest import Server
from test_control import ask
from wire import (
    DOCUMENTS,
    Wire,
    client_state,
    delete,
    field_filter,
    fields,
    kinds,
    query,
    resumed,
    snapshot,
    update,
    value,
)


class Restarting:
    """A server that stops and starts again with its stored data."""

    def __init__(self, folder, *flags):
        self.folder, self.flags, self.server, self.wire = folder, flags, None, None
        self.start()

    def start(self):
        self.server = Server(self.folder, 0, *self.flags)
        self.wire = Wire(self.server.host)
        return self.wire

    def restart(self, end="stop"):
        self.wire.close()
        getattr(self.server, end)()
        return self.start()


@pytest.fixture(params=["stop", "kill"])
def end(request):
    return request.param


@pytest.fixture
def again(tmp_path):
    again = Restarting(tmp_path)
    yield again
    again.wire.close()
    again.server.stop()


def test_a_listener_resumes_by_its_token(again, end):
    wire = again.wire
    wire.commit_writes(*(update(f"c/{each}", {"n": 1}) for each in "abc"))
    target = query("c", where=field_filter("n", "EQUAL", 1))
    token = snapshot(wire, target).resume_token
    wire.commit_writes(delete("c/a"), update("c/d", {"n": 1}))
    wire = again.restart(end)
    wire.commit_writes(update("c/b", {"n": 2}))
    messages = resumed(wire, target, resume_token=token)
    assert client_state("abc", messages) == {"c", "d"}
    assert "RESET" not in {kind[0] for kind in kinds(messages)}


def test_a_listener_resumes_by_its_time(again, end):
    again.wire.commit_writes(*(update(f"c/{each}", {"n": 1}) for each in "ab"))
    time = snapshot(again.wire, "c").read_time
    again.wire.commit_writes(delete("c/a"), update("c/d", {"n": 1}))
    messages = resumed(again.restart(end), "c", read_time=time)
    assert client_state("ab", messages) == {"b", "d"}
    assert ("change", "b") not in kinds(messages), "only what came after"


def test_nothing_has_changed_over_the_restart(again, end):
    again.wire.commit_writes(update("c/a", {"n": 1}))
    token = snapshot(again.wire, "c").resume_token
    messages = resumed(again.restart(end), "c", resume_token=token)
    assert not [kind for kind in kinds(messages) if kind[0] == "change"]


def test_a_write_stream_is_taken_up(again, end):
    increment = [{"field_path": "n", "increment": value(1)}]
    write = update("c/a", {}, update_mask={}, update_transforms=increment)
    with again.wire.write() as stream:
        stream.send()
        opened = stream.next()
        stream.send(stream_token=opened.stream_token, writes=[write])
        answered = stream.next()
    wire = again.restart(end)
    with wire.write() as stream:
        stream.send(stream_id=opened.stream_id, stream_token=opened.stream_token)
        assert stream.next().commit_time == answered.commit_time, "the answer, not a second write"
        stream.send(stream_token=stream.next().stream_token, writes=[write])
        assert stream.next().write_results[0].transform_results[0] == value(2)


def test_a_transaction_does_not_outlive_its_server(again, end):
    transaction = again.wire.begin()
    wire = again.restart(end)
    with pytest.raises((exceptions.Aborted, exceptions.InvalidArgument)):
        wire.commit_writes(update("c/a", {}), transaction=transaction)
    wire.commit_writes(update("c/a", {}))


def test_past_versions_are_still_read(again, end):
    first = again.wire.commit_writes(update("c/a", {"n": 1})).commit_time
    again.wire.commit_writes(update("c/a", {"n": 2}), update("c/b", {}))
    wire = again.restart(end)
    assert wire.get("c/a", read_time=first).fields == fields({"n": 1})
    assert wire.found(query("c"), read_time=first) == ["a"]
    assert wire.found(query("c")) == ["a", "b"]


def test_pages_go_on(again, end):
    again.wire.commit_writes(*(update(f"c/{n}", {}) for n in range(5)))

    def page(wire, **options):
        return next(iter(wire.list_documents(
            parent=DOCUMENTS, collection_id="c", page_size=2, **options).pages))
    token = page(again.wire).next_page_token
    rest = page(again.restart(end), page_token=token)
    assert [row.name[-1] for row in rest.documents] == ["2", "3"]


def test_times_go_on(again, end):
    before = again.wire.commit_writes(update("c/a", {"n": 1})).commit_time
    wire = again.restart(end)
    assert wire.get("c/a").update_time == before
    after = wire.commit_writes(update("c/a", {"n": 2}))
    assert after.commit_time > before
    assert wire.commit_writes(update("c/a", {"n": 2})).write_results[0].update_time == (
        after.commit_time), "what was not changed stays as it was"


def test_databases_and_collections_are_all_there(again, end):
    for database in ("(default)", "other"):
        client = again.server.client("p", database)
        client.document(f"c/{database}/below/x").set({"of": database})
        client.close()
    again.restart(end)
    for database in ("(default)", "other"):
        client = again.server.client("p", database)
        assert [c.id for c in client.document(f"c/{database}").collections()] == ["below"]
        client.close()


def test_a_token_older_than_the_history_ends_in_the_right_state(again):
    wire = again.wire
    wire.commit_writes(*(update(f"c/{each}", {"n": 1}) for each in "abc"))
    seen = snapshot(wire, "c")
    wire.commit_writes(delete("c/a"))
    for minutes in (61, 122):
        later = seen.read_time + datetime.timedelta(minutes=minutes)
        since = later - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        microseconds = since // datetime.timedelta(microseconds=1)
        assert ask(again.server, "/tidemark/v1/clock", f'{{"time": {microseconds}}}')[0] == 200
        wire.commit_writes(update("c/d", {"n": minutes}))
    for options in ({}, {"expected_count": 3}):
        messages = resumed(wire, "c", resume_token=seen.resume_token, **options)
        assert client_state("abc", messages) in (None, set("bcd"))
        assert "REMOVE" not in {kind[0] for kind in kinds(messages)}


def test_memory_forgets_everything_and_files_nothing(tmp_path):
    import subprocess

    from conftest import BINARY
    process = subprocess.Popen(
        [BINARY, "serve", "--port", "0", "--memory"], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        host = process.stdout.readline().split()[1]
        wire = Wire(host)
        wire.commit_writes(update("c/a", {"n": 1}))
        assert wire.found(query("c")) == ["a"]
        wire.close()
    finally:
        process.terminate()
        assert process.wait(20) == 0
        process.stdout.close()
    assert list(tmp_path.iterdir()) == []
