"""A plugin of pytest that lets Google's system tests run against `tidemark serve` as they run
against production.

For an emulator, Google's tests skip pipelines and explanations. They read the variable of the
emulator when they are imported, and the client reads it when it is made: so it is hidden meanwhile.
"""

import os
import pathlib

import pytest

HOST = os.environ.pop("FIRESTORE_EMULATOR_HOST")

import google.auth  # noqa: E402
from test_utils.system import EmulatorCreds  # noqa: E402

google.auth.default = lambda *_, **__: (EmulatorCreds(), os.environ["GCLOUD_PROJECT"])

import test__helpers  # noqa: E402

assert not test__helpers.FIRESTORE_EMULATOR
os.environ["FIRESTORE_EMULATOR_HOST"] = HOST

# The tests that are expected to fail: the end of a test's name, and the reason.
EXCEPTIONS = [
    line.split(" -- ", 1)
    for line in (pathlib.Path(__file__).parent / "exceptions.txt").read_text().splitlines()
    if line and not line.startswith("#")]


def pytest_sessionstart():
    """Writes the documents of the tests of vector search, as Google does once for its project."""
    from google.cloud import firestore
    from util.bootstrap_vector_index import COLLECTION_ID, create_vector_documents

    create_vector_documents(firestore.Client(), COLLECTION_ID)


def pytest_collection_modifyitems(items):
    used = set()
    for item in items:
        for name, reason in EXCEPTIONS:
            if name.removeprefix("skip ") not in item.nodeid:
                continue
            used.add(name)
            is_left_out = name.startswith("skip ")
            item.add_marker(pytest.mark.skip(reason=reason) if is_left_out
                            else pytest.mark.xfail(reason=reason, strict=True))
    if os.environ.get("TIDEMARK_GOOGLE_TESTS") == "all":
        unused = [name for name, _ in EXCEPTIONS if name not in used]
        assert not unused, f"no test has these names: {unused}"
