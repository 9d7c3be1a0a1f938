"""Records which operations of Google's client the tests have used."""

import json
import pathlib
import sys

from google.cloud import firestore_v1
from google.cloud.firestore_v1.aggregation import AggregationQuery
from google.cloud.firestore_v1.async_aggregation import AsyncAggregationQuery
from google.cloud.firestore_v1.async_query import AsyncCollectionGroup
from google.cloud.firestore_v1.async_stream_generator import AsyncStreamGenerator
from google.cloud.firestore_v1.async_vector_query import AsyncVectorQuery
from google.cloud.firestore_v1.base_document import DocumentSnapshot
from google.cloud.firestore_v1.base_query import QueryPartition
from google.cloud.firestore_v1.bulk_writer import BulkWriter
from google.cloud.firestore_v1.query import CollectionGroup
from google.cloud.firestore_v1.query_profile import ExplainMetrics
from google.cloud.firestore_v1.query_results import QueryResultsList
from google.cloud.firestore_v1.stream_generator import StreamGenerator
from google.cloud.firestore_v1.vector_query import VectorQuery
from google.cloud.firestore_v1.watch import Watch

# The path of the tests, without installed packages below the folder.
HERE = str(pathlib.Path(__file__).resolve().parent / "test_")

CLASSES = [
    firestore_v1.Client, firestore_v1.AsyncClient, firestore_v1.Query, firestore_v1.AsyncQuery,
    CollectionGroup, AsyncCollectionGroup, firestore_v1.CollectionReference,
    firestore_v1.AsyncCollectionReference, firestore_v1.DocumentReference,
    firestore_v1.AsyncDocumentReference, DocumentSnapshot, firestore_v1.WriteBatch,
    firestore_v1.AsyncWriteBatch, BulkWriter, firestore_v1.Transaction,
    firestore_v1.AsyncTransaction, AggregationQuery, AsyncAggregationQuery, VectorQuery,
    AsyncVectorQuery, Watch, QueryPartition, StreamGenerator, AsyncStreamGenerator,
    QueryResultsList, ExplainMetrics,
]

# The used operations, as pairs of the name of a class or module and the name of an operation.
used = set()


def operations(kind):
    """Returns the names of a class's operations, without constants and Python's own attributes."""
    inherited = set(dir(list)) if issubclass(kind, list) else {"send", "throw", "asend", "athrow"}
    return {name for name in dir(kind)
            if not name.startswith("_") and not name.isupper() and name not in inherited}


def note_operations():
    """Makes every object of the classes record the attributes that the files in this folder use."""
    for kind in CLASSES:
        kind.__getattribute__ = look_up


def look_up(self, name):
    if not name.startswith("_") and sys._getframe(1).f_code.co_filename.startswith(HERE):
        used.add((type(self).__name__, name))
    return object.__getattribute__(self, name)


def write(path):
    """Writes what this process has used."""
    path.write_text(json.dumps(sorted(used)))


def read(folder):
    """Returns what the processes have used that wrote a file to this folder."""
    return {tuple(pair) for path in folder.glob("*.json") for pair in json.loads(path.read_text())}
