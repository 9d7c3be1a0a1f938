"""The console with servers that restart, refuse requests, have accounts, and require a token."""

import base64
import json
import urllib.error
import urllib.parse
import urllib.request

import pytest
from google.api_core.exceptions import FailedPrecondition
from google.cloud import firestore
from google.cloud.firestore_v1.base_query import And, FieldFilter, Or  # noqa: F401: of the code
from google.cloud.firestore_v1.base_vector_query import DistanceMeasure
from google.cloud.firestore_v1.vector import Vector
from selenium.webdriver.common.by import By

from conftest import Server
from console_page import Page, browser, errors, needs_browser, page  # noqa: F401

pytestmark = needs_browser


@pytest.fixture
def own(tmp_path):
    servers = []

    def start(*flags, **options):
        servers.append(Server(tmp_path, 0, *flags, **options))
        return servers[-1]

    yield start
    for server in servers:
        if server.process.poll() is None:
            server.stop()


def test_the_server_is_restarted_while_the_console_is_open(browser, own):
    server = own()
    client = server.client("shop")
    client.document("rooms/a").set({"n": 1})
    page = Page(browser, server)
    page.open("/data/shop/(default)/rooms")
    page.wait_for("link", "a")
    port = server.control_port
    server.stop()
    page.until(lambda: "connection is lost" in browser.find_element(By.ID, "status").text)
    server = own("--control-port", port)
    server.client("shop").document("rooms/second").set({"n": 2})
    page.until(lambda: page.find("link", "second"), 20)
    assert browser.find_element(By.ID, "status").text == ""


def test_a_refused_request_is_explained(browser, own, tmp_path):
    indexes = tmp_path / "indexes.json"
    indexes.write_text('{"indexes": [], "fieldOverrides": []}')
    server = own("--indexes", indexes)
    client = server.client("shop")
    client.document("rooms/a").set({"n": 1, "m": 2})
    with pytest.raises(FailedPrecondition):
        client.collection("rooms").where(filter=FieldFilter("n", "==", 1)).order_by("m").get()
    page = Page(browser, server)
    page.open("/traffic?show=failed")
    page.wait_for("link", "RunQuery").click()
    assert "requires an index" in page.text
    page.wait_for("link", "Show its query").click()
    assert "where n == 1 order by m" in page.wait_for("searchbox", "Query").get_attribute("value")
    page.open("/indexes")
    assert "(n ASC, m ASC, __name__ ASC)" in page.text


def test_a_token_opens_the_pages_and_a_wrong_one_does_not(browser, own):
    server = own(environment={"TIDEMARK_TOKEN": "open-sesame"})
    page = Page(browser, server)
    page.open("/data")
    page.until(lambda: browser.current_url.endswith("/login"))
    browser.find_element(By.ID, "server-token").send_keys("nothing")
    page.press("Continue")
    assert "The token is wrong" in page.wait_for("alert", "").text
    browser.find_element(By.ID, "server-token").send_keys("open-sesame")
    page.press("Continue")
    page.until(lambda: browser.current_url.endswith("/data"))
    cookie = browser.get_cookie("tidemark-session")
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict"
    assert "open-sesame" not in cookie["value"]
    for value, status in [(cookie["value"], 200), ("0" * 64, 401), ("", 401)]:
        request = urllib.request.Request(
            page.base + "/traffic.json", headers={"Cookie": f"tidemark-session={value}"})
        try:
            assert urllib.request.urlopen(request).status == status
        except urllib.error.HTTPError as error:
            assert error.code == status
    browser.delete_all_cookies()


