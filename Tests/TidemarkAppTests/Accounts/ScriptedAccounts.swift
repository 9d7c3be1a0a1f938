import Foundation
import Synchronization

@testable import TidemarkApp

/// An accounts server that keeps accounts in memory. A test can make it lose requests and answers.
final class ScriptedAccounts: AccountsTransport {
    enum Fault: Hashable { case lostAnswer, neverSent }

    private struct Account {
        var id: String
        var email: String?
        var password: String?
        var subject: String?
        var generation = 0
    }

    private struct State {
        var accounts: [Account] = []
        var made = 0
        var requests: [String] = []
        var faults: [String: [Fault]] = [:]
        var refusals: [String: String] = [:]
        var gate: [CheckedContinuation<Void, Never>]?
        var generation = 0
        var revoked: [[String]] = []
    }

    private let state = Mutex(State())

    /// The provider, kind and text of each revoked token.
    var revoked: [[String]] { state.withLock { $0.revoked } }
    /// The received calls in order, as in `accounts:signUp` and `token`.
    var requests: [String] { state.withLock { $0.requests } }
    var accounts: Int { state.withLock { $0.accounts.count } }
    /// The number of accounts ever made.
    var made: Int { state.withLock { $0.made } }

    /// Sets the faults of the next calls with this name.
    func fail(_ call: String, _ faults: Fault...) {
        state.withLock { $0.faults[call, default: []] += faults }
    }

    /// Refuses each call of this name with `word`; nil ends the refusals.
    func refuse(_ call: String, _ word: String?) { state.withLock { $0.refusals[call] = word } }

    func removeAll() { state.withLock { $0.accounts = [] } }

    /// Holds all calls until ``release()``.
    func hold() { state.withLock { $0.gate = [] } }

    func release() {
        let waiting = state.withLock { state in
            defer { state.gate = nil }
            return state.gate ?? []
        }
        for caller in waiting { caller.resume() }
    }

