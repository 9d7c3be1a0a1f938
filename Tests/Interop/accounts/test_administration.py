"""An administrator's work with accounts, using firebase_admin."""

import base64
import hashlib
import hmac
import json
import time
import uuid

import pytest

from firebase_admin import exceptions


def new_id():
    return "u-" + uuid.uuid4().hex[:16]


def new_email():
    return f"{uuid.uuid4().hex[:12]}@example.com"


def new_phone():
    return "+1" + str(uuid.uuid4().int)[:10]


def test_an_account_is_made_with_all_it_can_have(app, auth):
    uid, email, phone = new_id(), new_email(), new_phone()
    user = auth.create_user(
        uid=uid, email=email, email_verified=True, phone_number=phone, password="secret-1",
        display_name="Ann", photo_url="https://example.com/a.png", disabled=True, app=app)
    assert user.uid == uid
    assert (user.email, user.email_verified) == (email, True)
    assert user.phone_number == phone
    assert user.display_name == "Ann"
    assert user.photo_url == "https://example.com/a.png"
    assert user.disabled
    assert {info.provider_id for info in user.provider_data} == {"password", "phone"}
    assert abs(user.user_metadata.creation_timestamp - time.time() * 1000) < 60_000
    assert user.user_metadata.last_sign_in_timestamp is None
    assert user.custom_claims is None


def test_an_account_gets_an_id_where_none_is_wanted(app, auth):
    user = auth.create_user(app=app)
    assert len(user.uid) == 28
    assert user.provider_data == []


def test_an_account_is_found_by_each_of_its_names(app, auth):
    email, phone = new_email(), new_phone()
    uid = auth.create_user(email=email, phone_number=phone, app=app).uid
    assert auth.get_user(uid, app=app).uid == uid
    assert auth.get_user_by_email(email.upper(), app=app).uid == uid
    assert auth.get_user_by_phone_number(phone, app=app).uid == uid
    for get in (lambda: auth.get_user(new_id(), app=app),
                lambda: auth.get_user_by_email(new_email(), app=app),
                lambda: auth.get_user_by_phone_number(new_phone(), app=app)):
        with pytest.raises(auth.UserNotFoundError):
            get()


def test_many_are_found_at_once(app, auth):
    email, phone, provider = new_email(), new_phone(), uuid.uuid4().hex
    first = auth.create_user(email=email, app=app).uid
    second = auth.create_user(phone_number=phone, app=app).uid
    third = new_id()
    auth.import_users([auth.ImportUserRecord(
        third, provider_data=[auth.UserProvider(provider, "google.com")])], app=app)
    missing = auth.UidIdentifier(new_id())
    found = auth.get_users([
        auth.EmailIdentifier(email), auth.PhoneIdentifier(phone), auth.UidIdentifier(first),
        auth.ProviderIdentifier("google.com", provider), missing], app=app)
    assert {user.uid for user in found.users} == {first, second, third}
    assert found.not_found == [missing]


def test_names_are_one_account_s_only(app, auth):
    email, phone, uid = new_email(), new_phone(), new_id()
    auth.create_user(uid=uid, email=email, phone_number=phone, app=app)
    with pytest.raises(auth.UidAlreadyExistsError):
        auth.create_user(uid=uid, app=app)
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.create_user(email=email, app=app)
    with pytest.raises(auth.PhoneNumberAlreadyExistsError):
        auth.create_user(phone_number=phone, app=app)
    other = auth.create_user(app=app).uid
    with pytest.raises(auth.EmailAlreadyExistsError):
        auth.update_user(other, email=email, app=app)


@pytest.mark.parametrize("uid", ["a/b", "..", ".", "__reserved__", "a\nb"])
def test_an_id_names_a_document_too(app, auth, uid):
    with pytest.raises(exceptions.InvalidArgumentError, match="INVALID_LOCAL_ID"):
        auth.create_user(uid=uid, app=app)


