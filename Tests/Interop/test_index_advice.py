"""`tidemark indexes`: from the requirements of an app's queries to a file that the server
enforces."""

import json
import subprocess

from conftest import BINARY
from test_indexes import by_population, serve

NEEDS = {"needs": [
    {"collectionGroup": "cities", "queryScope": "COLLECTION", "equal": ["state"],
     "orders": [{"fieldPath": "population", "order": "DESCENDING"}],
     "nameOrder": "DESCENDING", "queries": 3},
    {"collectionGroup": "cities", "queryScope": "COLLECTION", "equal": ["state"],
     "nameOrder": "ASCENDING", "queries": 9}]}
FOREIGN = {
    "indexes": [{
        "collectionGroup": "old", "queryScope": "COLLECTION", "note": "ours", "fields": [
            {"fieldPath": "a", "order": "ASCENDING"}, {"fieldPath": "b", "order": "ASCENDING"}]}],
    "fieldOverrides": [{"collectionGroup": "cities", "fieldPath": "expires", "ttl": True}],
    "extra": {"kept": [1, 2.5, None]}}


def advise(tmp_path, *flags, needs=NEEDS):
    path = tmp_path / "needs.json"
    path.write_text(json.dumps(needs) if isinstance(needs, dict) else needs)
    return subprocess.run(
        [BINARY, "indexes", path, "--file", tmp_path / "firestore.indexes.json", *flags],
        capture_output=True, text=True, timeout=30)


def test_a_file_is_written_that_the_server_takes_and_the_query_runs_on(tmp_path):
    result = advise(tmp_path)
    assert result.returncode == 0, result.stderr
    assert "missing: Collection cities (state ASC, population DESC, __name__ DESC)" in result.stdout
    written = json.loads((tmp_path / "firestore.indexes.json").read_text())
    assert len(written["indexes"]) == 1, "the second one is automatic"
    server, _, cities = serve(tmp_path, None)
    assert [city.id for city in by_population(cities).stream()] == ["la", "sf"]
    server.stop()
    assert advise(tmp_path, "--check").returncode == 0


def test_the_check_names_what_is_missing_and_superfluous_and_writes_nothing(tmp_path):
    path = tmp_path / "firestore.indexes.json"
    path.write_text(json.dumps(FOREIGN))
    before = path.read_text()
    result = advise(tmp_path, "--check")
    assert result.returncode == 1
    assert "missing: Collection cities (state ASC, population DESC" in result.stdout
    assert "superfluous: Collection old (a ASC, b ASC, __name__ ASC)" in result.stdout
    assert path.read_text() == before


def test_what_is_not_known_is_kept_and_prune_takes_only_what_nothing_uses(tmp_path):
    path = tmp_path / "firestore.indexes.json"
    path.write_text(json.dumps(FOREIGN))
    assert advise(tmp_path).returncode == 0
    written = json.loads(path.read_text())
    assert written["extra"] == FOREIGN["extra"]
    assert written["fieldOverrides"] == FOREIGN["fieldOverrides"]
    assert [index["collectionGroup"] for index in written["indexes"]] == ["cities", "old"]
    assert written["indexes"][1]["note"] == "ours"
    assert advise(tmp_path, "--check").returncode == 0
    assert advise(tmp_path, "--check", "--prune").returncode == 1
    assert advise(tmp_path, "--prune").returncode == 0
    pruned = json.loads(path.read_text())
    assert [index["collectionGroup"] for index in pruned["indexes"]] == ["cities"]
    assert pruned["extra"] == FOREIGN["extra"]


def test_what_is_no_such_file_is_refused_in_a_sentence(tmp_path):
    result = advise(tmp_path, needs="my notes")
    assert result.returncode == 1 and "was not written by an IndexAdvisor" in result.stderr
    bad = {"needs": [{"collectionGroup": "c", "queryScope": "COLLECTION", "equal": ["a..b"],
                      "queries": 1}]}
    assert advise(tmp_path, needs=bad).returncode == 1
    (tmp_path / "firestore.indexes.json").write_text("{ // mine\n}")
    result = advise(tmp_path)
    assert result.returncode == 1 and "comments" in result.stderr
    (tmp_path / "firestore.indexes.json").unlink()
    assert "no file" in advise(tmp_path, "--check").stderr
