"""A second factor from an app for one-time passwords, by the requests of Firebase's clients. The
app is this file's own: Python's HMAC, after RFC 6238."""

import base64
import concurrent.futures
import hashlib
import hmac
import json
import struct
import time

import pytest
import requests

from accounts.conftest import TOKEN, Client, message
from conftest import Server

STEP = 30


class App:
    """An app that was given a secret."""

    def __init__(self, secret):
        self.secret = base64.b32decode(secret)

    def code(self, later=0):
        counter = struct.pack(">Q", int(time.time()) // STEP + later)
        mac = hmac.new(self.secret, counter, hashlib.sha1).digest()
        start = mac[-1] & 15
        number = struct.unpack(">I", mac[start:start + 4])[0] & 0x7FFFFFFF
        return f"{number % 1_000_000:06d}"


class Person(Client):
    """A person with an account and a verified address."""

    def __init__(self, server, admin="owner"):
        super().__init__(server)
        self.email, session = self.sign_up()
        self.uid, self.token = session["localId"], session["idToken"]
        self.admin = {"authorization": f"Bearer {admin}"}
        answer = self.post(
            f"/identitytoolkit.googleapis.com/v1/projects/{self.project}/accounts:update",
            {"localId": self.uid, "emailVerified": True}, headers=self.admin)
        assert answer.status_code == 200, answer.text

    def second(self, action, **fields):
        """Calls version 2, whose paths name no project."""
        return self.post(f"/identitytoolkit.googleapis.com/v2/accounts/{action}?key=any", fields)

    def enrol(self):
        answer = self.second("mfaEnrollment:start", idToken=self.token, totpEnrollmentInfo={})
        assert answer.status_code == 200, answer.text
        info = answer.json()["totpSessionInfo"]
        assert (info["verificationCodeLength"], info["periodSec"]) == (6, STEP)
        assert info["hashingAlgorithm"] == "SHA1" and info["finalizeEnrollmentTime"][-1] == "Z"
        self.app = App(info["sharedSecretKey"])
        self.used = self.app.code()
        answer = self.second(
            "mfaEnrollment:finalize", idToken=self.token, displayName="my phone",
            totpVerificationInfo={
                "sessionInfo": info["sessionInfo"], "verificationCode": self.used})
        assert answer.status_code == 200, answer.text
        assert answer.json()["totpAuthInfo"] == {} and answer.json()["refreshToken"]
        self.token = answer.json()["idToken"]

    def begin(self):
        answer = self.call("signInWithPassword", email=self.email, password="secret-1")
        assert "idToken" not in answer and "refreshToken" not in answer
        return answer["mfaPendingCredential"], answer["mfaInfo"][0]

    def finish(self, pending, factor, code):
        return self.second(
            "mfaSignIn:finalize", mfaPendingCredential=pending,
            mfaEnrollmentId=factor["mfaEnrollmentId"],
            totpVerificationInfo={"verificationCode": code})


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    server = Server(tmp_path_factory.mktemp("totp"), 0, "--accounts-project", "accounts")
    yield server
    server.stop()


@pytest.fixture(params=["plain", "secure"])
def person(request):
    server = request.getfixturevalue(request.param)
    return Person(server, "owner" if request.param == "plain" else TOKEN)


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_a_person_enrols_and_signs_in(person):
    person.enrol()
    pending, factor = person.begin()
    assert factor["displayName"] == "my phone" and factor["totpInfo"] == {}
    answer = person.finish(pending, factor, person.app.code(1))
    assert answer.status_code == 200, answer.text
    said = claims(answer.json()["idToken"])["firebase"]
    assert said["sign_in_second_factor"] == "totp"
    assert said["second_factor_identifier"] == factor["mfaEnrollmentId"]
    refreshed = person.refresh(answer.json()["refreshToken"]).json()
    assert claims(refreshed["id_token"])["firebase"] == said
    user = person.call("lookup", idToken=refreshed["id_token"])["users"][0]
    assert user["mfaInfo"] == [factor]
    gone = person.second("mfaEnrollment:withdraw", idToken=refreshed["id_token"],
                         mfaEnrollmentId=factor["mfaEnrollmentId"])
    assert gone.status_code == 200, gone.text
    assert "idToken" in person.call(
        "signInWithPassword", email=person.email, password="secret-1")


def test_a_code_counts_once_also_for_callers_at_once(person):
    person.enrol()
    starts = [person.begin() for _ in range(6)]
    code = person.app.code(1)
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda start: person.finish(*start, code), starts))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * 5
    assert {message(a) for a in answers if a.status_code == 400} == {"INVALID_CODE"}


def test_guesses_end(secure):
    person = Person(secure, TOKEN)
    person.enrol()
    words = []
    for _ in range(3):
        pending, factor = person.begin()
        words += [message(person.finish(pending, factor, "x12345")) for _ in range(6)]
    assert words[:5] == ["INVALID_CODE"] * 5
    assert words[5] == "INVALID_MFA_PENDING_CREDENTIAL", "five wrong codes end a sign-in"
    assert words[-1] == "TOO_MANY_ATTEMPTS_TRY_LATER", "and ten, all sign-ins for a while"


def test_a_test_is_told_the_code(plain):
    person = Person(plain)
    person.enrol()
    codes = requests.get(
        f"{person.base}/emulator/v1/projects/accounts/verificationCodes").json()["totpCodes"]
    mine = next(code for code in codes if code["localId"] == person.uid)
    pending, factor = person.begin()
    assert mine["mfaEnrollmentId"] == factor["mfaEnrollmentId"]
    assert person.finish(pending, factor, mine["code"]).status_code == 200


def test_a_factor_survives_a_kill(tmp_path):
    server = Server(tmp_path, 0, "--accounts-project", "accounts")
    person = Person(server)
    person.enrol()
    pending, factor = person.begin()
    server.kill()
    server = Server(tmp_path, 0, "--accounts-project", "accounts")
    try:
        person.base = f"http://127.0.0.1:{server.accounts_port}"
        assert message(person.finish(pending, factor, person.used)) == "INVALID_CODE"
        assert person.finish(pending, factor, person.app.code(1)).status_code == 200
    finally:
        server.stop()


def test_the_settings_of_a_project(plain):
    path = "/identitytoolkit.googleapis.com/v2/projects/other/config"
    person = Person(plain)
    body = {"mfa": {"providerConfigs": [
        {"state": "DISABLED", "totpProviderConfig": {"adjacentIntervals": 1}}]}}
    answer = person.session.patch(person.base + path, json=body, headers=person.admin)
    assert answer.status_code == 200 and answer.json()["mfa"] == body["mfa"], answer.text
    assert person.session.get(person.base + path, headers=person.admin).json() == answer.json()
