"""The requests of an app, with the protocol itself."""

import base64
import json
import uuid

import pytest
import requests

from accounts.conftest import message


def part(fields):
    return base64.urlsafe_b64encode(json.dumps(fields).encode()).decode().rstrip("=")


def unsigned(fields):
    return f'{part({"alg": "none", "typ": "JWT"})}.{part(fields)}.'


def claims(token):
    text = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))


def new_email():
    return f"{uuid.uuid4().hex[:12]}@example.com"


def test_it_says_that_it_is_there(rest):
    assert rest.session.get(rest.base + "/").json() == {"authEmulator": {"ready": True}}


def test_without_a_key_nothing_is_answered(rest):
    response = rest.post("/identitytoolkit.googleapis.com/v1/accounts:signUp")
    assert response.status_code == 403
    assert response.json()["error"]["message"] == (
        "PERMISSION_DENIED : The request is missing a valid API key.")
    assert rest.post("/identitytoolkit.googleapis.com/v1/accounts:signUp",
                     headers={"x-goog-api-key": "any"}).status_code == 200
    response = rest.post("/identitytoolkit.googleapis.com/v1/accounts:signUp",
                         headers={"Authorization": "Bearer someone"})
    assert response.status_code == 401


def test_anonymous(rest):
    session = rest.call("signUp", returnSecureToken=True)
    assert session["expiresIn"] == "3600"
    said = claims(session["idToken"])
    assert said["provider_id"] == "anonymous"
    assert said["firebase"] == {"identities": {}, "sign_in_provider": "anonymous"}
    user = rest.call("lookup", idToken=session["idToken"])["users"][0]
    assert user["localId"] == session["localId"]


def test_an_anonymous_account_becomes_one_with_a_password(rest):
    session = rest.call("signUp")
    email = new_email()
    linked = rest.call(
        "signUp", idToken=session["idToken"], email=email, password="secret-1")
    assert linked["localId"] == session["localId"]
    assert claims(linked["idToken"])["firebase"]["sign_in_provider"] == "password"
    assert rest.call("signInWithPassword", email=email, password="secret-1")["localId"] == \
        session["localId"]


@pytest.mark.parametrize("fields, code", [
    ({"email": "a@b.c"}, "MISSING_PASSWORD"),
    ({"password": "secret-1"}, "MISSING_EMAIL"),
    ({"email": "nonsense", "password": "secret-1"}, "INVALID_EMAIL"),
    ({"email": "a b@c.d", "password": "secret-1"}, "INVALID_EMAIL"),
    ({"email": "a@b.c", "password": "short"}, "WEAK_PASSWORD"),
    ({"email": 7, "password": "secret-1"}, "INVALID_ARGUMENT"),
    ({"localId": "mine"}, "UNEXPECTED_PARAMETER"),
])
def test_what_no_account_is_made_of(rest, fields, code):
    assert rest.refusal("signUp", **fields) == code


@pytest.mark.parametrize("action, fields, code", [
    ("signInWithPassword", {"email": "", "password": "secret-1"}, "INVALID_EMAIL"),
    ("signInWithPassword", {"email": " ", "password": "secret-1"}, "INVALID_EMAIL"),
    ("signInWithPassword", {"email": "x", "password": "secret-1"}, "INVALID_EMAIL"),
    ("signInWithPassword", {"password": "secret-1"}, "MISSING_EMAIL"),
    ("signInWithPassword", {"email": "a@b.c", "password": ""}, "MISSING_PASSWORD"),
    ("signUp", {"email": ""}, "INVALID_EMAIL"),
    ("signUp", {"email": "", "password": ""}, "INVALID_EMAIL"),
    ("signUp", {"email": "", "password": "secret-1"}, "INVALID_EMAIL"),
    ("signUp", {"password": ""}, "MISSING_EMAIL"),
    ("sendOobCode", {"requestType": "PASSWORD_RESET", "email": ""}, "INVALID_EMAIL"),
    ("sendOobCode", {"requestType": "PASSWORD_RESET"}, "MISSING_EMAIL"),
    ("createAuthUri", {"identifier": "", "continueUri": "http://localhost"}, "INVALID_IDENTIFIER"),
])
def test_an_empty_text_is_not_a_missing_one(rest, action, fields, code):
    assert rest.refusal(action, **fields) == code