    func send(
        _ request: AccountsRequest
    ) async throws(AccountsUnreachable) -> AccountsReply {
        let call = String(request.path.split(separator: "/").last ?? "")
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.requests.append(call)
                state.gate?.append(continuation)
                return state.gate != nil
            }
            if !isHeld { continuation.resume() }
        }
        let fault = state.withLock { state -> Fault? in
            guard let faults = state.faults[call], !faults.isEmpty else { return nil }
            return state.faults[call]?.removeFirst()
        }
        if fault == .neverSent { throw AccountsUnreachable("never sent") }
        let reply = answer(call, Self.fields(request.body))
        if fault == .lostAnswer { throw AccountsUnreachable("lost") }
        return reply
    }

    private static func fields(_ body: [UInt8]) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) ?? [:]
    }

    private func answer(_ call: String, _ fields: [String: Any]) -> AccountsReply {
        state.withLock { state in
            if let word = state.refusals[call] { return Self.refusal(word) }
            let email = fields["email"] as? String
            let password = fields["password"] as? String
            let token = fields["idToken"] as? String
            let owner = token.flatMap { token in
                state.accounts.firstIndex { token.contains("-\($0.id)-") }
            }
            switch call {
            case "accounts:signUp":
                if email != nil, state.accounts.contains(where: { $0.email == email }) {
                    return Self.refusal("EMAIL_EXISTS")
                }
                if let password, password.count < 6 {
                    return Self.refusal(
                        "WEAK_PASSWORD : Password should be at least 6 characters")
                }
                state.made += 1
                state.accounts.append(
                    Account(id: "u\(state.made)", email: email, password: password))
                return Self.session(&state, state.accounts.count - 1)
            case "accounts:signInWithPassword":
                guard
                    let index = state.accounts.firstIndex(where: {
                        $0.email == email && $0.password == password
                    })
                else { return Self.refusal("INVALID_LOGIN_CREDENTIALS") }
                return Self.session(&state, index)
            case "accounts:signInWithIdp":
                let subject = Self.subject(fields["postBody"] as? String)
                if let index = state.accounts.firstIndex(where: { $0.subject == subject }) {
                    return Self.session(&state, index)
                }
                state.made += 1
                state.accounts.append(Account(id: "u\(state.made)", subject: subject))
                return Self.session(&state, state.accounts.count - 1, isNew: true)
            case "accounts:delete":
                guard let owner else { return Self.refusal("USER_NOT_FOUND") }
                state.accounts.remove(at: owner)
                return AccountsReply(status: 200, body: Array("{}".utf8))
            case "accounts:revokeToken":
                if owner == nil { return Self.refusal("INVALID_ID_TOKEN") }
                state.revoked.append(
                    ["providerId", "tokenType", "token"].map { fields[$0] as? String ?? "" })
                return AccountsReply(status: 200, body: Array("{}".utf8))
            case "accounts:lookup":
                guard let owner else { return Self.refusal("USER_NOT_FOUND") }
                let account = state.accounts[owner]
                return Self.json(["users": [["localId": account.id, "email": account.email ?? ""]]])
            case "accounts:update":
                guard let owner else { return Self.refusal("USER_NOT_FOUND") }
                state.accounts[owner].email = email
                state.accounts[owner].password = password
                return Self.session(&state, owner)
            case "token":
                let text = fields["refresh_token"] as? String ?? ""
                guard
                    let index = state.accounts.firstIndex(where: { text.contains("-\($0.id)-") })
                else { return Self.refusal("USER_NOT_FOUND") }
                state.generation += 1
                return Self.json([
                    "id_token": "id-\(state.accounts[index].id)-\(state.generation)",
                    "refresh_token": "refresh-\(state.accounts[index].id)-\(state.generation)",
                    "expires_in": "3600", "user_id": state.accounts[index].id,
                ])
            default: return Self.refusal("UNKNOWN")
            }
        }
    }

    /// Returns the subject of an Apple token, whatever its nonce, or the whole text of another
    /// body.
    private static func subject(_ body: String?) -> String? {
        let token = body?.split(separator: "&").first?.dropFirst("id_token=".count)
        guard let token, let claims = TokenClaims.read([String: String].self, from: String(token))
        else { return body }
        return claims["sub"]
    }

    private static func session(
        _ state: inout State, _ index: Int, isNew: Bool = false
    ) -> AccountsReply {
        state.generation += 1
        let id = state.accounts[index].id
        return json([
            "localId": id, "idToken": "id-\(id)-\(state.generation)",
            "refreshToken": "refresh-\(id)-\(state.generation)", "expiresIn": "3600",
            "isNewUser": isNew,
        ])
    }

    private static func json(_ object: [String: Any]) -> AccountsReply {
        let data = (try? JSONSerialization.data(withJSONObject: object)) ?? Data()
        return AccountsReply(status: 200, body: [UInt8](data))
    }

    private static func refusal(_ word: String) -> AccountsReply {
        var reply = json(["error": ["code": 400, "message": word]])
        reply.status = 400
        return reply
    }
}

/// A folder that is deleted with this object.
final class TestFolder {
    let path: String

    init() {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-" + UUID().uuidString).path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

/// Keeps secrets in memory. A test can make the store fail.
final class ScriptedStore: CredentialStore {
    private struct State {
        var secrets: [CredentialKey: [UInt8]] = [:]
        var error: CredentialStoreError?
    }

    private let state = Mutex(State())

    func fail(_ error: CredentialStoreError?) { state.withLock { $0.error = error } }

    func read(_ key: CredentialKey) throws(CredentialStoreError) -> [UInt8]? {
        let state = state.withLock { $0 }
        if let error = state.error { throw error }
        return state.secrets[key]
    }

    func write(_ key: CredentialKey, _ secret: [UInt8]?) throws(CredentialStoreError) {
        let error = state.withLock { state in
            if state.error == nil { state.secrets[key] = secret }
            return state.error
        }
        if let error { throw error }
    }
}
