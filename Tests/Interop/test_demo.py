"""The processes and files that remain after a demo."""

import json
import pathlib
import subprocess
import sys
import time
import urllib.request

import pytest

from conftest import LAB


def status(process):
    """Returns the state letter and the parent of a process; None if it does not exist."""
    try:
        text = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    state, parent = text.rsplit(")", 1)[1].split()[:2]
    return state, int(parent)


def is_gone(process):
    found = status(process)
    return found is None or found[0] == "Z"


def server_of(parent):
    """Returns the server of a demo after clients have called it; None before."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        found = status(folder.name)
        if found is None or found[1] != parent:
            continue
        try:
            arguments = (folder / "cmdline").read_text().split("\0")
            ports = json.loads(pathlib.Path(arguments[arguments.index("--ports-file") + 1]).read_text())
            url = f"http://127.0.0.1:{ports['control']}/tidemark/v1/meter"
            with urllib.request.urlopen(url, timeout=60) as answer:
                if json.load(answer):
                    return folder.name
        except (OSError, ValueError):
            continue
    return None


def test_a_demo_that_is_killed_leaves_no_server(tmp_path):
    demo = subprocess.Popen(
        [LAB, "demo", "chats", "--limit", "500", "--opens", "24", "--small"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=tmp_path)
    try:
        end = time.monotonic() + 60
        while not (server := server_of(demo.pid)):
            assert demo.poll() is None and time.monotonic() < end, "it has no server"
            time.sleep(0.01)
    finally:
        demo.kill()
        demo.wait()
    end = time.monotonic() + 30
    while not is_gone(server):
        assert time.monotonic() < end, "its server goes on"
        time.sleep(0.05)


@pytest.mark.bound(300)
def test_a_demo_on_a_busy_machine_ends_well(tmp_path):
    """Two busy loops run beside the demo. Its times may be long, but its results must be
    correct."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    rows = ["open a chat", "back after a week", "send", "launch", "a thumbnail"]
    figures = tmp_path / "figures.json"
    try:
        demo = subprocess.run(
            [LAB, "demo", "all", "--small", "--limit", "500", "--opens", "12", "--network", "healthy",
             *(word for row in rows for word in ("--scenario", row)),
             "--json", figures, "--output", tmp_path / "tables.txt"],
            capture_output=True, text=True, cwd=tmp_path, timeout=280)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    assert demo.returncode == 0, f"{demo.stdout}\n{demo.stderr}"
    assert "DOES NOT HOLD" not in demo.stdout
    assert demo.stdout.startswith("500 generated events: three clients open the feed 12 times")
    # In a pipe, the demo reports its progress from the start.
    assert demo.stderr.startswith("open 1 of 12")
    played = json.loads(figures.read_text())
    assert played["history"] == {"source": "500 generated events", "events": 500}
    wrong = [(row["name"], row["why"]) for row in played["scenarios"] if not row["holds"]]
    assert not wrong
    names = " ".join(row["name"] for row in played["scenarios"])
    assert all(row in names for row in rows), names
    chats = [row for row in played["scenarios"] if row["name"].startswith("open a chat")]
    # The app with a filter is compared with the other two. Each row contains the time of absence.
    assert sorted(row["awaySeconds"] for row in chats) == [1200, 86400]
    assert all(row["filtered"]["reads"] <= row["before"]["reads"] for row in chats)
    again, day = sorted((row["before"] for row in chats), key=lambda before: before["reads"])
    # Within 30 minutes, the old app receives only the changes. After a day, the server sends all
    # documents again.
    assert again["reads"] <= 2 and day["reads"] == 100
    assert day["bytes"] > 5 * again["bytes"]
    week = next(row for row in played["scenarios"] if row["name"].startswith("back after a week"))
    assert week["filtered"]["missed"] + week["filtered"]["editsMissed"] > 0
    assert week["filtered"]["reads"] < week["before"]["reads"]
    assert week["after"]["reads"] < week["before"]["reads"]


