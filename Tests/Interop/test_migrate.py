"""`tidemark migrate change-times`: documents without a change time get one, also after kills."""

import datetime
import json
import os
import random
import signal
import subprocess
import threading
import time
import urllib.request

import pytest

from conftest import BINARY, Server
from test_control import ask

SEED = int(os.environ.get("TIDEMARK_KILL_SEED", "17"))
HOUR = 3_600


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path / "data")
    yield server
    server.stop()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "progress.json"


def command(server, file, *arguments):
    return [BINARY, "migrate", "change-times", "--host", server.host, "--project", "interop",
            "--progress", file, "--json", *arguments]


def migrate(server, file, *arguments, environment=None):
    """Returns the exit code, the report as JSON, and what was said beside it."""
    result = subprocess.run(
        [str(part) for part in command(server, file, *arguments)], capture_output=True, text=True,
        timeout=60, env=dict(os.environ, **(environment or {})))
    report = json.loads(result.stdout) if result.stdout else None
    return result.returncode, report, result.stderr


def billed(server):
    url = f"http://127.0.0.1:{server.control_port}/tidemark/v1/meter"
    with urllib.request.urlopen(url) as rows:
        found = {row["label"]: row for row in json.load(rows)}
    row = found.get("migrate", {"reads": 0, "writes": 0})
    return row["reads"], row["writes"]


def advance(server, seconds):
    """Sets the server's clock ahead of the machine's."""
    now = int((time.time() + seconds) * 1_000_000)
    assert ask(server, "/tidemark/v1/clock", json.dumps({"time": now}))[0] == 200


def fill(client, name, count, fields=lambda number: {"n": number}):
    for first in range(0, count, 400):
        batch = client.batch()
        for number in range(first, min(first + 400, count)):
            batch.set(client.document(f"{name}/d{number:06}"), fields(number))
        batch.commit()


def versions(client, name):
    return {d.id: (d.to_dict(), d.update_time) for d in client.collection(name).stream()}


def test_a_dry_run_counts_prices_and_writes_nothing(server, file):
    client = server.client()
    now = datetime.datetime.now(datetime.timezone.utc)
    fill(client, "posts", 2_500, lambda n: {"updatedAt": now} if n % 5 == 0 else {"n": n})
    client.document("posts/number").set({"updatedAt": 17})
    before = versions(client, "posts")
    code, report, said = migrate(server, file, "posts")
    assert code == 0
    [posts] = report["collections"]
    assert (posts["documents"], posts["missing"], posts["wrongType"]) == (2_501, 2_000, 1)
    assert (report["plannedReads"], report["plannedWrites"]) == (2_501, 2_000)
    assert report["plannedDollars"] == pytest.approx((2_501 * 0.06 + 2_000 * 0.18) / 100_000)
    assert "2501 reads and 2000 writes: $0.01" in said
    assert (report["reads"], report["writes"]) == billed(server) == (5, 0)
    assert versions(client, "posts") == before and not file.exists()


def test_it_fills_what_is_missing_and_nothing_else(server, file):
    client = server.client()
    now = datetime.datetime.now(datetime.timezone.utc)
    fill(client, "posts", 1_100, lambda n: {"updatedAt": now, "n": n} if n % 4 == 0 else {"n": n})
    client.document("posts/text").set({"updatedAt": "yesterday"})
    before = versions(client, "posts")
    code, report, _ = migrate(server, file, "posts", "--apply", "--rate", "5000")
    assert code == 2, "the text is no time"
    [posts] = report["collections"]
    assert posts["progress"]["filled"] == report["writes"] == 825
    assert posts["progress"]["wrongType"] == {
        "count": 1, "first": ["posts/text: string"]}
    assert posts["missingAfter"] == 0 and report["open"] == 1
    assert billed(server) == (report["reads"], report["writes"])
    for name, (fields, time_) in versions(client, "posts").items():
        old, old_time = before[name]
        assert fields == {"updatedAt": old_time, **old}, name
        assert (time_ == old_time) == ("updatedAt" in old)
    # A second run finds nothing to write.
    code, report, _ = migrate(server, file, "posts", "--apply")
    assert code == 2 and report["writes"] == 0
    client.document("posts/text").delete()
    assert migrate(server, file, "posts", "--apply")[0] == 0


def test_a_nested_field_and_a_group(server, file):
    client = server.client()
    for name in ("chats/a/messages", "chats/b/messages", "rooms/c/messages", "messages"):
        fill(client, name, 3)
    fill(client, "chats/a/notes", 2)
    code, report, _ = migrate(
        server, file, "--group", "messages", "--field", "meta.changedAt", "--apply")
    assert code == 0 and report["writes"] == 12
    [group] = report["collections"]
    assert group["collection"] == "**/messages"
    for document in client.collection_group("messages").stream():
        assert set(document.to_dict()["meta"]) == {"changedAt"}
    assert all("meta" not in d.to_dict() for d in client.collection("chats/a/notes").stream())