def test_a_phone_signs_in_by_its_code(rest):
    number = f"+1555{uuid.uuid4().int % 10**7:07}"

    def code_of(session_info):
        listed = rest.session.get(
            f"{rest.base}/emulator/v1/projects/{rest.project}/verificationCodes").json()
        return [each["code"] for each in listed["verificationCodes"]
                if each["sessionInfo"] == session_info][0]

    sent = rest.call("sendVerificationCode", phoneNumber=number, recaptchaToken="ignored")
    code = code_of(sent["sessionInfo"])
    wrong = "000000" if code != "000000" else "000001"
    assert rest.refusal(
        "signInWithPhoneNumber", sessionInfo=sent["sessionInfo"], code=wrong) == "INVALID_CODE"
    made = rest.call("signInWithPhoneNumber", sessionInfo=sent["sessionInfo"], code=code)
    assert made["isNewUser"] is True and made["phoneNumber"] == number
    said = claims(made["idToken"])
    assert said["phone_number"] == number
    assert said["firebase"] == {
        "identities": {"phone": [number]}, "sign_in_provider": "phone"}
    user = rest.call("lookup", idToken=made["idToken"])["users"][0]
    assert user["providerUserInfo"] == [
        {"providerId": "phone", "rawId": number, "phoneNumber": number}]
    # Another account learns that the number is in use, and gets a proof with which it can sign in
    # there.
    _, other = rest.sign_up()
    sent = rest.call("sendVerificationCode", phoneNumber=number)
    taken = rest.call(
        "signInWithPhoneNumber", sessionInfo=sent["sessionInfo"],
        code=code_of(sent["sessionInfo"]), idToken=other["idToken"])
    assert taken["temporaryProof"] and "idToken" not in taken
    again = rest.call(
        "signInWithPhoneNumber", temporaryProof=taken["temporaryProof"], phoneNumber=number)
    assert again["localId"] == made["localId"] and again["isNewUser"] is False


@pytest.mark.parametrize("provider", ["facebook.com", "github.com"])
def test_an_access_token_may_be_the_claims(rest, provider):
    subject = uuid.uuid4().hex
    body = f"access_token={json.dumps({'sub': subject, 'screen_name': 'ann'})}&providerId={provider}"
    first = by_apple(rest, body)
    assert first["isNewUser"] is True and first["screenName"] == "ann"
    assert by_apple(rest, body)["localId"] == first["localId"]
    assert rest.refusal(
        "signInWithIdp", postBody=f"access_token=EAAB0x&providerId={provider}",
        requestUri="http://localhost") == "INVALID_IDP_RESPONSE"


def test_an_address_is_one_account_s(rest):
    email, _ = rest.sign_up()
    assert rest.refusal("signUp", email=email.upper(), password="secret-2") == "EMAIL_EXISTS"


def test_sign_in(rest):
    email, session = rest.sign_up()
    again = rest.call("signInWithPassword", email=email, password="secret-1")
    assert again["localId"] == session["localId"] and again["registered"] is True
    assert again["displayName"] == ""
    assert rest.refusal("signInWithPassword", email=email, password="secret-2") == \
        "INVALID_PASSWORD"
    assert rest.refusal("signInWithPassword", email=new_email(), password="x") == \
        "EMAIL_NOT_FOUND"


def test_errors_have_production_s_shape(rest):
    response = rest.try_call("signInWithPassword", email=new_email(), password="x")
    assert response.json() == {"error": {
        "code": 400, "message": "EMAIL_NOT_FOUND", "errors": [
            {"message": "EMAIL_NOT_FOUND", "domain": "global", "reason": "invalid"}]}}


def test_hidden_accounts(rest):
    hidden = type(rest)(type("S", (), {"accounts_port": int(rest.base.rsplit(":", 1)[1])}), "hidden")
    hidden.session.patch(
        hidden.base + "/emulator/v1/projects/hidden/config",
        json={"emailPrivacyConfig": {"enableImprovedEmailPrivacy": True}})
    email, _ = hidden.sign_up()
    for fields in ({"email": email, "password": "wrong-1"},
                   {"email": new_email(), "password": "wrong-1"}):
        assert hidden.refusal("signInWithPassword", **fields) == "INVALID_LOGIN_CREDENTIALS"
    unknown = new_email()
    sent = hidden.call("sendOobCode", requestType="PASSWORD_RESET", email=unknown)
    assert sent["email"] == unknown
    about = hidden.call("createAuthUri", identifier=email, continueUri="http://localhost")
    assert "registered" not in about and "signinMethods" not in about


def test_sign_in_methods_are_told_where_they_may_be(rest):
    email, _ = rest.sign_up()
    about = rest.call("createAuthUri", identifier=email, continueUri="http://localhost")
    assert about["registered"] is True and about["signinMethods"] == ["password"]
    about = rest.call("createAuthUri", identifier=new_email(), continueUri="http://localhost")
    assert about["registered"] is False


def apple(subject, **fields):
    return ("providerId=apple.com&nonce=n&id_token="
            + unsigned({"sub": subject, "iss": "https://appleid.apple.com", **fields}))