def play_rows(tmp_path, journey, rows, *options):
    """Plays rows of a journey on a healthy network. Returns the exit code, the rows, and the text."""
    figures = tmp_path / "figures.json"
    figures.unlink(missing_ok=True)
    demo = subprocess.run(
        [LAB, "demo", journey, "--small", "--network", "healthy", *options,
         *(word for row in rows for word in ("--scenario", row)), "--json", figures],
        capture_output=True, text=True, cwd=tmp_path, timeout=200)
    text = f"{demo.stdout}\n{demo.stderr}"
    played = json.loads(figures.read_text())["scenarios"] if figures.exists() else []
    return demo.returncode, played, text


def is_as_predicted(row, edition):
    """True if the bill of a row is its prediction, or lies between its bounds."""
    after, predicted = row["after"], row["after"]["predicted"]
    most = predicted.get("atMost", predicted)
    if edition == "standard":
        return predicted["reads"] <= after["reads"] <= most["reads"]
    units = after.get("units", {"read": 0, "realtimeUpdate": 0})
    return all(predicted["units"][unit] <= units[unit] <= most["units"][unit]
               for unit in ("read", "realtimeUpdate"))


@pytest.mark.bound(240)
@pytest.mark.parametrize("edition", ["standard", "enterprise"])
def test_each_row_of_messages_is_predicted(tmp_path, edition):
    code, played, text = play_rows(tmp_path, "messages", [], "--limit", "500", "--edition", edition)
    assert code == 0, text
    assert len(played) == 9
    for row in played:
        assert is_as_predicted(row, edition), row["name"]
    paged = next(row for row in played if "while it changes" in row["name"])["after"]
    # Two pages of 50 and the end, a new message after each page, two changes of shown messages, and
    # eight changed messages in the refresh at the end.
    assert paged["predicted"]["requests"].count("older page: 50") == 1
    assert paged["predicted"]["requests"][-1] == "changes of all pages: 8"
    assert paged["predicted"]["reads"] == 50 + 50 + 1 + 4 + 2 + 8
    again = next(row for row in played if "times over" in row["name"])["after"]
    assert again["predicted"]["reads"] == 50 + 50 + 1 + 4


@pytest.mark.bound(240)
def test_a_wrong_prediction_fails_the_demo(tmp_path):
    rows = ["relative times", "whose composite index"]
    code, played, text = play_rows(tmp_path, "messages", rows, "--limit", "500")
    assert code == 0 and all(row["holds"] for row in played), text
    code, played, text = play_rows(tmp_path, "messages", rows, "--limit", "500", "--plants-read")
    assert code != 0 and len(played) == 2, text
    for row in played:
        assert not row["holds"] and "planted: 1" in row["why"][0], row
    assert "predicted 51 reads, but billed 50 reads" in text


@pytest.mark.bound(120)
def test_the_prediction_equals_the_bill_in_the_enterprise_edition(tmp_path):
    rows = ["open a chat", "notifications", "clear a chat", "back after", "a new chat", "badges"]
    figures = tmp_path / "figures.json"
    demo = subprocess.run(
        [LAB, "demo", "chats", "--small", "--limit", "500", "--opens", "1", "--network", "healthy",
         "--edition", "enterprise", *(word for row in rows for word in ("--scenario", row)),
         "--json", figures],
        capture_output=True, text=True, cwd=tmp_path, timeout=110)
    assert demo.returncode == 0, f"{demo.stdout}\n{demo.stderr}"
    played = json.loads(figures.read_text())["scenarios"]
    assert len(played) == 9 and all(row["edition"] == "enterprise" for row in played)
    for row in played:
        assert row["after"]["predicted"]["units"] == row["after"]["units"], row["name"]
    week = next(row for row in played if row["name"].startswith("back after a week"))["after"]
    # The mark, the count of 100 changes of 32 bytes, 100 documents, and their index entries.
    assert week["predicted"]["requests"] == [
        "marks: 1", "count of changes: 100", "items: 100", "resumed listener: 0"]
    assert week["units"]["read"] == 1 + 1 + 100 + 3


def play_launches(tmp_path, command, *options):
    """Plays launches or sign-ups. Returns the exit code, the rows, and the text."""
    figures = tmp_path / "figures.json"
    figures.unlink(missing_ok=True)
    demo = subprocess.run(
        [LAB, "demo", command, *options, "--json", figures], capture_output=True, text=True,
        cwd=tmp_path, timeout=280)
    played = json.loads(figures.read_text())["scenarios"] if figures.exists() else []
    return demo.returncode, played, f"{demo.stdout}\n{demo.stderr}"


