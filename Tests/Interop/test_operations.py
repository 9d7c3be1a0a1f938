"""Every operation of Google's client is used by a test. Scripts/interop runs these tests after all
others, in a process of their own."""

import pytest
from operations import CLASSES, operations

# Operations that make no call to a server, or are not for callers, and therefore have no test.
ASIDE = {
    "Client": {
        "from_service_account_info": "for real credentials",
        "from_service_account_json": "for real credentials",
    },
    "Watch": {
        "for_document": "what DocumentReference.on_snapshot calls",
        "for_query": "what Query.on_snapshot calls",
        "on_snapshot": "what the stream calls with each message",
        "push": "what on_snapshot calls",
    },
}
ASIDE["AsyncTransaction"] = {"get_all": "awaits a generator in this version, and so cannot work"}
ASIDE["AsyncClient"] = ASIDE["Client"]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_operation_is_used(kind, used_by_all):
    offered = operations(kind) - set(ASIDE.get(kind.__name__, {}))
    missing = {name for name in offered if (kind.__name__, name) not in used_by_all}
    assert missing == set()


def test_what_is_set_aside_exists():
    for kind in CLASSES:
        assert set(ASIDE.get(kind.__name__, {})) <= operations(kind)
