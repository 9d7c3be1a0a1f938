import Foundation
import TidemarkHTTPClient

/// An administrator's access to a project's accounts, in Firebase Authentication's own service or
/// in `tidemark serve`.
public struct AccountDirectory: Sendable {
    /// The address without a slash at its end, for example
    /// `http://127.0.0.1:9099/identitytoolkit.googleapis.com`.
    private let base: String
    private let project: String
    private let http: AuditHTTP
    /// The maximum number of accounts in one page and in one deletion. Source: Firebase,
    /// `listUsers` and `getUsers`.
    static let pageSize = 1_000
    static let lookupSize = 100

    /// Returns the administrator's token for a call; never the token that a server has refused.
    public typealias Tokens = @Sendable (_ refused: String?) async throws -> String

    /// - Parameters:
    ///   - project: The project's id.
    ///   - host: The address `HOST:PORT` of a server without TLS; nil for Google's service.
    ///   - token: The administrator's token: `owner` for an emulator.
    public init(project: String, host: String?, token: String) {
        self.init(
            project: project,
            base: host.map { "http://\($0)/identitytoolkit.googleapis.com" } ?? Self.cloud,
            tokens: { _ in token })
    }

    /// Accesses Google's service as a service account with the permissions `firebaseauth.users.*`.
    ///
    /// - Parameters:
    ///   - project: The project's id.
    ///   - base: The address of the service, without a slash at its end.
    ///   - tokens: Returns tokens of the service account, which can expire during a long audit.
    public init(
        project: String, base: String = AccountDirectory.cloud, tokens: @escaping Tokens
    ) {
        self.base = base
        self.project = project
        http = AuditHTTP(service: "The accounts at \(base)", tokens: tokens)
    }

    public static let cloud = "https://identitytoolkit.googleapis.com"

    struct Page: Sendable {
        let ids: [String]
        let next: String?
    }

    /// Returns a page of ids, in their byte order.
    func page(after mark: String?) async throws -> Page {
        var path = "accounts:batchGet?maxResults=\(Self.pageSize)"
        path += "&fields=nextPageToken,users.localId"
        if let mark { path += "&nextPageToken=\(Self.escaped(mark))" }
        let reply: ListReply = try await call("GET", path: path)
        // Google's service also returns a page token for a full last page; an empty page follows.
        return Page(ids: (reply.users ?? []).map(\.localId), next: reply.nextPageToken)
    }

    /// Returns the existing accounts among `ids`, with their creation times in seconds since 1970.
    func known(_ ids: [String]) async throws -> [String: Int64] {
        precondition(ids.count <= Self.lookupSize)
        let reply: ListReply = try await call(
            "POST", path: "accounts:lookup", body: ["localId": ids])
        var known: [String: Int64] = [:]
        for user in reply.users ?? [] {
            known[user.localId] = (user.createdAt.flatMap { Int64($0) } ?? 0) / 1_000
        }
        return known
    }

    private struct Deletion: Encodable {
        let localIds: [String]
        let force: Bool
    }

    func delete(_ ids: [String]) async throws {
        precondition(ids.count <= Self.pageSize)
        let _: ListReply = try await call(
            "POST", path: "accounts:batchDelete", body: Deletion(localIds: ids, force: true))
    }

    // MARK: HTTP

    private struct ListReply: Decodable {
        struct User: Decodable {
            let localId: String
            let createdAt: String?
        }

        struct Failure: Decodable { let message: String? }

        let users: [User]?
        let nextPageToken: String?
        let errors: [Failure]?
    }

    private func call<T: Decodable>(
        _ method: String, path: String, body: (some Encodable & Sendable)? = [String]?.none
    ) async throws -> T {
        let sent = try body.map { [UInt8](try JSONEncoder().encode($0)) }
        let answer = try await http.answer(
            to: method, "\(base)/v1/projects/\(project)/\(path)", body: sent)
        guard answer.status == 200 else { throw http.refusal(answer, to: method) }
        guard let reply = try? JSONDecoder().decode(T.self, from: Data(answer.body)) else {
            throw AuditError("\(http.service) sent an unexpected answer.")
        }
        return reply
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