def judge_predictions(code, text):
    """Fails if a prediction is wrong. The demo's other facts are judged where all of it is played."""
    assert code == 0 or "but billed" not in text, text


LAUNCHES = ["--documents", "300", "--launches", "1", "--network", "healthy", "--network", "refused"]


@pytest.mark.bound(300)
@pytest.mark.parametrize("edition", ["standard", "enterprise"])
def test_each_launch_is_predicted(tmp_path, edition):
    code, played, text = play_launches(tmp_path, "launch", *LAUNCHES, "--edition", edition)
    judge_predictions(code, text)
    bills = {row["network"]: row for row in played if row["name"] == "bill of a launch"}
    diagnosed = next(row for row in played if row["name"].endswith("without a diagnosis"))["after"]
    assert diagnosed["launches"] == 2 and diagnosed["reads"] == 2 * 3
    assert diagnosed["predicted"]["requests"] == ["resumed listener: 0", "users above: 2999"]
    healthy, refused = bills["healthy"]["after"], bills["refused"]["after"]
    # Five launches with three new stamps each, and a count of 2,999 users.
    assert healthy["launches"] == 5
    assert healthy["predicted"]["requests"] == [
        "resumed listener: 3", "users above: 2999"]
    if edition == "standard":
        assert healthy["predicted"]["reads"] == 3 + 3 and healthy["reads"] == 5 * 6
    else:
        # A count reads 2,999 entries of 32 bytes.
        assert healthy["predicted"]["units"] == {"read": 24, "realtimeUpdate": 3, "write": 0}
    assert refused["reads"] == 0 and refused["predicted"]["reads"] == 0
    update = next(row for row in played if "update" in row["name"] and row["network"] == "healthy")
    assert is_as_predicted(update, edition)
    assert update["after"]["reads"] == 3 + 2 + 1


@pytest.mark.bound(300)
def test_a_wrong_prediction_of_a_launch_fails(tmp_path):
    code, played, text = play_launches(tmp_path, "launch", *LAUNCHES, "--plants-read")
    assert code != 0, text
    predicted = [row for row in played if "predicted" in row["after"]]
    assert len(predicted) == 5 and not any(row["holds"] for row in predicted), text
    assert "predicted 7 reads, but billed 6 reads" in text


@pytest.mark.bound(300)
@pytest.mark.parametrize("edition", ["standard", "enterprise"])
def test_each_sign_up_is_predicted(tmp_path, edition):
    options = ["--network", "healthy", "--network", "refused", "--edition", edition]
    code, played, text = play_launches(tmp_path, "signup", *options)
    judge_predictions(code, text)
    bills = {row["network"]: row["after"] for row in played}
    # The profile is looked for, compared, listened to and made; six neighbours, and no change.
    whole = bills["refused"]["lastBills"]
    assert whole["launches"] == 14 and len(whole["predicted"]["requests"]) == 6
    if edition == "standard":
        assert whole["predicted"]["reads"] == 4 + 6 + 1 and whole["reads"] == 14 * 11
        assert bills["healthy"]["lastBills"]["reads"] <= 14 * 2
    assert bills["refused"]["killedBills"]["reads"] == 0


@pytest.mark.bound(300)
def test_a_day_is_predicted_in_units(tmp_path):
    code, played, text = play_launches(
        tmp_path, "day", "--small", "--edition", "enterprise", "--plants-read")
    assert code != 0, text
    # The planted read is the only difference.
    assert "predicted 25 read units, 4 update units, but billed 24 read units, 4 update units" in text
    assert played[0]["after"]["reads"] == 25


@pytest.mark.bound(120)
@pytest.mark.parametrize("edition", ["standard", "enterprise"])
def test_a_phone_with_healthkit_is_predicted(tmp_path, edition):
    code, played, text = play_rows(tmp_path, "health", ["HealthKit"], "--edition", edition)
    judge_predictions(code, text)
    assert len(played) == 2
    for row in played:
        # Killed or not, the phone looks for the days of other devices in four windows.
        assert row["after"]["predicted"]["reads"] == 4 and is_as_predicted(row, edition), row