def by_apple(rest, body, **fields):
    return rest.call(
        "signInWithIdp", postBody=body, requestUri="http://localhost", returnSecureToken=True,
        **fields)


def test_apple(rest):
    subject, email = uuid.uuid4().hex, new_email()
    first = by_apple(rest, apple(subject, email=email, email_verified="true"))
    assert first["isNewUser"] is True and first["providerId"] == "apple.com"
    assert first["email"] == email and first["emailVerified"] is True
    assert claims(first["idToken"])["firebase"] == {
        "identities": {"apple.com": [subject], "email": [email]},
        "sign_in_provider": "apple.com"}
    second = by_apple(rest, apple(subject))
    assert second["localId"] == first["localId"] and "isNewUser" not in second
    assert rest.refusal(
        "signInWithIdp", postBody="providerId=apple.com&access_token=x",
        requestUri="http://localhost") == "INVALID_IDP_RESPONSE"


def test_a_provider_is_linked_to_an_account(rest):
    session = rest.call("signUp")
    subject = uuid.uuid4().hex
    linked = by_apple(rest, apple(subject), idToken=session["idToken"])
    assert linked["localId"] == session["localId"]
    other = rest.call("signUp")
    assert rest.refusal(
        "signInWithIdp", postBody=apple(subject), requestUri="http://localhost",
        idToken=other["idToken"]) == "FEDERATED_USER_ID_ALREADY_LINKED"
    rest.call("update", idToken=linked["idToken"], deleteProvider=["apple.com"])
    assert by_apple(rest, apple(subject), idToken=other["idToken"])["localId"] == other["localId"]


def test_the_same_address_is_the_same_account_where_it_is_verified(rest):
    email, session = rest.sign_up()
    asked = by_apple(rest, apple(uuid.uuid4().hex, email=email))
    assert asked["needConfirmation"] is True and "idToken" not in asked
    assert asked["verifiedProvider"] == ["password"]
    merged = by_apple(rest, apple(uuid.uuid4().hex, email=email, email_verified=True))
    assert merged["localId"] == session["localId"]
    # The client that set the password never proved that it owns the address.
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") == \
        "INVALID_PASSWORD"


def test_a_custom_token_as_plain_json(rest):
    uid = "plain-" + uuid.uuid4().hex[:8]
    session = rest.call("signInWithCustomToken", token=json.dumps({"uid": uid, "claims": {"a": 1}}))
    said = claims(session["idToken"])
    assert said["sub"] == uid and said["a"] == 1
    assert rest.refusal("signInWithCustomToken") == "MISSING_CUSTOM_TOKEN"
    assert rest.refusal("signInWithCustomToken", token="{}") == "MISSING_IDENTIFIER"
    assert rest.refusal("signInWithCustomToken", token="a.b.c") == "INVALID_CUSTOM_TOKEN"
    assert rest.refusal(
        "signInWithCustomToken", token=json.dumps({"uid": "a/b"})) == "INVALID_LOCAL_ID"


def test_a_profile_is_changed_by_its_holder(rest):
    email, session = rest.sign_up()
    changed = rest.call(
        "update", idToken=session["idToken"], displayName="Ann", photoUrl="http://x/y",
        returnSecureToken=True)
    assert changed["displayName"] == "Ann"
    said = claims(changed["idToken"])
    assert said["name"] == "Ann" and said["picture"] == "http://x/y"
    assert said["auth_time"] == claims(session["idToken"])["auth_time"]
    for field in ({"customAttributes": "{}"}, {"disableUser": True}, {"validSince": "1"},
                  {"emailVerified": True}):
        assert rest.refusal("update", idToken=session["idToken"], **field) == \
            "INSUFFICIENT_PERMISSION"


def test_new_credentials_bring_new_tokens(rest):
    email, session = rest.sign_up()
    changed = rest.call("update", idToken=session["idToken"], password="secret-2")
    assert changed["idToken"] and changed["refreshToken"]
    assert changed["passwordHash"] == "UkVEQUNURUQ="
    rest.call("signInWithPassword", email=email, password="secret-2")
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") == \
        "INVALID_PASSWORD"
    moved = new_email()
    rest.call("update", idToken=changed["idToken"], email=moved)
    assert rest.call("signInWithPassword", email=moved, password="secret-2")["localId"] == \
        session["localId"]


def test_an_account_is_deleted_by_its_holder(rest):
    email, session = rest.sign_up()
    assert rest.call("delete", idToken=session["idToken"])["kind"]
    assert rest.refusal("delete", idToken=session["idToken"]) == "USER_NOT_FOUND"
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") == \
        "EMAIL_NOT_FOUND"


