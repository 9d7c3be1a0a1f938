"""Signed tokens: forged tokens, stolen tokens and guessed passwords are refused."""

import base64
import hashlib
import hmac
import json
import os
import pathlib
import random
import subprocess
import time
import uuid

import jwt
import pytest
from google.api_core.exceptions import Unauthenticated

from accounts.conftest import TOKEN, Client, message
from conftest import BINARY, Server

ADMIN = {"Authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def part(fields):
    return encode(json.dumps(fields).encode())


def decode(text):
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def keys(rest):
    return rest.session.get(rest.base + "/.well-known/jwks.json").json()["keys"]


def administer(rest, action, **fields):
    return rest.post(
        f"/identitytoolkit.googleapis.com/v1/projects/{rest.project}/accounts:{action}", fields,
        headers=ADMIN)


def test_a_token_is_verified_by_the_published_key(secure_rest):
    email, session = secure_rest.sign_up()
    key, = keys(secure_rest)
    assert "d" not in key
    claims = jwt.decode(
        session["idToken"], jwt.PyJWK(key).key, algorithms=["ES256"], audience="accounts",
        issuer="https://securetoken.google.com/accounts")
    assert claims["sub"] == session["localId"]
    assert jwt.get_unverified_header(session["idToken"]) == {
        "alg": "ES256", "typ": "JWT", "kid": key["kid"]}


def forgeries(rest, token):
    """Tokens with the same claims, unsigned or signed with another key."""
    header, claims, signature = token.split(".")
    key, = keys(rest)
    other = jwt.encode(decode(claims), jwt.algorithms.ECAlgorithm.from_jwk(json.dumps({
        "kty": "EC", "crv": "P-256",
        "d": "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"})), algorithm="ES256",
        headers={"kid": key["kid"]})
    yield "another key", other
    yield "no algorithm", f'{part({"alg": "none", "typ": "JWT"})}.{claims}.'
    yield "no algorithm, with a key", f'{part({"alg": "none", "kid": key["kid"]})}.{claims}.'
    yield "no signature", f"{header}.{claims}."
    yield "a signature of zeros", f"{header}.{claims}.{encode(bytes(64))}"
    yield "a short signature", f"{header}.{claims}.{signature[:-4]}"
    point = base64.urlsafe_b64decode(key["x"] + "==") + base64.urlsafe_b64decode(key["y"] + "==")
    for name, secret in (("raw", point), ("json", json.dumps(key).encode())):
        for algorithm, digest in (("HS256", hashlib.sha256), ("HS384", hashlib.sha384)):
            head = part({"alg": algorithm, "typ": "JWT", "kid": key["kid"]})
            code = hmac.new(secret, f"{head}.{claims}".encode(), digest).digest()
            yield f"{algorithm} with the public key as {name}", f"{head}.{claims}.{encode(code)}"
    changed = dict(decode(claims), sub="somebody-else", user_id="somebody-else")
    yield "other claims", f"{header}.{part(changed)}.{signature}"
    yield "another header", f'{part({"alg": "ES384", "kid": key["kid"]})}.{claims}.{signature}'
    yield "four parts", token + ".x"
    yield "spaces", token + " "


def test_forged_tokens_are_refused_everywhere(secure, secure_rest):
    _, session = secure_rest.sign_up()
    for name, forged in forgeries(secure_rest, session["idToken"]):
        for action in ("lookup", "update", "delete", "signUp"):
            fields = {"email": "x@example.com", "password": "secret-1"} if action == "signUp" else {}
            assert secure_rest.refusal(action, idToken=forged, **fields) == "INVALID_ID_TOKEN", name
        with pytest.raises(Unauthenticated):
            list(firestore_of(secure, forged).collection("c").limit(1).stream())
    assert secure_rest.call("lookup", idToken=session["idToken"])["users"]


def firestore_of(server, token, project="accounts"):
    """Returns a Firestore client like an app's library: with the token in the metadata of every
    call."""
    client = server.client(project=project)
    client._rpc_metadata_internal = [
        ("google-cloud-resource-prefix", client._database_string),
        ("authorization", f"Bearer {token}")]
    return client


def test_firestore_knows_its_callers(secure, secure_rest):
    _, session = secure_rest.sign_up()
    document = firestore_of(secure, session["idToken"]).document("c/d")
    document.set({"a": 1})
    assert document.get().to_dict() == {"a": 1}
    assert firestore_of(secure, TOKEN).document("c/d").get().exists
    for token in ("", "owner", "nonsense", "a.b.c", session["refreshToken"]):
        with pytest.raises(Unauthenticated):
            firestore_of(secure, token).document("c/d").get()
    with pytest.raises(Unauthenticated):
        firestore_of(secure, session["idToken"], "elsewhere").document("c/d").get()


def test_a_revoked_token_is_refused_by_firestore_at_once(secure, secure_rest):
    _, session = secure_rest.sign_up()
    client = firestore_of(secure, session["idToken"])
    client.document("c/d").get()
    issued = decode(session["idToken"].split(".")[1])["iat"]
    while int(time.time()) == issued:
        pass
    administer(secure_rest, "update", localId=session["localId"], validSince=int(time.time()))
    with pytest.raises(Unauthenticated):
        client.document("c/d").get()
    assert message(secure_rest.refresh(session["refreshToken"])) == "TOKEN_EXPIRED"
    assert secure_rest.refusal("lookup", idToken=session["idToken"]) == "TOKEN_EXPIRED"


def test_a_disabled_and_a_deleted_account_s_tokens_are_refused_by_firestore(secure, secure_rest):
    for end in (lambda uid: administer(secure_rest, "update", localId=uid, disableUser=True),
                lambda uid: administer(secure_rest, "delete", localId=uid)):
        _, session = secure_rest.sign_up()
        client = firestore_of(secure, session["idToken"])
        client.document("c/d").get()
        assert end(session["localId"]).status_code == 200
        with pytest.raises(Unauthenticated):
            client.document("c/d").get()


def test_a_refresh_token_is_good_once(secure_rest):
    _, session = secure_rest.sign_up()
    first = session["refreshToken"]
    second = secure_rest.refresh(first).json()["refresh_token"]
    assert second != first
    # The answer may have been lost, so a request with the previous token is not a theft.
    third = secure_rest.refresh(first).json()["refresh_token"]
    fourth = secure_rest.refresh(third).json()["refresh_token"]
    # The first token was replaced three times, so two clients have the session.
    assert message(secure_rest.refresh(first)) == "INVALID_REFRESH_TOKEN"
    assert message(secure_rest.refresh(fourth)) == "INVALID_REFRESH_TOKEN"


def test_a_new_password_ends_every_session(secure_rest):
    email, session = secure_rest.sign_up()
    thief = secure_rest.call("signInWithPassword", email=email, password="secret-1")
    changed = secure_rest.call("update", idToken=session["idToken"], password="secret-2")
    assert message(secure_rest.refresh(thief["refreshToken"])) == "TOKEN_EXPIRED"
    assert secure_rest.refresh(changed["refreshToken"]).status_code == 200


def processor_ticks(server):
    """Returns the ticks of processor time that a server has used."""
    fields = open(f"/proc/{server.process.pid}/stat").read().rsplit(")", 1)[1].split()
    return int(fields[11]) + int(fields[12])


def test_nobody_learns_who_has_an_account(secure, secure_rest):
    email, _ = secure_rest.sign_up()
    unknown = f"{uuid.uuid4().hex}@example.com"
    answers = [
        secure_rest.try_call("signInWithPassword", email=each, password="wrong-1").text
        for each in (email, unknown)]
    assert answers[0] == answers[1]
    sent = [secure_rest.call("sendOobCode", requestType="PASSWORD_RESET", email=each)
            for each in (email, unknown)]
    assert set(sent[0]) == set(sent[1]) == {"kind", "email"}
    about = [secure_rest.call("createAuthUri", identifier=each, continueUri="http://localhost")
             for each in (email, unknown)]
    assert set(about[0]) == set(about[1]) == {"kind", "sessionId"}
    # Both requests take the same time, because the server does the same work for both. The work is
    # counted as processor time, which other processes do not change much.
    def work(each):
        start = processor_ticks(secure)
        for _ in range(8):
            secure_rest.try_call("signInWithPassword", email=each, password="wrong-1")
        return processor_ticks(secure) - start
    known, other = work(email), work(unknown)
    assert min(known, other) >= 4, "the work is too short to be measured"
    assert 0.4 < known / other < 2.5


def test_guessing_one_account_s_password_is_stopped(tmp_path):
    with running(tmp_path) as rest:
        email, _ = rest.sign_up("right-password")
        codes = [rest.refusal("signInWithPassword", email=email, password=f"wrong-{n}")
                 for n in range(12)]
        assert codes[:10] == ["INVALID_LOGIN_CREDENTIALS"] * 10
        assert set(codes[10:]) == {"TOO_MANY_ATTEMPTS_TRY_LATER"}
        # The correct password is refused too. Other accounts are not affected.
        assert rest.refusal("signInWithPassword", email=email, password="right-password") == \
            "TOO_MANY_ATTEMPTS_TRY_LATER"
        other, _ = rest.sign_up()
        rest.call("signInWithPassword", email=other, password="secret-1")


def test_one_password_for_many_accounts_is_stopped(tmp_path):
    with running(tmp_path) as rest:
        codes = [rest.refusal("signInWithPassword", email=f"u{n}@example.com", password="Summer-26")
                 for n in range(60)]
        stopped = codes.index("TOO_MANY_ATTEMPTS_TRY_LATER")
        assert 50 <= stopped <= 56
        assert set(codes[stopped:]) <= {
            "TOO_MANY_ATTEMPTS_TRY_LATER", "INVALID_LOGIN_CREDENTIALS"}


class running:
    def __init__(self, data, *flags):
        self.server = Server(
            data, 0, "--accounts", "secure", "--accounts-project", "accounts",
            "--accounts-password-cost", "8", *flags,
            environment={"TIDEMARK_TOKEN": TOKEN})

    def __enter__(self):
        return Client(self.server)

    def __exit__(self, *_):
        self.server.stop()


def test_only_an_administrator_administers(secure_rest):
    for headers in ({}, {"Authorization": "Bearer owner"}, {"Authorization": "Bearer ya29.x"},
                    {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": TOKEN}):
        for path in ("/v1/projects/accounts/accounts:batchDelete",
                     "/v1/projects/accounts/accounts:query", "/v1/projects/accounts/accounts"):
            response = secure_rest.post(
                "/identitytoolkit.googleapis.com" + path + ("" if headers else "?key=any"),
                {"localIds": ["x"], "force": True}, headers=headers)
            assert response.status_code in (401, 403), (path, headers)
        for path, method in (("accounts", "delete"), ("oobCodes", "get"), ("config", "get")):
            response = secure_rest.session.request(
                method, f"{secure_rest.base}/emulator/v1/projects/accounts/{path}", headers=headers)
            assert response.status_code in (401, 403)


def test_a_login_of_long_ago_is_not_enough_to_delete(tmp_path):
    """The accounts use the machine's clock, so an old token is made with a refresh of an old
    sign-in."""
    with running(tmp_path) as rest:
        _, session = rest.sign_up()
        claims = decode(session["idToken"].split(".")[1])
        assert claims["auth_time"] == claims["iat"]
        rest.call("delete", idToken=session["idToken"])


def test_a_provider_is_believed_by_its_key_only(tmp_path):
    key = jwt.algorithms.ECAlgorithm.from_jwk(json.dumps({
        "kty": "EC", "crv": "P-256", "d": "870MB6gfuTJ4HtUnUvYMyJpr5eUZNP4Bk43bVdj3eAE",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}))
    public = {"kty": "EC", "crv": "P-256", "kid": "one", "alg": "ES256",
              "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
              "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}
    keys_file = tmp_path / "keys.json"
    keys_file.write_text(json.dumps({
        "providers": {"apple.com": {
            "issuers": ["https://appleid.apple.com"], "audiences": ["com.example.app"],
            "jwks": {"keys": [public]}}},
        "customTokens": {"jwks": {"keys": [public]}}}))
    now = int(time.time())
    nonce = "made-up"
    good = {"iss": "https://appleid.apple.com", "aud": "com.example.app", "sub": "apple-1",
            "iat": now, "exp": now + 600, "email": "ann@example.com", "email_verified": "true",
            "nonce": hashlib.sha256(nonce.encode()).hexdigest()}

    def sign(claims, **options):
        return jwt.encode(claims, options.get("key", key), algorithm=options.get("alg", "ES256"),
                          headers={"kid": options.get("kid", "one")})

    def ask(token, provider="apple.com", nonce=nonce):
        return f"providerId={provider}&nonce={nonce}&id_token={token}"

    with running(tmp_path / "data", "--accounts-keys", keys_file) as rest:
        session = rest.call("signInWithIdp", postBody=ask(sign(good)), requestUri="http://x")
        assert session["email"] == "ann@example.com"
        refused = {
            "another audience": ask(sign(dict(good, aud="com.example.other"))),
            "another issuer": ask(sign(dict(good, iss="https://example.com"))),
            "old": ask(sign(dict(good, exp=now - 1))),
            "of the future": ask(sign(dict(good, iat=now + 3600))),
            "good only later": ask(sign(dict(good, nbf=now + 3600))),
            "good from a time that is none": ask(sign(dict(good, nbf=["now"]))),
            "another nonce": ask(sign(good), nonce="stolen"),
            "unsigned": ask(f'{part({"alg": "none"})}.{part(good)}.'),
            "a known secret": ask(jwt.encode(good, "x" * 32, algorithm="HS256",
                                             headers={"kid": "one"})),
            "plain": ask(json.dumps(good)),
            "another provider": ask(sign(good), provider="google.com"),
        }
        for name, body in refused.items():
            assert rest.refusal("signInWithIdp", postBody=body, requestUri="http://x") in (
                "INVALID_IDP_RESPONSE", "OPERATION_NOT_ALLOWED",
                "MISSING_OR_INVALID_NONCE"), name
        custom = {"aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit."
                         "v1.IdentityToolkit", "uid": "custom-1", "iat": now, "exp": now + 600}
        assert rest.call("signInWithCustomToken", token=sign(custom))["isNewUser"] is True
        # Good since a moment ago, or in a moment by a clock that is a little ahead.
        for begin in (now - 60, now + 60):
            assert rest.call("signInWithCustomToken", token=sign(dict(custom, nbf=begin)))
        for body in (f'{part({"alg": "none"})}.{part(custom)}.', json.dumps(custom),
                     sign(dict(custom, exp=now - 1)), sign(dict(custom, aud="other")),
                     sign(dict(custom, nbf=now + 3600)), sign(dict(custom, nbf=["now"]))):
            assert rest.refusal("signInWithCustomToken", token=body) == "INVALID_CUSTOM_TOKEN"


def test_without_keys_no_provider_is_believed(secure_rest):
    assert secure_rest.refusal(
        "signInWithIdp", requestUri="http://x",
        postBody=f'providerId=apple.com&id_token={part({"alg": "none"})}.{part({"sub": "x"})}.'
    ) == "OPERATION_NOT_ALLOWED"
    assert secure_rest.refusal("signInWithCustomToken", token='{"uid": "x"}') == \
        "OPERATION_NOT_ALLOWED"


def test_bodies_are_bounded(secure_rest):
    big = "x" * 200_000
    response = secure_rest.try_call("signUp", email="a@b.c", password=big)
    assert response.status_code == 413
    response = secure_rest.try_call("signUp", email="a@b.c", password="x" * 5_000)
    assert message(response) == "INVALID_ARGUMENT"
    for depth in (17, 1_000, 60_000):
        response = secure_rest.session.post(
            secure_rest.base + "/v1/accounts:signUp?key=any", data="[" * depth + "]" * depth,
            headers=JSON)
        assert response.status_code == 400
        response = secure_rest.session.post(
            secure_rest.base + "/v1/accounts:signUp?key=any",
            data='{"a":' * depth + "1" + "}" * depth, headers=JSON)
        assert response.status_code in (400, 413)
    assert secure_rest.refusal("lookup", idToken="a." * 20_000) in (
        "INVALID_ARGUMENT", "INVALID_ID_TOKEN")
    deep = encode(b'{"a":' * 900 + b"1" + b"}" * 900)
    assert secure_rest.refusal("lookup", idToken=f"{deep}.{deep}.x") == "INVALID_ID_TOKEN"


def test_paths_lead_nowhere_else(secure_rest):
    import urllib.request, urllib.error
    for path in ("/v1/projects/../accounts:signUp", "/v1/projects/%2e%2e/accounts:signUp",
                 "/v1/projects/a%2fb/accounts:signUp", "/v1/projects//accounts:signUp",
                 "/v1/projects/a%00b/accounts:signUp", "/v1/projects/" + "a" * 200
                 + "/accounts:signUp", "/v1/projects/a/b/accounts:signUp", "/%", "//",
                 "/v1/projects/\u00e4/accounts:signUp".encode().decode("latin-1")):
        request = urllib.request.Request(
            secure_rest.base + urllib.request.quote(path, safe="/%:.?=") + "?key=any", b"{}", JSON)
        try:
            status = urllib.request.urlopen(request, timeout=60).status
        except urllib.error.HTTPError as error:
            status = error.code
        assert status in (400, 403, 404, 405) or path == "//", path


def test_ids_lead_nowhere_else(secure_rest):
    """An account's id is also a document's id, so no id may refer to another place."""
    for uid in ("a/b", "../admin/secrets", "users/ann", ".", "..", "__all__", "a\u0000b", "a\nb",
                "x" * 129, ""):
        made = administer(secure_rest, "batchCreate", users=[{"localId": uid}]).json()
        assert made["error"][0]["index"] == 0, uid
        response = secure_rest.post(
            f"/identitytoolkit.googleapis.com/v1/projects/{secure_rest.project}/accounts",
            {"localId": uid}, headers=ADMIN)
        assert response.status_code == 400 or uid == "", uid
        for action in ("update", "delete"):
            assert administer(secure_rest, action, localId=uid).status_code == 400, uid
        assert not administer(secure_rest, "lookup", localId=[uid]).json().get("users")
    # Ids that only look like paths are ordinary ids.
    for uid in ("%2e%2e", "a%2fb", "..a", "_x_", "a b", "\u00e4", "-"):
        assert "error" not in administer(
            secure_rest, "batchCreate", users=[{"localId": uid}]).json(), uid
        users = administer(secure_rest, "lookup", localId=[uid]).json()["users"]
        assert [user["localId"] for user in users] == [uid]


def test_the_doctor_knows_a_bad_token(secure, secure_rest):
    _, session = secure_rest.sign_up()
    forged = session["idToken"][:-8] + "AAAAAAAA"
    for token, verdict in (("", "credentials"), ("owner", "credentials"), (forged, "credentials"),
                           (session["idToken"], "healthy"), (TOKEN, "healthy")):
        result = subprocess.run(
            [BINARY, "doctor", "--json", "--project", "accounts", "--host", secure.host],
            env=dict(os.environ, TIDEMARK_TOKEN=token), capture_output=True, text=True, timeout=60)
        report = json.loads(result.stdout)
        # On a busy machine, the verdict can be "slow".
        said = report["verdict"].replace("slow", "healthy")
        assert said == verdict and report["steps"][-1]["name"] == "read"
        assert not token or token not in result.stdout + result.stderr


def test_damaged_bodies_and_tokens_are_survived(secure_rest):
    """Each request gets an answer, none of them is 500, and the server continues."""
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    _, session = secure_rest.sign_up()
    token = session["idToken"]
    body = json.dumps({"idToken": token, "email": "a@b.c", "password": "secret-1",
                       "deleteAttribute": ["EMAIL"], "returnSecureToken": True}).encode()
    for number in range(300):
        data = bytearray(body)
        for _ in range(chance.randrange(1, 6)):
            where = chance.randrange(len(data))
            if chance.random() < 0.5:
                data[where] = chance.randrange(256)
            else:
                del data[where:where + chance.randrange(1, 20)]
        action = chance.choice(["lookup", "signInWithPassword", "signInWithCustomToken",
                                "sendOobCode", "resetPassword", "createAuthUri", "signInWithIdp"])
        response = secure_rest.session.post(
            f"{secure_rest.base}/v1/projects/accounts/accounts:{action}?key=any", data=bytes(data),
            headers=JSON)
        assert response.status_code in (200, 400, 403, 413), (seed, number, response.text)
        damaged = bytearray(token.encode())
        damaged[chance.randrange(len(damaged))] = chance.choice(b"abcXYZ019-_.")
        if damaged.decode() != token:
            response = secure_rest.try_call("lookup", idToken=damaged.decode())
            # The last character of a signature contains bits that are not part of it.
            assert response.status_code == 400 or damaged[:-1] == token.encode()[:-1], (seed, number)
    assert secure_rest.call("lookup", idToken=token)["users"]


def test_credentials_are_in_no_log_and_in_no_command_line(tmp_path):
    log = open(tmp_path / "log", "w+")
    password = "very-secret-" + uuid.uuid4().hex
    server = Server(
        tmp_path / "data", 0, "--accounts", "secure", "--accounts-project", "accounts",
        stderr=log, environment={"TIDEMARK_TOKEN": TOKEN})
    rest = Client(server)
    email, session = rest.sign_up(password)
    rest.refresh(session["refreshToken"])
    rest.try_call("signInWithPassword", email=email, password=password + "x")
    rest.call("sendOobCode", requestType="PASSWORD_RESET", email=email)
    line = pathlib.Path(f"/proc/{server.process.pid}/cmdline")
    command = line.read_bytes() if line.exists() else b""
    server.stop()
    log.seek(0)
    written = log.read().encode() + server.process.stdout.read().encode() + command
    stored = b"".join(path.read_bytes() for path in (tmp_path / "data").iterdir())
    for secret in (password, session["idToken"], session["refreshToken"], TOKEN):
        assert secret.encode() not in written
        assert secret.encode() not in stored
    assert email.encode() in stored


def test_the_file_is_its_owner_s(tmp_path):
    with running(tmp_path) as rest:
        rest.sign_up()
        for path in tmp_path.glob("tidemark-accounts.sqlite*"):
            assert path.stat().st_mode & 0o077 == 0, path