def test_accounts_are_made_changed_and_read(page, browser, server):
    project = "console-accounts"
    page.open(f"/accounts?project={project}")
    page.type("textbox", "E-mail", "ann@example.org")
    browser.find_element(By.ID, "account-password").send_keys("secret-1")
    page.press("Create account")
    page.until(lambda: "ann@example.org" in browser.find_element(By.TAG_NAME, "tbody").text)
    base = f"http://127.0.0.1:{server.accounts_port}/identitytoolkit.googleapis.com/v1"

    def call(path, body, admin=False):
        headers = {"content-type": "application/json"}
        if admin:
            headers["authorization"] = "Bearer owner"
        request = urllib.request.Request(
            f"{base}/{path}", json.dumps(body).encode(), headers)
        return json.load(urllib.request.urlopen(request))

    call(f"projects/{project}/accounts:sendOobCode",
         {"requestType": "PASSWORD_RESET", "email": "ann@example.org"}, admin=True)
    page.open(f"/accounts?project={project}")
    assert "password reset" in page.text and "oobCode=" in page.text
    call(f"projects/{project}/accounts:sendVerificationCode", {"phoneNumber": "+15550100"}, admin=True)
    codes = json.load(urllib.request.urlopen(
        f"http://127.0.0.1:{server.accounts_port}/emulator/v1/projects/{project}/verificationCodes"))
    page.open(f"/accounts?project={project}")
    assert "+15550100" in page.text and codes["verificationCodes"][0]["code"] in page.text
    browser.find_element(By.CSS_SELECTOR, "tbody th a").click()
    page.type("textbox", "Claims, as JSON", '{"role": "keeper"}')
    page.press("Save account")
    found = page.until(lambda: [u for u in call(
        f"projects/{project}/accounts:lookup", {"email": ["ann@example.org"]}, admin=True)["users"]
        if u.get("customAttributes")])
    assert json.loads(found[0]["customAttributes"]) == {"role": "keeper"}
    page.until(lambda: page.find("button", "Disable")).click()
    page.until(lambda: page.find("button", "Enable"))
    claims = base64.urlsafe_b64encode(json.dumps(
        {"aud": project, "sub": "x", "role": "keeper"}).encode()).decode().rstrip("=")
    page.open(f"/accounts?project={project}")
    page.type("textbox", "Token", f"eyJhbGciOiJub25lIn0.{claims}.")
    page.press("Decode")
    page.until(lambda: '"role": "keeper"' in page.text)
    assert "This server refuses this token" in page.text


def test_an_expensive_screen_leads_to_its_query_and_its_price(browser, own_server):
    page = Page(browser, own_server)
    client = own_server.client("console-price")
    for start in (0, 500):
        batch = client.batch()
        for number in range(start, start + 500):
            batch.set(client.document(f"rooms/d{number}"), {"n": number, "owner": "ab"[number % 2]})
        batch.commit()
    seen = []
    watch = client.collection("rooms").on_snapshot(lambda docs, *_: seen.append(len(docs)))
    try:
        page.until(lambda: seen and seen[-1] == 1_000)
        page.open("/traffic?filter=rooms&show=listens&reads=1000")
        page.wait_for("link", "Show").click()
        assert "The client is up to date." in page.text
        page.wait_for("link", "Show its query").click()
        assert "no limit and no filter" in page.wait_for("note", "").text
        assert "Reads for the full result\n1\u202f000" in page.text
    finally:
        watch.unsubscribe()
    page.type("searchbox", "Query", "count, average of n of rooms where owner == \"a\"")
    page.press("Run")
    page.until(lambda: "499" in page.text and "500" in page.text)
    page.open("/cost?by=target&users=1000")
    chart = page.until(lambda: page.find("img", "Reads over") or page.find("image", "Reads over"))
    assert "rooms" in chart.accessible_name


@pytest.mark.parametrize("text", [
    "items where n >= 3 and n < 8 order by n desc limit 4",
    "items where (n == 1 or n == 9) and owner == \"b\"",
    "items where owner in [\"a\", \"x\"] order by n start after [4] limit 3",
    "items nearest at to [7, 1] by euclidean limit 3"])
def test_the_code_in_python_asks_the_same(server, text):
    db = server.client("console-code")
    batch = db.batch()
    for number in range(12):
        batch.set(db.document(f"items/i{number:02}"), {
            "n": number, "owner": "ab"[number % 2], "at": Vector([number * 1.1, 1])})
    batch.commit()
    query = urllib.parse.quote(text)
    base = f"http://127.0.0.1:{server.control_port}/query.json/console-code/(default)?q={query}"
    answer = json.load(urllib.request.urlopen(base))["result"]
    code = next(c["text"] for c in answer["code"] if c["language"] == "Python")
    names = {"db": db, "firestore": firestore, "FieldFilter": FieldFilter, "Or": Or, "And": And,
             "Vector": Vector, "DistanceMeasure": DistanceMeasure}
    exec(code, names)
    found = ["items/" + snapshot.id for snapshot in names["query"].stream()]
    if "nearest" in text:
        assert found == ["items/i06", "items/i07", "items/i05"]
    assert found and found == [row["path"] for row in answer["table"]["rows"]]
