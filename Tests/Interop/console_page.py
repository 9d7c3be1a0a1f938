"""Helpers for the console's tests: a browser, and a page as a screen reader presents it."""

import os
import random
import shutil
import time

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By

CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
# Scripts/interop fails if the browser and its driver cannot be installed, unless this variable
# permits it.
needs_browser = pytest.mark.skipif(
    os.environ.get("TIDEMARK_WITHOUT_BROWSER") == "1", reason="TIDEMARK_WITHOUT_BROWSER=1")


@pytest.fixture(scope="session")
def browser():
    os.environ["SE_OFFLINE"] = "true"
    options = Options()
    options.binary_location = CHROMIUM
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1200,900"]:
        options.add_argument(flag)
    driver = webdriver.Chrome(service=Service(DRIVER), options=options)
    # Chromium may never answer a question for the role of an element that the page replaces
    # meanwhile. The driver asks again after this time.
    driver.command_executor.client_config.timeout = 40
    yield driver
    driver.quit()


def slow_down(browser, seed):
    """Makes the answers late and the processor slow, as a seed says, until the next call. The tests that
    act before their page does are found so."""
    dice = random.Random(seed)
    latency, rate = dice.choice([0, 20, 60, 150, 400]), dice.choice([1, 2, 4])
    print(f"answers are {latency} ms late, the processor is {rate} times slower")
    browser.execute_cdp_cmd("Network.enable", {})
    browser.execute_cdp_cmd("Network.emulateNetworkConditions", {
        "offline": False, "latency": latency, "downloadThroughput": -1, "uploadThroughput": -1})
    browser.execute_cdp_cmd("Emulation.setCPUThrottlingRate", {"rate": rate})


# The elements that can have a role. A query for the role of every element would be slow.
TAGS = {"button": "button", "link": "a", "textbox": "input, textarea", "searchbox": "input",
        "spinbutton": "input", "slider": "input", "combobox": "select, input", "table": "table",
        "note": "[role=note]", "alert": "[role=alert]", "dialog": "dialog", "region": "[role=region], section",
        "option": "[role=option]", "heading": "h1, h2, h3", "gridcell": "td", "image": "svg",
        "img": "svg"}


# Returns the elements of a selector whose name can contain a text, whatever it comes from. Only they
# are asked for their role and name: each such question can meet an element that the page replaces.
NAMED = """
const [selector, name] = arguments;
const plain = (text) => (text || "").replace(/\\s+/g, "");
const byIDs = (e, key) => (e.getAttribute(key) || "").split(/\\s+/)
  .map((id) => id && document.getElementById(id)).filter(Boolean).map((e) => e.textContent);
const parts = (e) => [
  e.textContent, e.value, ...["aria-label", "title", "placeholder", "alt"].map((k) => e.getAttribute(k)),
  ...[...(e.labels || [])].map((label) => label.textContent), ...byIDs(e, "aria-labelledby"),
];
return [...document.querySelectorAll(selector)]
  .filter((e) => parts(e).map(plain).join(" ").includes(plain(name)));
"""


def until(check, seconds=20):
    """Returns the first true result of a check. Parts of a page are replaced at any time, so a
    check that fails is repeated. The last check starts after the deadline: a check that the browser
    delayed proves nothing about the page after it."""
    deadline = time.monotonic() + seconds
    while True:
        is_last = time.monotonic() > deadline
        try:
            found = check()
            if found:
                return found
        except Exception:
            if is_last:
                raise
        assert not is_last, "it did not happen in time"
        time.sleep(0.05)


def leave(browser):
    """Shows an empty page, which has no script. The script of another page can still navigate when an
    answer arrives, which ends the next visit, or log an error when its server stops."""
    def is_empty():
        browser.get("about:blank")
        return browser.current_url == "about:blank"
    until(is_empty)


class Page:
    """The elements and actions of a page for a user."""

    def __init__(self, browser, server):
        self.browser = browser
        self.base = f"http://127.0.0.1:{server.control_port}"

    def open(self, path):
        leave(self.browser)
        self.browser.get(self.base + path)

    def find(self, role, name):
        """Returns the first element with that role whose accessible name contains the text; None if
        there is none."""
        tags = TAGS.get(role, "body *")
        return next((e for e in self.browser.execute_script(NAMED, tags, name)
                     if e.is_displayed() and e.aria_role == role and name in e.accessible_name), None)

    def named(self, role, name):
        found = self.find(role, name)
        assert found, f"no {role} is named {name!r}"
        return found

    def wait_for(self, role, name):
        return self.until(lambda: self.find(role, name))

    def press(self, name):
        self.wait_for("button", name).click()

    def type(self, role, name, text):
        field = self.wait_for(role, name)
        field.clear()
        field.send_keys(text)
        return field

    def until(self, check, seconds=60):
        return until(check, seconds)

    @property
    def text(self):
        return self.browser.find_element(By.TAG_NAME, "main").text


@pytest.fixture
def page(browser, server):
    return Page(browser, server)


def forget_errors(browser):
    """Leaves the page, and reads away the errors of all pages before."""
    leave(browser)
    errors(browser)


def errors(browser):
    """Returns the errors of the page's script and of the content security policy."""
    return [e["message"] for e in browser.get_log("browser") if e["level"] == "SEVERE"]


# Returns the texts whose contrast with their background is below 4.5.
CONTRAST = """
function parts(color) { return color.match(/[\\d.]+/g).map(Number); }
function light([r, g, b]) {
  const [x, y, z] = [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function ground(e) {
  for (; e; e = e.parentElement) {
    const color = parts(getComputedStyle(e).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
}
const bad = [];
for (const e of document.querySelectorAll("body *")) {
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
  if (!e.offsetParent) continue;
  const [a, b] = [light(parts(getComputedStyle(e).color)), light(ground(e))];
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) bad.push(e.tagName + " " + ratio.toFixed(2) + " " + e.textContent.slice(0, 30));
}
return bad;
"""
