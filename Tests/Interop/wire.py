"""Firestore's protocol on the wire, with Google's generated classes only."""

import queue

import grpc
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import FirestoreClient
from google.cloud.firestore_v1.services.firestore.transports import FirestoreGrpcTransport

DATABASE = "projects/interop/databases/(default)"
DOCUMENTS = DATABASE + "/documents"


def name(path, database=DATABASE):
    return f"{database}/documents/{path}"


def value(python):
    """Returns a value message for the values in tests: integers, texts, and lists and dictionaries
    of them."""
    if python is None:
        return types.Value(null_value=0)
    if isinstance(python, bool):
        return types.Value(boolean_value=python)
    if isinstance(python, int):
        return types.Value(integer_value=python)
    if isinstance(python, float):
        return types.Value(double_value=python)
    if isinstance(python, str):
        return types.Value(string_value=python)
    if isinstance(python, bytes):
        return types.Value(bytes_value=python)
    if isinstance(python, list):
        return types.Value(array_value={"values": [value(item) for item in python]})
    return types.Value(map_value={"fields": fields(python)})


def fields(python):
    return {key: value(item) for key, item in python.items()}


def document(path, python, database=DATABASE):
    return types.Document(name=name(path, database), fields=fields(python))


def update(path, python, **options):
    return types.Write(update=document(path, python), **options)


def delete(path, **options):
    return types.Write(delete=name(path), **options)


def query(collection, **options):
    return types.StructuredQuery({"from_": [{"collection_id": collection}], **options})


def field_filter(path, operator, operand):
    return types.StructuredQuery.Filter(field_filter={
        "field": {"field_path": path}, "op": operator, "value": value(operand)})


class Stream:
    """Both directions of one call. Every wait ends at the call's deadline."""

    def __init__(self, call, request_type, database=DATABASE, seconds=20):
        self.request_type = request_type
        self.requests = queue.SimpleQueue()
        self.database = database
        self.call = call(
            iter(self.requests.get, None), timeout=seconds,
            metadata=[("google-cloud-resource-prefix", database)])

    def send(self, **request):
        self.requests.put(self.request_type(database=self.database, **request))

    def next(self):
        return next(self.call)

    def finish(self):
        """Ends the requests."""
        self.requests.put(None)

    def error(self):
        """Returns the error that ends the stream, and the messages before it."""
        messages = []
        try:
            for message in self.call:
                messages.append(message)
        except grpc.RpcError as error:
            return error, messages
        raise AssertionError(f"the stream ended without an error, after {messages}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends the call cleanly, because a connection may cancel at most 200 calls in half a
        minute."""
        self.finish()
        try:
            for _ in self.call:
                pass
        except grpc.RpcError:
            pass  # It had ended before, and its test knows how.


class ListenStream(Stream):
    """A Listen call. `target` adds a target."""

    def target(self, target_id, kind, **options):
        """Listens to a query message, to names of documents, or to a whole collection by its id."""
        if isinstance(kind, str):
            kind = query(kind)
        if isinstance(kind, types.StructuredQuery):
            options["query"] = {"parent": self.database + "/documents", "structured_query": kind}
        else:
            options["documents"] = {"documents": kind}
        self.send(add_target=types.Target(target_id=target_id, **options))

    def boundary(self):
        """Returns the messages up to the next consistent snapshot, including its boundary."""
        messages = []
        while True:
            messages.append(self.next())
            change = messages[-1].target_change
            if is_boundary(change) and "target_change" in messages[-1]:
                return messages

    def until(self, holds):
        """Returns the messages up to the first for which `holds` is true, including that
        message."""
        messages = []
        while not messages or not holds(messages[-1]):
            messages.append(self.next())
        return messages


def is_boundary(change):
    kind = types.TargetChange.TargetChangeType
    return (change.target_change_type == kind.NO_CHANGE and not change.target_ids
            and change.read_time is not None)


def kind_of(message):
    """Returns the message's kind in one word, and its subject: `("ADD", [1])`, `("change",
    "a/b")`."""
    if "target_change" in message:
        change = message.target_change
        if is_boundary(change):
            return ("boundary",)
        return (change.target_change_type.name, list(change.target_ids))
    if "document_change" in message:
        change = message.document_change
        word = "leave" if change.removed_target_ids and not change.target_ids else "change"
        return (word, last_segment(change.document.name))
    if "document_delete" in message:
        return ("delete", last_segment(message.document_delete.document))
    if "document_remove" in message:
        return ("remove", last_segment(message.document_remove.document))
    return ("filter", message.filter.count)


def last_segment(name):
    return name.rsplit("/", 1)[1]


def kinds(messages):
    return [kind_of(message) for message in messages]


def client_state(documents, messages):
    """Returns the state of a client that knew `documents`; None if a filter shows that it is
    wrong."""
    state = set(documents)
    for message in messages:
        kind = kind_of(message)
        if kind[0] == "RESET":
            state = set()
        elif kind[0] == "change":
            state.add(kind[1])
        elif kind[0] in ("leave", "delete", "remove"):
            state.discard(kind[1])
        elif kind[0] == "filter" and kind[1] != len(state):
            return None
    return state


def snapshot(wire, target):
    with wire.listen() as listen:
        listen.target(2, target)
        return listen.boundary()[-1].target_change


def resumed(wire, target, **options):
    """Returns all messages up to the boundary after CURRENT."""
    with wire.listen() as listen:
        listen.target(2, target, **options)
        messages = listen.until(lambda message: kind_of(message)[0] in ("CURRENT", "REMOVE"))
        if kind_of(messages[-1])[0] == "CURRENT":
            messages += listen.boundary()
        return messages


class Wire:
    def __init__(self, host):
        self.channel = grpc.insecure_channel(host)
        self.transport = FirestoreGrpcTransport(channel=self.channel)
        self.client = FirestoreClient(transport=self.transport)

    def __getattr__(self, rpc):
        """A unary or server-streaming call without retries: `wire.commit(database=…)`."""
        method = getattr(self.client, rpc)

        def call(**request):
            return method(request=request, retry=None, timeout=20)
        return call

    def commit_writes(self, *writes, **options):
        return self.commit(database=DATABASE, writes=list(writes), **options)

    def get(self, path, **options):
        return self.get_document(name=name(path), **options)

    def run(self, structured_query, parent=DOCUMENTS, **options):
        """Returns every message of the answer."""
        return list(self.run_query(
            parent=parent, structured_query=structured_query, **options))

    def found(self, structured_query, **options):
        """Returns the ids of the found documents."""
        return [last_segment(message.document.name)
                for message in self.run(structured_query, **options) if "document" in message]

    def begin(self, database=DATABASE, **options):
        return self.begin_transaction(database=database, options=options).transaction

    def listen(self, **options):
        return ListenStream(self.transport.listen, types.ListenRequest, **options)

    def write(self, **options):
        return Stream(self.transport.write, types.WriteRequest, **options)

    def close(self):
        self.channel.close()