def test_everything_can_be_changed_and_taken_away(app, auth):
    uid = auth.create_user(
        email=new_email(), phone_number=new_phone(), display_name="Ann",
        photo_url="https://example.com/a.png", app=app).uid
    email, phone = new_email(), new_phone()
    user = auth.update_user(
        uid, email=email, phone_number=phone, display_name="Bea", email_verified=True,
        photo_url="https://example.com/b.png", disabled=True, password="secret-2",
        custom_claims={"level": 3}, app=app)
    assert (user.email, user.phone_number, user.display_name) == (email, phone, "Bea")
    assert user.photo_url == "https://example.com/b.png"
    assert user.email_verified and user.disabled
    assert user.custom_claims == {"level": 3}
    user = auth.update_user(
        uid, display_name=auth.DELETE_ATTRIBUTE, photo_url=auth.DELETE_ATTRIBUTE,
        phone_number=auth.DELETE_ATTRIBUTE, custom_claims=auth.DELETE_ATTRIBUTE, disabled=False,
        app=app)
    assert user.display_name is None and user.photo_url is None and user.phone_number is None
    assert not user.custom_claims
    assert not user.disabled
    with pytest.raises(auth.UserNotFoundError):
        auth.update_user(new_id(), display_name="nobody", app=app)


def test_a_provider_is_taken_from_an_account(app, auth):
    uid = new_id()
    auth.import_users([auth.ImportUserRecord(
        uid, provider_data=[auth.UserProvider(uuid.uuid4().hex, "google.com")])], app=app)
    assert [info.provider_id for info in auth.get_user(uid, app=app).provider_data] == ["google.com"]
    user = auth.update_user(uid, providers_to_delete=["google.com"], app=app)
    assert user.provider_data == []


def test_claims_are_in_the_tokens_that_follow(app, auth, rest):
    email, session = rest.sign_up()
    uid = session["localId"]
    auth.set_custom_user_claims(uid, {"admin": True, "level": 7}, app=app)
    assert auth.get_user(uid, app=app).custom_claims == {"admin": True, "level": 7}
    assert "admin" not in auth.verify_id_token(session["idToken"], app=app)
    renewed = rest.refresh(session["refreshToken"]).json()
    claims = auth.verify_id_token(renewed["id_token"], app=app)
    assert claims["admin"] is True and claims["level"] == 7
    auth.set_custom_user_claims(uid, None, app=app)
    renewed = rest.refresh(session["refreshToken"]).json()
    assert "admin" not in auth.verify_id_token(renewed["id_token"], app=app)


def test_a_reserved_claim_is_refused(app, rest):
    _, session = rest.sign_up()
    response = rest.post(
        "/identitytoolkit.googleapis.com/v1/projects/accounts/accounts:update",
        {"localId": session["localId"], "customAttributes": '{"sub": "other"}'},
        headers={"Authorization": "Bearer owner"})
    assert response.json()["error"]["message"] == "FORBIDDEN_CLAIM : sub"


# Two names of a map that look the same: é as one character, and as e with an accent.
TWINS = {"caf\u00e9": 1, "cafe\u0301": 2}
TWINS_REFUSED = "INVALID_CLAIMS : Two names differ only in how an accent is composed."


@pytest.mark.parametrize("claims", [TWINS, {"roles": [{"by": TWINS}]}])
def test_claims_that_look_the_same_are_refused(app, auth, rest, claims):
    """A token with one of them would lose the other."""
    _, session = rest.sign_up()
    for text in [json.dumps(claims), json.dumps(claims, ensure_ascii=False)]:
        response = rest.post(
            "/identitytoolkit.googleapis.com/v1/projects/accounts/accounts:update",
            {"localId": session["localId"], "customAttributes": text},
            headers={"Authorization": "Bearer owner"})
        assert response.json()["error"]["message"] == TWINS_REFUSED
    assert auth.get_user(session["localId"], app=app).custom_claims is None
    token = auth.create_custom_token(new_id(), claims, app=app).decode()
    assert rest.refusal("signInWithCustomToken", token=token) == "INVALID_CLAIMS"
    # A name may stand in two maps, in both forms.
    apart = {"a": {"caf\u00e9": 1}, "b": {"cafe\u0301": 2}}
    auth.set_custom_user_claims(session["localId"], apart, app=app)
    assert auth.get_user(session["localId"], app=app).custom_claims == apart


