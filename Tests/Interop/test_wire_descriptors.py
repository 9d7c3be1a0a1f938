"""Compares Proto/ with the descriptors in Google's Python package: every message, field, enum and
rpc."""

import pathlib
from importlib import resources

import pytest
from google.cloud.firestore_v1 import types
from google.cloud.firestore_v1.services.firestore import transports
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.rpc import error_details_pb2, status_pb2
from google.type import latlng_pb2
from grpc_tools import protoc

PROTO = pathlib.Path(__file__).resolve().parents[2] / "Proto"
PACKAGE = "google.firestore.v1."

# The fields that Proto/ declares as bytes, because the model's codecs decode them. Both types have
# the same form on the wire. No other field may differ.
BYTES = {
    "BatchGetDocumentsResponse.found": "Document",
    "CreateDocumentRequest.document": "Document",
    "Cursor.values": "Value",
    "DocumentChange.document": "Document",
    "DocumentTransform.FieldTransform.append_missing_elements": "ArrayValue",
    "DocumentTransform.FieldTransform.increment": "Value",
    "DocumentTransform.FieldTransform.maximum": "Value",
    "DocumentTransform.FieldTransform.minimum": "Value",
    "DocumentTransform.FieldTransform.remove_all_from_array": "ArrayValue",
    "ListDocumentsResponse.documents": "Document",
    "RunAggregationQueryResponse.result": "AggregationResult",
    "RunQueryResponse.document": "Document",
    "StructuredQuery.FieldFilter.value": "Value",
    "StructuredQuery.FindNearest.query_vector": "Value",
    "UpdateDocumentRequest.document": "Document",
    "Write.update": "Document",
    "WriteResult.transform_results": "Value",
}

# The error details of google.rpc that Firestore sends. The package contains further types.
DETAILS = tuple(
    "google.rpc." + name for name in ("ErrorInfo", "Help", "BadRequest", "LocalizedMessage"))

# The field that only mobile clients know (see Proto/README.md): name, number, type.
OURS = {"google.firestore.v1.Write": {("verify", 5, "string")}}


def field_type(field):
    """Returns the type in the form `repeated google.firestore.v1.Value`; maps are `map<key,
    value>`."""
    Type = descriptor_pb2.FieldDescriptorProto
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        entry = field.message_type.fields_by_name
        return f"map<{field_type(entry['key'])}, {field_type(entry['value'])}>"
    if field.message_type is not None:
        name = field.message_type.full_name
    elif field.enum_type is not None:
        name = field.enum_type.full_name
    else:
        name = Type.Type.Name(field.type).removeprefix("TYPE_").lower()
    return "repeated " + name if field.is_repeated else name


def oneof(field):
    return field.containing_oneof.name if field.containing_oneof is not None else None


def describe(pool_files):
    """Returns all messages and enums of the files by full name, without map entries."""
    messages, enums = {}, {}

    def visit(message):
        if message.GetOptions().map_entry:
            return
        messages[message.full_name] = message
        for nested in message.nested_types:
            visit(nested)
        for enum in message.enum_types:
            enums[enum.full_name] = enum

    for file in pool_files:
        for message in file.message_types_by_name.values():
            visit(message)
        for enum in file.enum_types_by_name.values():
            enums[enum.full_name] = enum
    return messages, enums


def is_contract(name):
    return name.startswith((PACKAGE, "google.rpc.Status", "google.type.LatLng", *DETAILS))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    output = tmp_path_factory.mktemp("proto") / "ours.bin"
    files = sorted(path.relative_to(PROTO).as_posix() for path in PROTO.rglob("*.proto"))
    assert files, "there is nothing in Proto/"
    known = resources.files("grpc_tools") / "_proto"  # google/protobuf/*.proto
    failed = protoc.main(
        ["protoc", f"-I{PROTO}", f"-I{known}", "--include_imports",
         f"--descriptor_set_out={output}", *files])
    assert not failed, "Proto/ does not compile"
    set_ = descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in set_.file:
        pool.Add(file)
    described = describe([pool.FindFileByName(name) for name in files])
    service = pool.FindServiceByName(PACKAGE + "Firestore")
    return *described, service


