"""Takes pictures of the console, for a new server with some data and traffic."""

import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests/Interop"))
os.environ["SE_OFFLINE"] = "true"

from conftest import Server  # noqa: E402
from test_show import Show  # noqa: E402
from google.cloud import firestore  # noqa: E402
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402

PICTURES = ROOT / "Documentation/Pictures"
BASE = "shop/%28default%29"
PAGES = {
    "data": f"/data/{BASE}", "collection": f"/data/{BASE}/rooms/blue/messages",
    "document": f"/data/{BASE}/rooms/blue/messages/m00007",
    "query": f"/query/{BASE}?q=rooms/blue/messages+where+owner+==+%22ann%22+order+by+n+desc+limit+20",
    "traffic": "/traffic", "cost": "/cost?users=1000", "indexes": "/indexes", "faults": "/faults",
    "history": f"/history/{BASE}", "versions": f"/history/{BASE}/rooms/blue",
    "accounts": "/accounts?project=shop", "rules": "/rules",
}
RULES = """rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    match /rooms/{room} {
      allow read: if request.auth.uid in resource.data.members;
      match /messages/{message} {
        function isMember() {
          return request.auth.uid in get(/databases/$(database)/documents/rooms/$(room)).data.members;
        }
        allow read: if isMember();
        allow create: if isMember() && request.resource.data.owner == request.auth.uid;
      }
    }
  }
}
"""


def fill(client):
    """Writes some messages, and reads them in a costly way, which the console shows."""
    names = ["ann", "bob", "cem", "dia"]
    for start in range(0, 1_200, 400):
        batch = client.batch()
        for number in range(start, start + 400):
            batch.set(client.document(f"rooms/blue/messages/m{number:05}"), {
                "n": number, "owner": names[number % 4], "text": f"Message number {number}",
                "sentAt": firestore.SERVER_TIMESTAMP, "stars": number % 6 / 2})
        batch.commit()
    for name in ("Blue", "Azure"):
        client.document("rooms/blue").set({"name": name, "members": names})
    for number in range(30):
        client.document(f"rooms/blue/messages/m{number:05}").get()
    messages = client.collection("rooms/blue/messages")
    messages.order_by("n", direction="DESCENDING").limit(50).get()
    watch = messages.on_snapshot(lambda *_: None)
    time.sleep(2)
    return watch


def fill_accounts(port):
    base = f"http://127.0.0.1:{port}/identitytoolkit.googleapis.com/v1/projects/shop/accounts"
    headers = {"content-type": "application/json", "authorization": "Bearer owner"}
    for name in ("ann", "bob", "cem"):
        email = f"{name}@example.org"
        for path, body in [("", {"email": email, "password": "secret-1"}),
                           (":sendOobCode", {"requestType": "PASSWORD_RESET", "email": email})]:
            request = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
            urllib.request.urlopen(request).close()


def show():
    """Takes pictures of the first story, when the network is back and one phone continues."""
    show = Show("stamps")
    show.until(lambda state: "ready" in state["stage"], 40)
    show.order(order="play")
    show.until(lambda state: state.get("story", {}).get("scene") == 5, 60)
    show.until(lambda state: "fresh" in state["phones"][1].get("screen", {}).get("state", {}))
    # The story stops, so every picture shows this moment.
    show.order(order="stop")
    for width in (1200, 768, 390):
        height = 1_500 if width < 1_000 else 1_050
        browser = open_browser(width, height)
        for scheme in ("light", "dark"):
            emulate(browser, scheme, width, height)
            browser.get(show.base)
            time.sleep(0.6)
            browser.save_screenshot(str(PICTURES / f"show-{width}-{scheme}.png"))
        browser.quit()
    show.stop()


def open_browser(width, height):
    options = Options()
    options.binary_location = shutil.which("chromium")
    for flag in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                 f"--window-size={width},{height}"]:
        options.add_argument(flag)
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def emulate(browser, scheme, width, height):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": scheme}]})
    # A window has a minimum width, which is larger than a phone's.
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})


def main():
    PICTURES.mkdir(exist_ok=True)
    folder = pathlib.Path(tempfile.mkdtemp())
    (folder / "firestore.rules").write_text(RULES)
    server = Server(folder / "data", 0, "--rules", folder / "firestore.rules")
    watch = fill(server.client("shop"))
    fill_accounts(server.accounts_port)
    for width in (420, 800, 1200):
        browser = open_browser(width, 900)
        for scheme in ("light", "dark"):
            emulate(browser, scheme, width, 900)
            for name, path in PAGES.items():
                browser.get(f"http://127.0.0.1:{server.control_port}{path}")
                time.sleep(0.3)
                browser.save_screenshot(str(PICTURES / f"{name}-{width}-{scheme}.png"))
        browser.quit()
    watch.unsubscribe()
    server.stop()
    show()
    print(f"{len(list(PICTURES.glob('*.png')))} pictures in {PICTURES.relative_to(ROOT)}")


main()
