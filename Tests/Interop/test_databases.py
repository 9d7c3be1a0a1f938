"""Several projects and databases in one server: each is created at its first use, and all are
separate."""

import uuid

import pytest
from google.api_core import exceptions

from test_watch import Listener
from wire import name, update

DATABASES = [("interop", None), ("interop", "system-tests-named-db"),
             ("interop", "enterprise-db-native"), ("another-project", None),
             ("another-project", "system-tests-named-db"), ("example.com:with-a-domain", None)]


@pytest.fixture
def clients(server):
    clients = [server.client(project, database) for project, database in DATABASES]
    yield clients
    for client in clients:
        client.close()


@pytest.fixture
def path():
    return f"d-{uuid.uuid4().hex[:12]}/a"


def test_one_path_is_another_document_in_each(clients, path):
    for number, client in enumerate(clients):
        client.document(path).create({"n": number})
    read = [client.document(path).get().get("n") for client in clients]
    assert read == list(range(len(clients)))
    found = [[s.get("n") for s in client.collection(path.split("/")[0]).stream()]
             for client in clients]
    assert found == [[number] for number in range(len(clients))]


def test_lists_and_groups_stay_in_their_database(clients, path):
    collection = path.split("/")[0]
    clients[0].document(path).set({})
    assert collection in [c.id for c in clients[0].collections()]
    for other in clients[1:]:
        assert collection not in [c.id for c in other.collections()]
        assert list(other.collection_group(collection).stream()) == []
        assert other.collection(collection).count().get()[0][0].value == 0


def test_a_delete_and_a_transaction_stay_in_their_database(clients, path):
    for client in clients[:2]:
        client.document(path).set({"n": 1})
    clients[0].recursive_delete(clients[0].collection(path.split("/")[0]))
    assert clients[1].document(path).get().exists
    transaction = clients[1].transaction()
    transaction._begin()
    clients[1].document(path).get(transaction=transaction)
    clients[0].document(path).set({"n": 2})
    transaction.set(clients[1].document(path), {"n": 3})
    transaction._commit()
    assert [c.document(path).get().get("n") for c in clients[:2]] == [2, 3]


def test_a_listener_hears_of_its_database_only(clients, path):
    collection = path.split("/")[0]
    with Listener(clients[1].collection(collection)) as listener:
        listener.until(lambda state: state == {})
        clients[0].document(path).set({"of": 0})
        clients[1].document(path).set({"of": 1})
        *_, seen = listener.until(lambda state: state)
        assert seen == [{"a": {"of": 1}}]


def test_references_into_another_database_are_values_as_any(clients, path):
    reference = clients[0].document("other/document")
    clients[0].document(path).set({"r": reference})
    assert clients[0].document(path).get().get("r") == reference


@pytest.mark.parametrize("bad", [
    "", "projects/p", "projects//databases/d", "projects/p/databases/", "p/d",
    "projects/p/databases/d/documents"])
def test_a_database_of_another_shape_is_refused(wire, bad):
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit(database=bad, writes=[])
    with pytest.raises(exceptions.InvalidArgument):
        wire.begin(database=bad)


def test_a_commit_into_another_database_is_refused(wire, group):
    with pytest.raises(exceptions.InvalidArgument):
        wire.commit(database="projects/interop/databases/other",
                    writes=[update(f"{group}/a", {})])
    with pytest.raises(exceptions.NotFound):
        wire.get_document(name=name(f"{group}/a"))