@pytest.mark.bound(180)
def test_kills_and_writers_beside_it_lose_nothing(server, file):
    """The migration is killed again and again, while another client writes the same documents."""
    count = 4_000
    client = server.client()
    fill(client, "posts", count)
    before = versions(client, "posts")
    dice = random.Random(SEED)
    written, done = {}, threading.Event()

    def write():
        other = server.client()
        own = random.Random(SEED + 1)
        while not done.is_set():
            name = f"d{own.randrange(count):06}"
            written[name] = own.randrange(1_000_000)
            other.document(f"posts/{name}").update({"text": written[name]})

    writer = threading.Thread(target=write)
    writer.start()
    kills = 0
    try:
        while kills < 12:
            process = subprocess.Popen(
                [str(part) for part in
                 command(server, file, "posts", "--apply", "--rate", "1500")],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(timeout=0.15 + dice.random() * 0.7)
                break
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.wait()
                kills += 1
    finally:
        done.set()
        writer.join()
    assert kills >= 3, "it ended before it could be killed"
    code, report, said = migrate(server, file, "posts", "--apply", "--rate", "10000")
    assert code == 0, said
    assert report["collections"][0]["missingAfter"] == 0
    after = versions(client, "posts")
    assert len(after) == count
    for name, (fields, _) in after.items():
        assert fields["n"] == before[name][0]["n"]
        if name in written:
            assert fields["text"] == written[name], "a write beside the migration is lost"
            assert fields["updatedAt"] >= before[name][1]
        else:
            assert fields["updatedAt"] == before[name][1], name
    assert billed(server)[1] == count, "each document is written once"


def test_a_check_names_who_forgets_the_field(server, file):
    client = server.client()
    fill(client, "posts", 600, lambda n: {"by": "app" if n % 2 else "import"})
    advance(server, HOUR)
    code, report, _ = migrate(server, file, "posts", "--apply", "--rate", "5000")
    assert code == 0 and report["writes"] == 600
    # What the migration has written is an hour older than its last write, and nobody's fault.
    code, report, _ = migrate(server, file, "posts", "--check", "--label", "by")
    assert code == 0 and report["collections"][0]["migrated"] == 600
    # Without the file, nobody knows that.
    code, report, _ = migrate(server, "/nonexistent/none.json", "posts", "--check")
    assert code == 2 and report["open"] == 600
    advance(server, 2 * HOUR)
    client.document("posts/d000001").update({"by": "functions", "text": "x"})
    client.document("posts/d000002").update({"by": "functions", "text": "y"})
    client.document("posts/d000003").update(
        {"text": "z", "updatedAt": client_time(server, client)})
    client.document("posts/new").set({"by": "console"})
    before = billed(server)
    code, report, said = migrate(server, file, "posts", "--check", "--label", "by")
    assert code == 2
    [posts] = report["collections"]
    found = {name: row for name, row in posts["labels"].items()
             if row["stale"]["count"] or row["missing"]["count"]}
    assert set(found) == {"functions", "console"}
    assert found["functions"]["stale"]["count"] == 2
    assert found["functions"]["stale"]["first"][0].startswith("posts/d000001: ")
    assert found["console"]["missing"] == {"count": 1, "first": ["posts/new: no change time"]}
    assert "601 reads" in said and "writes" not in said
    reads, writes = billed(server)
    assert (reads - before[0], writes - before[1]) == (report["reads"], 0)
    # Only what was written since a time is judged.
    code, report, _ = migrate(
        server, file, "posts", "--check", "--since", "2200-01-01T00:00:00Z")
    assert code == 2 and report["open"] == 1, "a missing field is found whatever the time"


def client_time(server, client):
    """Returns the server's time."""
    return client.document("times/now").set({}).update_time


def test_the_server_s_time_brings_documents_to_feeds_in_use(server, file):
    client = server.client()
    fill(client, "posts", 20)
    advance(server, HOUR)
    code, report, _ = migrate(server, file, "posts", "--apply", "--value", "server-time")
    assert code == 0 and report["writes"] == 20
    for fields, time_ in versions(client, "posts").values():
        assert abs((time_ - fields["updatedAt"]).total_seconds()) < 60
    assert migrate(server, "/nonexistent/none.json", "posts", "--check")[0] == 0


def test_a_connection_that_is_lost_comes_back(server, file, tmp_path):
    fill(server.client(), "posts", 3_000)
    process = subprocess.Popen(
        [str(part) for part in command(server, file, "posts", "--apply", "--rate", "1000")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.time() + 30
    while billed(server)[1] < 500 and time.time() < deadline:
        time.sleep(0.02)
    server.kill()
    again = Server(tmp_path / "data", port=server.port)
    try:
        out, said = process.communicate(timeout=60)
        assert process.returncode == 0, said
        report = json.loads(out)
        assert report["collections"][0]["progress"]["filled"] == 3_000
        assert all("updatedAt" in d.to_dict()
                   for d in again.client().collection("posts").stream())
    finally:
        again.stop()
        server.stop = lambda: None


@pytest.mark.parametrize("error, sentence", [
    ("PERMISSION_DENIED", "roles/datastore.user"), ("UNIMPLEMENTED", "same command continues"),
])
def test_a_refusal_is_a_sentence_and_loses_nothing(server, file, error, sentence):
    client = server.client()
    fill(client, "posts", 700)
    rules = json.dumps({"rules": [{"rpc": "BatchWrite", "error": error}]})
    status, answer = ask(server, "/tidemark/v1/faults", rules, "PUT")
    assert status == 200, answer
    code, report, said = migrate(server, file, "posts", "--apply")
    assert code == 1 and sentence in said
    assert "up to its first document" in said and "Traceback" not in said
    assert report["writes"] == 0 and billed(server)[1] == 0
    assert ask(server, "/tidemark/v1/faults", method="DELETE")[0] == 200
    assert migrate(server, file, "posts", "--apply", "--rate", "5000")[0] == 0
    assert all("updatedAt" in fields for fields, _ in versions(client, "posts").values())


def test_bad_input_is_a_sentence_before_anything_is_read(server, file):
    fill(server.client(), "posts", 3)
    for arguments in (["posts/a"], [], ["posts", "--group", "a/b"], ["posts", "--apply", "--check"],
                      ["posts", "--rate", "0"], ["posts", "--value", "now"],
                      ["posts", "--label", "by"], ["posts", "--field", "a..b"],
                      ["posts", "posts"], ["posts", "--check", "--since", "soon"],
                      ["posts", "--location", "moon"]):
        code, report, said = migrate(server, file, *arguments)
        assert code == 64 and said.startswith("Error: "), (arguments, said)
        assert report is None
    assert billed(server) == (0, 0)
    file.write_text('{"version": 1}')
    code, report, said = migrate(server, file, "posts", "--apply")
    assert code == 1 and "is not a progress file" in said
    assert file.read_text() == '{"version": 1}'
    assert billed(server) == (0, 0)


def test_a_collection_that_is_not_there_is_named(server, file):
    client = server.client()
    fill(client, "posts", 3)
    fill(client, "users", 1)
    code, report, said = migrate(server, file, "posts", "post", "--apply")
    assert code == 1
    assert "There is no document in post. These exist there: posts, users." in said
    assert billed(server)[1] == 0 and not file.exists()
    assert "updatedAt" not in client.document("posts/d000000").get().to_dict()


def test_the_database_and_its_server_are_named_first(server, file):
    client = server.client()
    fill(client, "posts", 1)
    _, _, said = migrate(server, file, "posts")
    assert said.splitlines()[0] == (
        f"This is the database (default) of the project interop on the local server {server.host}.")
    # Without JSON, the price of a dry run is in its report alone.
    result = server.run(
        "migrate", "change-times", "posts", "--project", "interop", "--progress", file)
    assert "takes 1 reads" in result.stdout and "takes" not in result.stderr


@pytest.mark.parametrize("text, part", [
    (None, "It cannot be read."), ("no JSON", "It is not the JSON of a key."),
    ('{"type": "authorized_user"}', "Its type is authorized_user, not service_account.")])
def test_a_key_that_cannot_be_used_is_named(tmp_path, text, part):
    key = tmp_path / "key.json"
    if text is not None:
        key.write_text(text)
    environment = dict(os.environ, GOOGLE_APPLICATION_CREDENTIALS=str(key))
    environment.pop("FIRESTORE_EMULATOR_HOST", None)
    result = subprocess.run(
        [BINARY, "migrate", "change-times", "posts"], env=environment, capture_output=True,
        text=True, timeout=60)
    assert result.returncode == 1 and "Usage" not in result.stderr
    assert f"{key} of GOOGLE_APPLICATION_CREDENTIALS cannot be used. {part}" in result.stderr


def test_a_location_without_prices(file):
    result = subprocess.run(
        [BINARY, "migrate", "change-times", "posts", "--location", "mars"], capture_output=True,
        text=True, timeout=60)
    assert result.returncode == 64
    assert "No prices are known of mars. They are known of eur3, nam5" in result.stderr
    assert "leave the option out" in result.stderr


def test_no_server_is_a_sentence(server, file):
    result = subprocess.run(
        [str(part) for part in [
            BINARY, "migrate", "change-times", "posts", "--host", "127.0.0.1:1", "--progress",
            file]], capture_output=True, text=True, timeout=60)
    assert result.returncode == 1 and "cannot be reached" in result.stderr


def test_a_progress_file_that_cannot_be_written_stops_it(server, tmp_path):
    fill(server.client(), "posts", 3)
    code, report, said = migrate(server, tmp_path / "no/such/folder.json", "posts", "--apply")
    assert code == 1 and "progress file" in said
    assert billed(server)[1] == 0, "nothing is written that could not be continued"