def test_an_account_is_deleted(app, auth, rest):
    email, session = rest.sign_up()
    auth.delete_user(session["localId"], app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.get_user(session["localId"], app=app)
    with pytest.raises(auth.UserNotFoundError):
        auth.delete_user(session["localId"], app=app)
    assert rest.refusal("lookup", idToken=session["idToken"]) == "USER_NOT_FOUND"
    assert rest.refresh(session["refreshToken"]).status_code == 400
    # The address can be used again.
    rest.call("signUp", email=email, password="secret-2")


def test_many_are_deleted_at_once(app, auth):
    uids = [auth.create_user(app=app).uid for _ in range(3)]
    result = auth.delete_users(uids + [new_id()], app=app)
    assert (result.success_count, result.failure_count, result.errors) == (4, 0, [])
    assert auth.get_users([auth.UidIdentifier(uid) for uid in uids], app=app).users == []


def test_what_is_not_disabled_is_not_deleted_in_a_batch_without_force(rest, auth, app):
    uid = auth.create_user(app=app).uid
    response = rest.post(
        "/identitytoolkit.googleapis.com/v1/projects/accounts/accounts:batchDelete",
        {"localIds": [uid], "force": False}, headers={"Authorization": "Bearer owner"}).json()
    assert response["errors"][0]["message"].startswith("NOT_DISABLED")
    auth.get_user(uid, app=app)


def test_pages_hold_every_account_once(accounts, auth):
    import firebase_admin
    app = firebase_admin.initialize_app(options={"projectId": "pages"}, name="pages-" + new_id())
    uids = sorted(new_id() for _ in range(25))
    auth.import_users([auth.ImportUserRecord(uid) for uid in uids], app=app)
    page = auth.list_users(max_results=10, app=app)
    sizes = []
    while page:
        sizes.append(len(page.users))
        page = page.get_next_page()
    assert sizes == [10, 10, 5]
    assert [user.uid for user in auth.list_users(app=app).iterate_all()] == uids
    with pytest.raises(exceptions.InvalidArgumentError, match="INVALID_PAGE_SELECTION"):
        auth.list_users(page_token="\u00e9", app=app)


def test_an_import_names_what_it_could_not_take(app, auth):
    email, uid = new_email(), new_id()
    auth.create_user(email=email, app=app)
    result = auth.import_users([
        auth.ImportUserRecord(uid, email=new_email(), display_name="In", custom_claims={"a": 1}),
        auth.ImportUserRecord(new_id(), email=email)], app=app)
    assert (result.success_count, result.failure_count) == (1, 1)
    assert result.errors[0].index == 1
    assert "EMAIL_EXISTS" in result.errors[0].reason
    assert auth.get_user(uid, app=app).custom_claims == {"a": 1}


def hashes(auth):
    key, salt, password = b"signer-key", b"salt", b"secret-1"
    yield (auth.UserImportHash.hmac_sha256(key),
           hmac.new(key, password + salt, hashlib.sha256).digest())
    yield (auth.UserImportHash.hmac_sha512(key),
           hmac.new(key, password + salt, hashlib.sha512).digest())
    yield (auth.UserImportHash.hmac_sha1(key), hmac.new(key, password + salt, hashlib.sha1).digest())
    yield auth.UserImportHash.hmac_md5(key), hmac.new(key, password + salt, hashlib.md5).digest()
    yield auth.UserImportHash.sha256(1), hashlib.sha256(password + salt).digest()
    yield auth.UserImportHash.sha512(1), hashlib.sha512(password + salt).digest()
    yield auth.UserImportHash.sha1(1), hashlib.sha1(password + salt).digest()
    yield auth.UserImportHash.md5(0), hashlib.md5(password + salt).digest()
    yield (auth.UserImportHash.pbkdf2_sha256(1000),
           hashlib.pbkdf2_hmac("sha256", password, salt, 1000))
    yield (auth.UserImportHash.pbkdf_sha1(1000), hashlib.pbkdf2_hmac("sha1", password, salt, 1000))
    yield (auth.UserImportHash.standard_scrypt(1024, 16, 8, 64),
           hashlib.scrypt(password, salt=salt, n=1024, r=8, p=16, dklen=64))


def test_imported_passwords_sign_in(app, auth, rest):
    for number, (scheme, digest) in enumerate(hashes(auth)):
        uid, email = new_id(), new_email()
        result = auth.import_users(
            [auth.ImportUserRecord(uid, email=email, password_hash=digest, password_salt=b"salt")],
            hash_alg=scheme, app=app)
        assert result.failure_count == 0, (number, [e.reason for e in result.errors])
        assert rest.call("signInWithPassword", email=email, password="secret-1")["localId"] == uid
        assert rest.refusal("signInWithPassword", email=email, password="secret-2") == \
            "INVALID_PASSWORD", number


def test_firebase_s_own_hashes_sign_in(app, auth, rest):
    """The example of github.com/firebase/scrypt: user1password has this hash."""
    def decode(text):
        return base64.b64decode(text)
    uid, email = new_id(), new_email()
    result = auth.import_users(
        [auth.ImportUserRecord(
            uid, email=email, password_salt=decode("42xEC+ixf3L2lw=="),
            password_hash=decode("lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz"
                                 "+VHjoZilo78198JAdRuid5lQ=="))],
        hash_alg=auth.UserImportHash.scrypt(
            key=decode("jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDz"
                       "ZvpjeJ9WmXA=="),
            salt_separator=decode("Bw=="), rounds=8, memory_cost=14), app=app)
    assert result.failure_count == 0
    signed_in = rest.call("signInWithPassword", email=email, password="user1password")
    assert signed_in["localId"] == uid


def test_an_unknown_way_of_hashing_is_refused(app, auth):
    with pytest.raises(exceptions.InvalidArgumentError, match="INVALID_HASH_ALGORITHM"):
        auth.import_users(
            [auth.ImportUserRecord(new_id(), password_hash=b"x", password_salt=b"y")],
            hash_alg=auth.UserImportHash.bcrypt(), app=app)


def test_tokens_are_verified_and_revoked(app, auth, rest):
    email, session = rest.sign_up()
    claims = auth.verify_id_token(session["idToken"], app=app)
    assert claims["uid"] == claims["sub"] == session["localId"]
    assert claims["email"] == email and claims["email_verified"] is False
    assert claims["firebase"] == {
        "identities": {"email": [email]}, "sign_in_provider": "password"}
    assert claims["exp"] - claims["iat"] == 3600
    auth.verify_id_token(session["idToken"], check_revoked=True, app=app)
    # The time is in seconds: a token that was issued in the same second is still valid.
    while int(time.time()) == claims["iat"]:
        pass
    auth.revoke_refresh_tokens(session["localId"], app=app)
    with pytest.raises(auth.RevokedIdTokenError):
        auth.verify_id_token(session["idToken"], check_revoked=True, app=app)
    assert rest.refusal("lookup", idToken=session["idToken"]) == "TOKEN_EXPIRED"
    response = rest.refresh(session["refreshToken"]).json()
    assert response["error"] == {
        "code": 400, "message": "TOKEN_EXPIRED", "status": "INVALID_ARGUMENT"}


@pytest.mark.parametrize("change, ends", [
    ({"email": "NEW"}, True), ({"phone_number": "PHONE"}, True), ({"password": "secret-2"}, True),
    ({"display_name": "Ann"}, False), ({"photo_url": "http://localhost/a.png"}, False)])
def test_a_change_of_a_way_to_sign_in_ends_sessions(app, auth, rest, change, ends):
    _, session = rest.sign_up()
    claims = auth.verify_id_token(session["idToken"], app=app)
    fresh = {"NEW": f"{uuid.uuid4().hex[:12]}@example.com",
             "PHONE": f"+1555{uuid.uuid4().int % 10**7:07}"}
    # The time is in seconds: a token that was issued in the same second is still valid.
    while int(time.time()) == claims["iat"]:
        pass
    auth.update_user(
        session["localId"], app=app, **{name: fresh.get(text, text) for name, text in change.items()})
    refreshed = rest.refresh(session["refreshToken"])
    looked_up = rest.try_call("lookup", idToken=session["idToken"])
    if ends:
        assert refreshed.json()["error"]["message"] == "TOKEN_EXPIRED"
        assert looked_up.json()["error"]["message"] == "TOKEN_EXPIRED"
        with pytest.raises(auth.RevokedIdTokenError):
            auth.verify_id_token(session["idToken"], check_revoked=True, app=app)
    else:
        assert refreshed.status_code == looked_up.status_code == 200


def test_a_disabled_account_s_token_is_refused(app, auth, rest):
    email, session = rest.sign_up()
    auth.update_user(session["localId"], disabled=True, app=app)
    with pytest.raises(auth.UserDisabledError):
        auth.verify_id_token(session["idToken"], check_revoked=True, app=app)
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") == "USER_DISABLED"
    assert rest.refresh(session["refreshToken"]).json()["error"]["message"] == "USER_DISABLED"


def test_another_project_s_token_is_refused(app, auth, rest, accounts):
    response = rest.post(
        "/identitytoolkit.googleapis.com/v1/projects/elsewhere/accounts:signUp?key=any").json()
    with pytest.raises(auth.InvalidIdTokenError):
        auth.verify_id_token(response["idToken"], app=app)
    assert rest.refusal("lookup", idToken=response["idToken"]) == "INVALID_ID_TOKEN"


def test_a_session_s_cookie(app, auth, rest):
    _, session = rest.sign_up()
    cookie = auth.create_session_cookie(session["idToken"], expires_in=600, app=app)
    claims = auth.verify_session_cookie(cookie, check_revoked=True, app=app)
    assert claims["uid"] == session["localId"]
    assert claims["iss"] == "https://session.firebase.google.com/accounts"
    assert claims["exp"] - claims["iat"] == 600
    with pytest.raises(auth.InvalidIdTokenError):
        auth.create_session_cookie("no.token.atall", expires_in=600, app=app)
    # A cookie is not an ID token.
    assert rest.refusal("lookup", idToken=cookie) == "INVALID_ID_TOKEN"
    while int(time.time()) == claims["iat"]:
        pass
    auth.revoke_refresh_tokens(session["localId"], app=app)
    with pytest.raises(auth.RevokedSessionCookieError):
        auth.verify_session_cookie(cookie, check_revoked=True, app=app)


def test_a_custom_token_signs_in(app, auth, rest):
    uid = new_id()
    token = auth.create_custom_token(uid, {"role": "guest"}, app=app).decode()
    session = rest.call("signInWithCustomToken", token=token, returnSecureToken=True)
    assert session["isNewUser"] is True and "localId" not in session
    claims = auth.verify_id_token(session["idToken"], app=app)
    assert claims["uid"] == uid and claims["role"] == "guest"
    assert claims["firebase"] == {"identities": {}, "sign_in_provider": "custom"}
    renewed = rest.refresh(session["refreshToken"]).json()
    assert auth.verify_id_token(renewed["id_token"], app=app)["role"] == "guest"
    assert rest.call("signInWithCustomToken", token=token)["isNewUser"] is False


def code_of(link):
    return link.split("oobCode=")[1].split("&")[0]


def test_a_link_resets_a_password(app, auth, rest):
    email, session = rest.sign_up()
    link = auth.generate_password_reset_link(
        email, auth.ActionCodeSettings("https://example.com/?a=b&c=d"), app=app)
    assert "continueUrl=https%3A%2F%2Fexample.com%2F%3Fa%3Db%26c%3Dd" in link
    code = code_of(link)
    about = rest.call("resetPassword", oobCode=code)
    assert (about["email"], about["requestType"]) == (email, "PASSWORD_RESET")
    assert rest.refusal("resetPassword", oobCode=code, newPassword="short") == "WEAK_PASSWORD"
    rest.call("resetPassword", oobCode=code, newPassword="secret-2")
    assert rest.refusal("resetPassword", oobCode=code, newPassword="secret-3") == "INVALID_OOB_CODE"
    rest.call("signInWithPassword", email=email, password="secret-2")
    assert rest.refusal("signInWithPassword", email=email, password="secret-1") == "INVALID_PASSWORD"
    with pytest.raises(auth.EmailNotFoundError):
        auth.generate_password_reset_link(new_email(), app=app)


def test_a_link_verifies_an_address(app, auth, rest):
    email, session = rest.sign_up()
    code = code_of(auth.generate_email_verification_link(email, app=app))
    assert rest.call("update", oobCode=code)["emailVerified"] is True
    assert auth.get_user(session["localId"], app=app).email_verified
    assert rest.refusal("update", oobCode=code) == "INVALID_OOB_CODE"


def test_a_link_signs_in(app, auth, rest):
    email = new_email()
    link = auth.generate_sign_in_with_email_link(
        email, auth.ActionCodeSettings("https://example.com", handle_code_in_app=True), app=app)
    session = rest.call("signInWithEmailLink", email=email, oobCode=code_of(link))
    assert session["isNewUser"] is True
    user = auth.get_user(session["localId"], app=app)
    assert user.email == email and user.email_verified


def test_codes_are_listed_for_tools(app, rest, accounts):
    email, _ = rest.sign_up()
    rest.call("sendOobCode", requestType="PASSWORD_RESET", email=email)
    codes = rest.session.get(rest.base + "/emulator/v1/projects/accounts/oobCodes").json()
    mine = [code for code in codes["oobCodes"] if code["email"] == email]
    assert mine[0]["requestType"] == "PASSWORD_RESET"
    assert mine[0]["oobCode"] in mine[0]["oobLink"]
    assert rest.session.get(rest.base + "/emulator/v1/projects/other/oobCodes").json() == {
        "oobCodes": []}


def test_openid_providers(app, auth):
    provider = "oidc." + uuid.uuid4().hex[:8]
    made = auth.create_oidc_provider_config(
        provider, client_id="client", issuer="https://example.com", display_name="Ours",
        enabled=True, client_secret="hidden", id_token_response_type=False,
        code_response_type=True, app=app)
    assert (made.provider_id, made.client_id, made.issuer) == (
        provider, "client", "https://example.com")
    got = auth.get_oidc_provider_config(provider, app=app)
    assert got.display_name == "Ours" and got.enabled and got.code_response_type
    changed = auth.update_oidc_provider_config(
        provider, client_id="other", display_name=auth.DELETE_ATTRIBUTE, enabled=False, app=app)
    assert changed.client_id == "other" and changed.display_name is None and not changed.enabled
    assert changed.issuer == "https://example.com"
    listed = auth.list_oidc_provider_configs(app=app).iterate_all()
    assert provider in {each.provider_id for each in listed}
    auth.delete_oidc_provider_config(provider, app=app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.get_oidc_provider_config(provider, app=app)


def test_saml_providers(app, auth):
    provider = "saml." + uuid.uuid4().hex[:8]
    made = auth.create_saml_provider_config(
        provider, idp_entity_id="IDP", sso_url="https://example.com/sso",
        x509_certificates=["one", "two"], rp_entity_id="RP",
        callback_url="https://example.com/back", display_name="Ours", enabled=True, app=app)
    assert made.x509_certificates == ["one", "two"] and made.rp_entity_id == "RP"
    assert auth.get_saml_provider_config(provider, app=app).idp_entity_id == "IDP"
    changed = auth.update_saml_provider_config(provider, idp_entity_id="NEW", app=app)
    assert changed.idp_entity_id == "NEW" and changed.sso_url == "https://example.com/sso"
    pages = [auth.list_saml_provider_configs(max_results=1, app=app)]
    while pages[-1].has_next_page:
        pages.append(pages[-1].get_next_page())
    listed = {each.provider_id for page in pages for each in page.provider_configs}
    assert provider in listed
    auth.delete_saml_provider_config(provider, app=app)
    with pytest.raises(auth.ConfigurationNotFoundError):
        auth.delete_saml_provider_config(provider, app=app)
