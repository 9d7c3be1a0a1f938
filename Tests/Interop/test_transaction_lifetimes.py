"""The lifetime of a transaction, as measured in production, with a server whose clock is set."""

import datetime

import pytest
from google.api_core import exceptions

from conftest import Server
from test_control import ask
from wire import Wire, fields, name, update

DATABASE = "projects/lifetimes/databases/(default)"
EXPIRED = "The referenced transaction has expired or is no longer valid."
# In production, idle transactions expired between 110.7 and 122.96 s, and all between 253.3 and
# 280.4 s.
IDLE, STILL_ALIVE, TOTAL = 123, 110, 281


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("lifetimes"))
    server.now = datetime.datetime.now(datetime.timezone.utc)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def wire(server):
    wire = Wire(server.host)
    yield wire
    wire.close()


@pytest.fixture
def later(server):
    def later(seconds):
        server.now += datetime.timedelta(seconds=seconds)
        since = server.now - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
        microseconds = since // datetime.timedelta(microseconds=1)
        assert ask(server, "/tidemark/v1/clock", f'{{"time": {microseconds}}}')[0] == 200
    later(1)
    return later


def commit(wire, path, number, **options):
    return wire.commit(database=DATABASE, writes=[update_there(path, number)], **options)


def update_there(path, number):
    write = update(path, {"n": number})
    write.update.name = name(path, DATABASE)
    return write


def read(wire, path, **options):
    return wire.get_document(name=name(path, DATABASE), **options)


def rollback(wire, transaction):
    wire.rollback(database=DATABASE, transaction=transaction)


def test_an_idle_transaction_expires(wire, group, later):
    transaction = wire.begin(DATABASE)
    later(IDLE)
    with pytest.raises(exceptions.Aborted, match=EXPIRED):
        commit(wire, f"{group}/a", 1, transaction=transaction)
    with pytest.raises(exceptions.NotFound):
        read(wire, f"{group}/a")


def test_it_lives_until_then(wire, group, later):
    transaction = wire.begin(DATABASE)
    later(STILL_ALIVE)
    commit(wire, f"{group}/a", 1, transaction=transaction)
    assert read(wire, f"{group}/a").fields == fields({"n": 1})


def test_a_read_keeps_it_alive_but_not_for_ever(wire, group, later):
    commit(wire, f"{group}/a", 1)
    transaction = wire.begin(DATABASE)
    for _ in range(10):
        later(24)
        read(wire, f"{group}/a", transaction=transaction)
    later(TOTAL - 240)
    with pytest.raises(exceptions.Aborted, match=EXPIRED):
        commit(wire, f"{group}/a", 2, transaction=transaction)


def test_what_has_expired_may_be_rolled_back_and_retried(wire, group, later):
    transaction = wire.begin(DATABASE)
    later(IDLE)
    rollback(wire, transaction)
    again = wire.begin(DATABASE, read_write={"retry_transaction": transaction})
    commit(wire, f"{group}/a", 1, transaction=again)


def test_what_has_expired_holds_nobody_up(wire, group, later):
    commit(wire, f"{group}/a", 1)
    transaction = wire.begin(DATABASE)
    read(wire, f"{group}/a", transaction=transaction)
    later(IDLE)
    commit(wire, f"{group}/a", 2)
    assert read(wire, f"{group}/a").fields == fields({"n": 2})


def test_a_read_only_transaction_keeps_its_state_as_long_as_it_lives(wire, group, later):
    commit(wire, f"{group}/a", 1)
    transaction = wire.begin(DATABASE, read_only={})
    read(wire, f"{group}/a", transaction=transaction)
    later(1)
    commit(wire, f"{group}/a", 2)
    later(60)
    assert read(wire, f"{group}/a", transaction=transaction).fields == fields({"n": 1})
