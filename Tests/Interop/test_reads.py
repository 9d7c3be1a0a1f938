"""`tidemark reads`: a suite of Google's Python client is recorded, checked, broken and checked again."""

import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from conftest import BINARY, LAB, ROOT

HERE = ROOT / "Tests/Interop"
SUITE = HERE / "reads"
ARTICLE = ROOT / "Sources/TidemarkTesting/TidemarkTesting.docc/AGateForYourReads.md"
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
pytestmark = pytest.mark.bound(120)


@pytest.fixture
def suite(tmp_path):
    """A copy of the suite that a test may break."""
    folder = tmp_path / "suite"
    shutil.copytree(SUITE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def reads(folder, *arguments, command=PYTEST, environment=None):
    environment = {
        **{name: value for name, value in os.environ.items() if name != "GITHUB_STEP_SUMMARY"},
        "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})}
    return subprocess.run(
        [BINARY, "reads", *map(str, arguments), "--project", "interop", "--", *command],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=110)


def record(folder, *arguments):
    done = reads(folder, "record", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((folder / "reads.json").read_text())["lines"]


def line(lines, call, label):
    found = [each for each in lines if each["call"] == call and each["label"].endswith(label)]
    assert len(found) == 1, lines
    return found[0]


def test_a_suite_reads_the_same_in_two_runs(suite):
    lines = record(suite)
    first = (suite / "reads.json").read_text()
    assert line(lines, "RunQuery", "::test_newest") == {
        "label": "test_feed.py::test_newest", "call": "RunQuery", "target": "rooms/*/messages",
        "query": "order by at desc", "limit": 3, "calls": 1, "reads": 3}
    batch = line(lines, "BatchGetDocuments", "::test_authors")
    assert (batch["target"], batch["calls"], batch["reads"]) == ("users", 1, 2)
    count = line(lines, "RunAggregationQuery", "::test_unread")
    assert (count["query"], count["reads"]) == ("count where isRead == ?", 1)
    screen = line(lines, "Listen", "::test_screen")
    assert (screen["calls"], screen["reads"]) == (1, 2)
    again = line(lines, "Listen", "::test_sync_again")
    assert (again["calls"], again["resumed"], again["reads"]) == (2, 1, 7)
    assert all(each["label"].startswith("test_feed.py::") for each in lines), lines
    checked = reads(suite, "check")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "No line grew" in checked.stdout
    record(suite)
    assert (suite / "reads.json").read_text() == first, "the bytes are the same"


BROKEN = {
    "a lost limit": (
        "query.limit(3).stream()", "query.stream()", "RunQuery", "::test_newest",
        "The query had a limit of 3, and now has none."),
    "a read for each document": (
        "db.get_all(documents)", "(each.get() for each in documents)", "BatchGetDocuments",
        "::test_authors", "6 calls read documents one after the other, before 1."),
    "a listener at each appearance": (
        "if not self.watches:", "if True:", "Listen", "::test_screen",
        "The listener starts 3 times, before 1."),
    "a dropped resume token": (
        ", resume_token=token", "", "Listen", "::test_sync_again",
        "The listener resumed once before, and now never."),
}


@pytest.mark.parametrize("defect", BROKEN)
def test_a_planted_defect_is_found_and_named(suite, defect):
    good, bad, call, label, advice = BROKEN[defect]
    code = (suite / "feed.py").read_text()
    assert code.count(good) == 1
    record(suite)
    (suite / "feed.py").write_text(code.replace(good, bad))
    checked = reads(suite, "check", "--json", "report.json", "--summary", "report.md")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    report = json.loads((suite / "report.json").read_text())
    assert report["verdict"] == "grew"
    found = report["grown"][0]
    assert found["call"] == call and found["label"].endswith(label), report
    assert found["advice"][0].startswith(advice), found
    assert advice in checked.stdout and found["target"] in checked.stdout
    assert f"**+{found['change']}**" in (suite / "report.md").read_text()


def test_what_shrank_is_reported_and_passes(suite):
    record(suite)
    code = (suite / "feed.py").read_text()
    (suite / "feed.py").write_text(code.replace("query.limit(3)", "query.limit(2)"))
    (suite / "test_feed.py").write_text(
        (suite / "test_feed.py").read_text().replace("[39, 38, 37]", "[39, 38]"))
    summary = suite / "steps.md"
    summary.write_text("# before\n")
    checked = reads(suite, "check", environment={"GITHUB_STEP_SUMMARY": str(summary)})
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "1 line shrank, none grew" in checked.stdout and "3 → 2 reads" in checked.stdout
    assert "'tidemark reads record'" in checked.stdout
    assert summary.read_text().startswith("# before\n### Reads: 1 line shrank")


def test_a_line_that_varies_gets_a_range_with_its_reason(suite):
    flaky = "import pathlib\n" + (suite / "test_feed.py").read_text() + """

def test_varies(db):
    runs = pathlib.Path("runs")
    count = len(runs.read_text()) if runs.exists() else 0
    runs.write_text("x" * (count + 1))
    for _ in range(1 + count % 2):
        db.document("users/user0").get()
"""
    (suite / "test_feed.py").write_text(flaky)
    lines = record(suite, "--runs", "2")
    varying = line(lines, "BatchGetDocuments", "::test_varies")
    assert varying["reads"] == {"least": 1, "most": 2}
    assert varying["reason"] == "Varied: 1, 2 reads in 2 runs."
    assert len([each for each in lines if "reason" in each]) == 1
    for _ in range(2):
        assert reads(suite, "check").returncode == 0


def shell(text):
    return ["/bin/sh", "-c", text]


def test_labels_come_from_headers_clients_and_the_control_port(suite):
    """A shell script is a suite too: it labels its parts itself."""
    address = "http://$FIRESTORE_EMULATOR_HOST/v1/projects/$GCLOUD_PROJECT/databases/(default)"
    read = f"curl -sf \"{address}/documents/users/none\" || true"
    label = "http://$TIDEMARK_CONTROL_HOST/tidemark/v1/label"
    script = f"""
        set -e
        {read.replace("-sf", "-sf -A tester/1.0")}
        {read.replace("-sf", "-sf -H 'X-Tidemark-Label: by header'")}
        curl -sf -X PUT -H 'content-type: application/json' -d '{{"label": "nightly"}}' {label}
        {read}
        {read.replace("-sf", "-sf -H 'X-Tidemark-Label: by header'")}
        curl -sf -X DELETE {label}
        {read.replace("-sf", "-sf -H 'X-Goog-Api-Client: gl-js/ fire/12.1.0'")}
    """
    done = reads(suite, "record", command=shell(script))
    assert done.returncode == 0, done.stderr
    lines = json.loads((suite / "reads.json").read_text())["lines"]
    assert {each["label"]: each["reads"] for each in lines} == {
        "by header": 2, "client js": 1, "client tester": 1, "nightly": 1}


READS_ONCE = shell(
    "curl -s \"http://$FIRESTORE_EMULATOR_HOST/v1/projects/p/databases/(default)/documents/a/b\"")


def test_a_new_collection_is_growth(suite):
    assert reads(suite, "record", command=READS_ONCE).returncode == 0
    other = shell(READS_ONCE[2].replace("/a/b", "/c/d") + "; " + READS_ONCE[2])
    checked = reads(suite, "check", command=other)
    assert checked.returncode == 1 and "new: 1 read, 1 call" in checked.stdout


@pytest.mark.parametrize("command, code, sentence", [
    (shell("exit 3"), 3, "The command failed with code 3. Its reads were not compared."),
    (shell("kill -9 $$"), 137, "The command was ended by signal 9."),
    (["no-such-command-here"], 127, "There is no command 'no-such-command-here'."),
    (["/etc/passwd"], 126, "cannot be started: Permission denied."),
    (shell("true"), 2, "The command read nothing."),
])
@pytest.mark.parametrize("action", ["record", "check"])
def test_a_command_without_reads_gets_a_sentence(suite, action, command, code, sentence):
    assert reads(suite, "record", command=READS_ONCE).returncode == 0
    before = (suite / "reads.json").read_bytes()
    done = reads(suite, action, command=command)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert (suite / "reads.json").read_bytes() == before


@pytest.mark.parametrize("content, sentence", [
    (None, "There is no file reads.json."),
    ("<<<<<<< HEAD", "reads.json is not valid JSON."),
    ('{"format": 9, "lines": []}', "reads.json has format 9"),
    ('{"format": 1, "lines": [{"label": "a"}]}', 'reads.json, line 1 of "lines" has no "call"'),
])
def test_a_bad_file_is_refused_before_the_suite_runs(suite, content, sentence):
    if content is not None:
        (suite / "reads.json").write_text(content)
    done = reads(suite, "check", command=shell("touch ran"))
    assert done.returncode == 2 and sentence in done.stderr, done.stderr
    assert not (suite / "ran").exists()
    if content is not None:
        assert reads(suite, "record", command=shell("touch ran")).returncode == 2
        assert not (suite / "ran").exists() and (suite / "reads.json").read_text() == content


def test_a_command_is_required(suite):
    done = subprocess.run(
        [BINARY, "reads", "check"], cwd=suite, capture_output=True, text=True, timeout=60)
    assert done.returncode == 64 and "tidemark reads check -- pytest" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_reaches_the_command(suite, number):
    script = "trap 'echo caught; exit 7' TERM INT; touch started; while :; do sleep 0.1; done"
    process = subprocess.Popen(
        [BINARY, "reads", "record", "--", *shell(script)], cwd=suite, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (suite / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 7 and "caught" in out, error


def test_the_article_shows_the_fixture():
    fixture = (SUITE / "conftest.py").read_text()
    assert f"```python\n{fixture}```" in ARTICLE.read_text()


@pytest.mark.bound(240)
def test_the_benchmark_runs_both_sides(tmp_path):
    """`make bench-reads` judges the ratio on a machine without other work; this is one round."""
    figures = tmp_path / "figures.json"
    done = subprocess.run(
        [ROOT / "Scripts/bench-reads", "--rounds", "1", "--tidemark", BINARY, "--json", figures],
        capture_output=True, text=True, timeout=230)
    assert figures.exists(), done.stdout + done.stderr
    alone, check, ratio = json.loads(figures.read_text())
    assert ratio["bar"] == 1.1 and ratio["holds"] == (ratio["figure"] <= 1.1)
    assert ratio["figure"] == pytest.approx(check["figure"] / alone["figure"], abs=0.01)
    assert done.returncode == (0 if ratio["holds"] else 1)


@pytest.mark.parametrize("app, listener", [
    ("messages", "messages where conversationId == ? order by timestamp desc"),
    ("chats", "chats/*/messages order by sentAt"),
])
def test_an_example_app_reads_the_same_twice_and_its_old_form_more(suite, app, listener):
    """The old apps listen to a whole conversation."""
    def phone(action, side):
        return reads(
            suite, action, command=[sys.executable, "phone.py", app, side],
            environment={"TIDEMARK_LAB": str(LAB)})
    recorded = phone("record", "after")
    assert recorded.returncode == 0, recorded.stderr
    again = phone("check", "after")
    assert again.returncode == 0, again.stdout + again.stderr
    old = phone("check", "before")
    assert old.returncode == 1, old.stdout + old.stderr
    assert f"phone  Listen {listener}" in old.stdout


def test_a_suite_of_the_enterprise_edition_needs_no_index(suite):
    query = shell(
        "curl -sf \"http://$FIRESTORE_EMULATOR_HOST/v1/projects/p/databases/(default)/documents:runQuery\""
        " -d '{\"structuredQuery\": {\"from\": [{\"collectionId\": \"c\"}], \"orderBy\": ["
        "{\"field\": {\"fieldPath\": \"a\"}}, {\"field\": {\"fieldPath\": \"b\"}}]}}'")
    indexes = suite / "indexes.json"
    indexes.write_text('{"indexes": [], "fieldOverrides": []}')
    strict = ["--indexes", indexes, "--index-policy", "strict"]
    assert reads(suite, "record", *strict, command=query).returncode != 0
    done = reads(suite, "record", *strict, "--edition", "enterprise", command=query)
    assert done.returncode == 0, done.stderr
    assert "has no index and reads 0 documents for 1 read units" in done.stderr


UNITS = '{"indexes": [{"collectionGroup": "messages", "fields": [{"fieldPath": "at", "order": "DESCENDING"}]}]}'
NOTES = """
import os
from google.auth.credentials import AnonymousCredentials
from google.cloud import firestore
db = firestore.Client(project="interop", credentials=AnonymousCredentials())
size = int(os.environ.get("SIZE", "100"))
for n in range(4):
    db.collection("messages").document(f"m{n}").set({"at": n, "text": "a" * size})
assert len(list(db.collection("messages").order_by("at", direction="DESCENDING").limit(3).stream())) == 3
"""


def test_a_suite_of_the_enterprise_edition_is_compared_in_units(suite):
    indexes = suite / "indexes.json"
    indexes.write_text(UNITS)
    script = suite / "notes.py"
    script.write_text(NOTES)
    command = [sys.executable, str(script)]

    def play(word, *arguments, size=100):
        return reads(
            suite, word, "--indexes", indexes, *arguments, command=command,
            environment={"SIZE": str(size)})
    recorded = play("record", "--edition", "enterprise")
    assert recorded.returncode == 0, recorded.stderr
    assert "read units" in recorded.stderr and "for the Enterprise edition" in recorded.stderr
    kept = json.loads((suite / "reads.json").read_text())
    assert (kept["format"], kept["edition"]) == (2, "enterprise")
    # Three documents by their names, and one unit for their index entries.
    query = next(each for each in kept["lines"] if each["call"] == "RunQuery")
    assert (query["reads"], query["readUnits"]) == (3, 4)
    same = play("check", "--edition", "enterprise")
    assert same.returncode == 0 and "No line grew" in same.stdout, same.stdout + same.stderr
    # The same documents, past 4 KiB.
    grown = play("check", "--edition", "enterprise", size=5_000)
    assert grown.returncode == 1, grown.stdout + grown.stderr
    assert "+3 read units" in grown.stdout and "grown past 4 KiB" in grown.stdout
    # The query scans its collection, because no index serves it.
    indexes.write_text('{"indexes": []}')
    scan = play("check", "--edition", "enterprise", size=3_000)
    assert "has no index and reads 4 documents" in scan.stderr
    indexes.write_text(UNITS)
    other = play("check")
    assert other.returncode not in (0, 1)
    assert (
        "reads.json was recorded on a database of the Enterprise edition, and the suite's database is of the "
        "Standard edition") in other.stderr


def test_a_fleet_says_which_screen_costs_most_for_whom_since_when(server):
    """The documents are those that `readMeter.shareDays` stores; SharedDaysTests reads them back."""
    db = server.client("fleet")
    today = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=12)
    for number in range(8):
        inbox = 90 if number < 4 else 640
        db.collection("readDays").add({
            "format": 1, "day": (today - datetime.timedelta(days=8 - number)).strftime("%Y-%m-%d"),
            "version": "3.1" if number < 4 else "3.2", "group": "free" if number < 4 else "paying",
            "cached": 10, "dollars": inbox * 0.06 / 100_000,
            "rows": [{"screen": "inbox", "label": "chat", "cause": "listen", "reads": inbox}]})
    db.collection("readDays").add({"format": 99, "day": "2099-01-01"})

    def fleet(*arguments):
        return server.run("reads", "fleet", "--project", "fleet", *arguments)
    done = fleet()
    assert done.returncode == 0, done.stderr
    assert "inbox: 2920 reads, 100 %" in done.stdout, done.stdout
    assert "most for paying: 640" in done.stdout
    assert "since version 3.2: 640, before 90 with 3.1" in done.stdout
    assert "1 documents of readDays are no days" in done.stderr
    report = json.loads(fleet("--json", "--days", "30").stdout)
    assert report["deviceDays"] == 8 and report["screens"][0]["sinceVersion"] == "3.2"
    assert fleet("--most", "0").returncode == 64