def test_refresh(rest):
    _, session = rest.sign_up()
    renewed = rest.refresh(session["refreshToken"]).json()
    assert renewed["access_token"] == renewed["id_token"]
    assert renewed["user_id"] == session["localId"]
    assert renewed["token_type"] == "Bearer" and renewed["expires_in"] == "3600"
    # The request also works as JSON. In an emulator, the refresh token never changes.
    again = rest.post("/securetoken.googleapis.com/v1/token?key=any", {
        "grant_type": "refresh_token", "refresh_token": session["refreshToken"]}).json()
    assert again["refresh_token"] == session["refreshToken"]
    assert message(rest.refresh("nonsense")) == "INVALID_REFRESH_TOKEN"
    missing = rest.post("/securetoken.googleapis.com/v1/token?key=any")
    assert missing.json()["error"]["message"] == "MISSING_GRANT_TYPE"


def test_the_old_paths(rest):
    base = "/www.googleapis.com/identitytoolkit/v3/relyingparty/"
    made = rest.post(base + "signupNewUser?key=any", {"email": new_email(), "password": "secret-1"})
    token = made.json()["idToken"]
    found = rest.post(base + "getAccountInfo?key=any", {"idToken": token}).json()
    assert found["users"][0]["localId"] == made.json()["localId"]
    assert rest.post(base + "deleteAccount?key=any", {"idToken": token}).status_code == 200


def test_an_address_is_changed_by_a_link(rest):
    email, session = rest.sign_up()
    moved = new_email()
    rest.call("sendOobCode", requestType="VERIFY_AND_CHANGE_EMAIL", idToken=session["idToken"],
              newEmail=moved)
    codes = rest.session.get(
        rest.base + f"/emulator/v1/projects/{rest.project}/oobCodes").json()["oobCodes"]
    code = [each for each in codes if each["email"] == email][0]["oobCode"]
    assert rest.call("update", oobCode=code)["email"] == moved
    rest.call("signInWithPassword", email=moved, password="secret-1")


def test_a_project_s_accounts_are_cleared(rest):
    cleared = type(rest)(type("S", (), {"accounts_port": int(rest.base.rsplit(":", 1)[1])}), "cleared")
    email, session = cleared.sign_up()
    url = cleared.base + "/emulator/v1/projects/cleared/accounts"
    assert requests.delete(url).json() == {}
    assert cleared.refusal("signInWithPassword", email=email, password="secret-1") == \
        "EMAIL_NOT_FOUND"
    assert cleared.refresh(session["refreshToken"]).status_code == 400


def test_accounts_are_queried(rest, app, auth):
    email, session = rest.sign_up()
    owner = {"Authorization": "Bearer owner"}
    path = f"/identitytoolkit.googleapis.com/v1/projects/{rest.project}/accounts:query"
    count = rest.post(path, {"returnUserInfo": False}, headers=owner).json()["recordsCount"]
    assert int(count) >= 1
    found = rest.post(path, {"expression": [{"email": email}]}, headers=owner).json()
    assert [user["localId"] for user in found["userInfo"]] == [session["localId"]]
    page = rest.post(
        path, {"limit": 2, "offset": 0, "sortBy": "CREATED_AT", "order": "DESC"},
        headers=owner).json()["userInfo"]
    assert int(page[0]["createdAt"]) >= int(page[-1]["createdAt"])
    assert rest.post(path, {"limit": 501}, headers=owner).status_code == 400
    assert rest.post(path + "?key=any", {}).json()["error"]["message"] == \
        "INSUFFICIENT_PERMISSION"


def test_ids_alone_are_listed(rest):
    rest.sign_up()
    url = (rest.base + f"/identitytoolkit.googleapis.com/v1/projects/{rest.project}"
           "/accounts:batchGet?maxResults=3&fields=nextPageToken,users.localId")
    page = rest.session.get(url, headers={"Authorization": "Bearer owner"}).json()
    assert page["users"] and all(list(user) == ["localId"] for user in page["users"])


def test_what_is_not_there(rest):
    assert rest.post("/nothing?key=any").status_code == 404
    assert rest.post("/v1/projects/a/accounts:nothing?key=any").status_code == 404
    assert rest.session.get(rest.base + "/v1/accounts:signUp?key=any").status_code == 405


def test_browsers_may_ask(rest):
    response = rest.session.options(
        rest.base + "/v1/accounts:signUp", headers={
            "Origin": "http://localhost:3000", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "content-type,x-client-version"})
    assert response.status_code == 204
    assert response.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert response.headers["vary"] == "Origin"
    assert "content-type" in response.headers["access-control-allow-headers"]
