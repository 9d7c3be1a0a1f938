"""The show in a real browser, by roles and names, as a screen reader presents it."""

import json
import os
import random
import select
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from conftest import JUDGES_TIMES, LAB
from selenium.webdriver.common.by import By
from console_page import browser, errors, forget_errors, needs_browser, until  # noqa: F401

pytestmark = needs_browser

IS_LONG = os.environ.get("TIDEMARK_SHOW_STORIES") == "all"
# The maximum seconds from the command until the page answers, for a release build.
START = 2


class Show:
    """The process of a show, and its page."""

    def __init__(self, *arguments):
        begin = time.monotonic()
        self.process = subprocess.Popen(
            [LAB, "show", *map(str, arguments), "--port", "0", "--quiet"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        readable, _, _ = select.select([self.process.stdout], [], [], 60)
        line = self.process.stdout.readline() if readable else ""
        assert line.startswith("ready "), f"the show said {line!r}"
        self.base = line.split()[1]
        self.startSeconds = time.monotonic() - begin

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    @property
    def state(self):
        with urllib.request.urlopen(self.base + "/state.json", timeout=30) as answer:
            return json.load(answer)

    def phone(self, side):
        return next(p for p in self.state["phones"] if p["side"] == side)

    def order(self, **form):
        request = urllib.request.Request(
            self.base + "/do", json.dumps(form).encode(), {"content-type": "application/json"})
        urllib.request.urlopen(request, timeout=60)

    def until(self, check, seconds=30):
        deadline = time.monotonic() + seconds
        while not check(self.state):
            # pytest shortens long messages, so the message starts with the important part.
            if time.monotonic() >= deadline:
                state = self.state
                phones = [(phone["side"], phone["life"], (phone.get("screen") or {}).get("state"),
                           phone.get("comparison")) for phone in state["phones"]]
                pytest.fail(f"{state['stage']} {state.get('message')} {state.get('story')} {phones}")
            time.sleep(0.1)

    @staticmethod
    def rows(phone):
        screen = phone.get("screen")
        return [r["id"] for s in screen["sections"] for r in s["rows"] if r["isDocument"]] \
            if screen else []

    @staticmethod
    def titled(phone, title):
        """Returns the number of rows with a title that are not waiting to be sent."""
        return sum(r["title"] == title and not r["isPending"]
                   for s in phone["screen"]["sections"] for r in s["rows"])

    @staticmethod
    def photo(screen, title):
        """Returns the row with a title and a visible photograph, if there is one."""
        rows = [r for s in (screen or {}).get("sections", []) for r in s["rows"]]
        return next((r for r in rows if r["title"] == title and r.get("photo")), None)

    @staticmethod
    def steps(phone):
        """Returns the steps of the days that the health screen lists."""
        return {r["id"]: int(r["trailing"]) for s in phone["screen"]["sections"]
                for r in s["rows"] if r["isDocument"]}


@pytest.fixture
def show(request):
    show = Show(*getattr(request, "param", ["stamps"]))
    yield show
    show.stop()
    assert show.process.returncode == 0, "the show did not end cleanly"


def named(browser, role, name):
    """Returns an element with that role whose accessible name contains the text."""
    selector = {"button": "button", "heading": "h1, h2, h3"}[role]
    found = [e for e in browser.find_elements(By.CSS_SELECTOR, selector)
             if name in e.accessible_name]
    return found[0] if found and found[0].aria_role == role else None


def press(browser, name):
    """Presses a button when it becomes enabled."""
    def pressed():
        button = named(browser, "button", name)
        if button is None or not button.is_enabled():
            return False
        button.click()
        return True
    until(pressed)


def is_ready(state):
    return "ready" in state["stage"]


@pytest.mark.bound(110)
def test_a_killed_phone_is_dead_and_opens_again_at_a_tap(browser, show):  # noqa: F811
    forget_errors(browser)
    browser.get(show.base)
    assert show.startSeconds < START or not JUDGES_TIMES, "the page is there at once"
    until(lambda: named(browser, "heading", "Stamps"))
    show.until(is_ready, 40)
    show.until(lambda s: all(Show.rows(p) for p in s["phones"]))
    press(browser, "kill -9: On Tidemark")
    show.until(lambda s: "dead" in s["phones"][1]["life"])
    until(lambda: "Killed" in browser.find_element(By.ID, "phone-after").text)
    press(browser, "Airplane mode")
    show.until(lambda s: s["isAirplane"])
    press(browser, "Open the app: On Tidemark")
    show.until(lambda s: len(Show.rows(s["phones"][1])) == 50)
    assert "stale" in show.phone("after")["screen"]["state"]
    # Other clients write during that time. The phone receives the writes when the network is back,
    # without a tap.
    show.order(order="others", number=2)
    show.until(lambda s: s["written"] == 2)
    press(browser, "Airplane mode")
    show.until(lambda s: {"n0", "n1"} <= set(Show.rows(s["phones"][1])))
    press(browser, "Compare now")
    show.until(lambda s: "comparison" in s["phones"][1])
    assert show.phone("after")["comparison"] == {"count": 50, "missing": 0, "extra": 0}
    assert errors(browser) == []


@pytest.mark.bound(90)
def test_a_killed_phone_opens_again_in_the_same_moment(show):
    """The system frees the file locks of a killed process a moment later. The next process starts
    after that."""
    show.until(is_ready, 40)
    show.until(lambda s: all(Show.rows(p) for p in s["phones"]))
    for _ in range(30):
        show.order(order="kill", side="after")
        show.order(order="launch", side="after")
        time.sleep(0.15)
        assert "crashed" not in str(show.phone("after")["life"])
    show.until(lambda s: len(Show.rows(s["phones"][1])) == 50)
    assert "running" in show.phone("after")["life"]


@pytest.mark.parametrize("show", [["update"]], indirect=True)
@pytest.mark.bound(150)
def test_the_update_shows_the_old_stamps_and_reads_the_new_ones(browser, show):  # noqa: F811
    forget_errors(browser)
    browser.get(show.base)
    until(lambda: named(browser, "heading", "the day you switch"))
    show.until(is_ready, 60)
    press(browser, "Play the story")
    show.until(lambda s: s["isAirplane"] and len(Show.rows(s["phones"][1])) == 50, 60)
    before, after = show.state["phones"]
    assert not Show.rows(before) and after["reads"] == 0, "nothing was asked of a server"
    show.until(lambda s: (s.get("story") or {}).get("isOver")
               and all("comparison" in p for p in s["phones"]), 80)
    before, after = show.state["phones"]
    assert after["comparison"] == {"count": 50, "missing": 0, "extra": 0}
    assert after["reads"] < 30 and before["reads"] >= 250
    assert errors(browser) == []


@pytest.mark.parametrize("show", [["chats"]], indirect=True)
@pytest.mark.bound(150)
def test_a_photo_waits_is_killed_and_arrives(browser, show):  # noqa: F811
    """Both apps show the photo at once. The old one holds it in memory, and loses it."""
    def is_shown(phone):
        row = Show.photo(phone.get("screen"), "Photo")
        return row is not None and row["isPending"]

    forget_errors(browser)
    browser.get(show.base)
    until(lambda: named(browser, "heading", "Chats"))
    show.until(is_ready, 60)
    show.until(lambda s: all("grace" in Show.rows(p) for p in s["phones"]))
    for side in ("before", "after"):
        show.order(order="tap", side=side, id="grace")
    show.until(lambda s: all(len(Show.rows(p)) >= 50 for p in s["phones"]))
    press(browser, "Airplane mode")
    show.until(lambda s: s["isAirplane"])
    for title in ("As it was", "On Tidemark"):
        press(browser, "Send a photo: " + title)
    show.until(lambda s: all(is_shown(p) for p in s["phones"]))
    picture = until(lambda: browser.find_element(By.CSS_SELECTOR, "#phone-after .bubble img"))
    assert picture.aria_role == "image" and picture.accessible_name == "Photo"
    assert browser.execute_script("return arguments[0].naturalWidth", picture) == 96
    for title in ("As it was", "On Tidemark"):
        press(browser, "kill -9: " + title)
    show.until(lambda s: all("dead" in p["life"] for p in s["phones"]))
    for title in ("As it was", "On Tidemark"):
        press(browser, "Open the app: " + title)
    show.until(lambda s: all("grace" in Show.rows(p) for p in s["phones"]))
    for side in ("before", "after"):
        show.order(order="tap", side=side, id="grace")
    show.until(lambda s: all(len(Show.rows(p)) >= 50 for p in s["phones"]) and is_shown(s["phones"][1]))
    before, after = show.state["phones"]
    assert Show.photo(before["screen"], "Photo") is None
    assert [p["other"]["photos"] for p in (before, after)] == [0, 0]
    press(browser, "Airplane mode")
    show.until(lambda s: s["phones"][1]["other"]["photos"] == 1, 60)
    show.until(lambda s: Show.titled(s["phones"][1], "Photo") == 1)
    before, after = show.state["phones"]
    assert before["other"]["photos"] == 0 and Show.photo(after["other"]["screen"], "Photo")
    assert [p["chosenPhotos"] for p in (before, after)] == [1, 1]
    arrived = until(lambda: browser.find_element(
        By.CSS_SELECTOR, "[aria-label='Grace’s phone: On Tidemark'] img"))
    assert browser.execute_script("return arguments[0].naturalWidth", arrived) == 96
    assert not browser.find_elements(By.CSS_SELECTOR, "[aria-label='Grace’s phone: As it was'] img")
    assert errors(browser) == []


STORIES = [(app, "Play the story") for app in ("stamps", "homes", "chats")]
if IS_LONG:
    STORIES = [(app, button) for app in ("stamps", "chats", "health", "messages", "homes", "update")
               for button in ("Play the story", "3G", "3 of 10 calls fail")]


@pytest.mark.bound(290)
@pytest.mark.parametrize("show,button", [([app], button) for app, button in STORIES],
                         indirect=["show"], ids=[f"{app}: {button}" for app, button in STORIES])
def test_a_story_plays_to_its_table(browser, show, button):  # noqa: F811
    """Each story contains a kill -9. `make long` plays all stories on three networks."""
    browser.get(show.base)
    press(browser, button)
    show.until(lambda s: "story" in s, 120)
    begin = time.monotonic()
    show.until(lambda s: s.get("story", {}).get("isOver"), 240)
    seconds = time.monotonic() - begin
    # A phone that was just opened may still be loading.
    show.until(lambda s: all("comparison" in p for p in s["phones"])
               and s["phones"][1]["comparison"]["missing"] == 0)
    state = show.state
    before, after = state["phones"]
    print(f"story: {state['app']['name']}, {button}: {seconds:.0f} s, documents billed"
          f" {before['reads']} and {after['reads']}, missing"
          f" {before.get('comparison', {}).get('missing')}"
          f" and {after['comparison']['missing']} of {after['comparison']['count']}")
    assert seconds < 90 or not JUDGES_TIMES
    assert after["comparison"]["missing"] == after["comparison"]["extra"] == 0
    assert after["comparison"]["count"] > 0
    if state["app"]["name"] == "stamps" and button == "Play the story":
        # Both apps were killed while a photo was being sent. One of them had it in memory alone.
        assert [Show.titled(phone, "Penny Black") for phone in (before, after)] == [0, 1]
    if state["app"]["name"] == "chats":
        # Both apps were killed before a photo was sent.
        assert [phone["chosenPhotos"] for phone in (before, after)] == [1, 1]
        show.until(lambda s: s["phones"][1]["other"]["photos"] == 1)
        assert before["other"]["photos"] == 0
        until(lambda: [row.find_elements(By.TAG_NAME, "td")[-1].text for row in
                       browser.find_elements(By.CSS_SELECTOR, "#story tbody tr")] == ["1 of 1", "0 of 1"])
    if state["app"]["name"] == "health":
        # The old app sends and reads nothing. It counts the steps twice that both watch and phone
        # counted.
        old, new = Show.steps(before), Show.steps(after)
        assert old.keys() == new.keys() and any(old[day] > new[day] for day in new)
        assert all(old[day] >= new[day] for day in new)
    else:
        assert after["reads"] < before["reads"] or before.get("comparison", {}).get("missing")
    table = until(lambda: browser.find_element(By.CSS_SELECTOR, "#story table").text)
    assert "On Tidemark" in table and "As it was" in table


def test_orders_are_checked(show):
    def refused(status, path="/do", data=b"{}", **headers):
        request = urllib.request.Request(show.base + path, data, headers)
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(request, timeout=60)
        assert error.value.code == status

    json_type = {"Content-Type": "application/json"}
    refused(400, **json_type)
    refused(400, data=json.dumps({"order": "rate", "number": 1e9}).encode(), **json_type)
    # The request is one that a page of another origin can send without a preflight request.
    refused(415, data=b'{"order": "play"}', **{"Content-Type": "text/plain"})
    refused(403, data=b'{"order": "play"}', Origin="https://evil.example", **json_type)
    refused(403, data=b'{"order": "play"}', Host="evil.example", **json_type)
    assert "story" not in show.state


def test_a_show_is_kept_and_played_back(browser, tmp_path):  # noqa: F811
    file = tmp_path / "show.jsonl"
    show = Show("homes", "--record", file)
    show.until(is_ready, 40)
    show.until(lambda s: s["phones"][1].get("screen"))
    show.order(order="kill", side="after")
    show.stop()
    kept = Show("--playback", file)
    try:
        browser.get(kept.base)
        until(lambda: "This is a recording" in browser.find_element(By.ID, "story").text)
        until(lambda: "Killed" in browser.find_element(By.ID, "phone-after").text, 40)
    finally:
        kept.stop()


@pytest.mark.bound(int(os.environ.get("TIDEMARK_SHOW_SECONDS", 15)) + 90)
def test_whatever_happens_nothing_wrong_is_shown(show):
    """Kills, networks, airplane mode and taps at random. At the end, all faults are removed and the
    phones are compared."""
    seed = int(os.environ.get("TIDEMARK_SHOW_SEED", time.time()))
    seconds = int(os.environ.get("TIDEMARK_SHOW_SECONDS", 15))
    print(f"TIDEMARK_SHOW_SEED={seed}")
    chance = random.Random(seed)
    show.until(is_ready, 40)
    end = time.monotonic() + seconds
    networks = ["healthy", "3g", "backend-18s", "refuse", "blackhole", "flaky-30", "captive"]
    known = set()
    while time.monotonic() < end:
        roll = chance.random()
        if roll < 0.25:
            show.order(order="kill", side="after")
            show.until(lambda s: "dead" in s["phones"][1]["life"])
            show.order(order="launch", side="after")
        elif roll < 0.5:
            show.order(order="network", id=chance.choice(networks))
        elif roll < 0.65:
            show.order(order="airplane")
        elif roll < 0.8:
            show.order(order="others", number=chance.randint(1, 3))
        else:
            show.order(order="tap", side="after", id="refresh")
        time.sleep(chance.random())
        phone = show.phone("after")
        rows = show.rows(phone)
        assert len(rows) == len(set(rows)), f"seed {seed}: {rows} shows a document twice"
        # A network never removes documents of the device from the screen.
        known |= set(rows)
        if phone.get("screen") and known and "stale" in phone["screen"]["state"]:
            assert rows, f"seed {seed}: nothing is shown"
    if show.state["isAirplane"]:
        show.order(order="airplane")
    show.order(order="network", id="healthy")
    if "running" not in show.phone("after")["life"]:
        show.order(order="launch", side="after")
    deadline = time.monotonic() + 60
    while True:
        show.order(order="compare")
        time.sleep(0.5)
        found = show.phone("after").get("comparison")
        if found == {"count": 50, "missing": 0, "extra": 0}:
            return
        assert time.monotonic() < deadline, f"seed {seed}: {found}"