@pytest.fixture(scope="module")
def theirs():
    """Returns Google's descriptors, from the message classes that the package exports."""
    files = {status_pb2.DESCRIPTOR.name: status_pb2.DESCRIPTOR,
             error_details_pb2.DESCRIPTOR.name: error_details_pb2.DESCRIPTOR,
             latlng_pb2.DESCRIPTOR.name: latlng_pb2.DESCRIPTOR}
    for name in types.__all__:
        kind = getattr(types, name)
        if hasattr(kind, "pb"):
            file = kind.pb().DESCRIPTOR.file
            files[file.name] = file
    # A file without exported messages is still imported by a file with exported messages.
    pending = list(files.values())
    while pending:
        for dependency in pending.pop().dependencies:
            if dependency.name not in files and dependency.package == PACKAGE.rstrip("."):
                files[dependency.name] = dependency
                pending.append(dependency)
    return describe(files.values())


def python_name(name):
    """Returns the name without the underscore that the package appends to Python's keywords."""
    return name.removesuffix("_")


def test_the_same_messages(ours, theirs):
    mine = {name for name in ours[0] if is_contract(name)}
    google = {name for name in theirs[0] if is_contract(name)}
    assert len(google) > 80, "the package's descriptors were not found"
    assert mine == google


def test_every_field(ours, theirs):
    differences, used = [], set()
    for name, google in theirs[0].items():
        if not is_contract(name):
            continue
        mine = ours[0][name]
        extra = OURS.get(name, set())
        numbers = {field.number for field in mine.fields} - {number for _, number, _ in extra}
        if numbers != {field.number for field in google.fields}:
            differences.append(f"{name}: fields {sorted(numbers)}")
            continue
        for field in google.fields:
            own = mine.fields_by_number[field.number]
            key = f"{name.removeprefix(PACKAGE)}.{python_name(field.name)}"
            expected = field_type(field)
            if key in BYTES:
                used.add(key)
                message = PACKAGE + BYTES[key]
                assert expected.removeprefix("repeated ") == message, key
                expected = expected.replace(message, "bytes")
            if (own.name, field_type(own), oneof(own)) != (
                    python_name(field.name), expected, oneof(field)):
                differences.append(
                    f"{key}: {own.name} {field_type(own)} {oneof(own)}, "
                    f"not {field.name} {expected} {oneof(field)}")
    assert differences == []
    assert used == set(BYTES), "a field on the list is not one of Google's"


def test_our_own_fields(ours):
    for name, fields in OURS.items():
        for field, number, kind in fields:
            own = ours[0][name].fields_by_number[number]
            assert (own.name, field_type(own), oneof(own)) == (field, kind, "operation")


def test_every_enum(ours, theirs):
    google = {name: enum for name, enum in theirs[1].items() if is_contract(name)}
    assert set(google) == {name for name in ours[1] if is_contract(name)}
    for name, enum in google.items():
        values = {value.name: value.number for value in enum.values}
        assert values == {value.name: value.number for value in ours[1][name].values}, name


def test_every_rpc(ours):
    """The package's transport contains every path, and which sides stream."""
    calls = {}

    class Channel:
        """Records calls instead of making them."""

    def note(kind):
        def call(self, path, request_serializer=None, response_deserializer=None, **_):
            calls[path] = kind
            return lambda *arguments, **options: None
        return call

    for kind in ["unary_unary", "unary_stream", "stream_unary", "stream_stream"]:
        setattr(Channel, kind, note(kind))
    transport = object.__new__(transports.FirestoreGrpcTransport)
    transport._stubs = {}
    transport._grpc_channel = transport._logged_channel = Channel()
    for method in ours[2].methods:
        snake = "".join("_" + c.lower() if c.isupper() else c for c in method.name).lstrip("_")
        assert callable(getattr(transport, snake)), f"the package has no {method.name}"
        sides = ["stream" if method.client_streaming else "unary",
                 "stream" if method.server_streaming else "unary"]
        assert calls[f"/{PACKAGE}Firestore/{method.name}"] == "_".join(sides), method.name
    assert len(calls) == len(ours[2].methods) == 17


def test_bytes_and_messages_look_alike(ours):
    """The list above depends on this: both types are a length and bytes."""
    Write = message_factory.GetMessageClass(ours[0][PACKAGE + "Write"])
    Document = types.Document(name="a/b", fields={"n": types.Value(integer_value=7)})
    google = types.Write.pb(types.Write(update=Document)).SerializeToString(deterministic=True)
    document = types.Document.pb(Document).SerializeToString(deterministic=True)
    assert Write(update=document).SerializeToString(deterministic=True) == google
