import Foundation
import TidemarkHTTPClient
import TidemarkResilience

/// The objects of one bucket, in Cloud Storage or in `tidemark serve`. Reads metadata alone.
package struct ObjectDirectory: Sendable {
    /// Source: Cloud Storage, `objects.list`, the maximum of `maxResults`.
    static let pageSize = 1_000
    package static let cloud = "https://storage.googleapis.com"

    /// Four attempts: a list of many pages must survive a server that fails for some seconds.
    private static let policy = RetryPolicy(
        maxRetries: 3, initialDelay: .seconds(1), factor: 2, maximumDelay: .seconds(8),
        jitter: .equal, attemptTimeout: .seconds(30), waitsForNetwork: false)

    private let base: String
    private let bucket: String
    private let http: AuditHTTP

    /// - Parameters:
    ///   - bucket: The bucket's name.
    ///   - base: The address of the service, without a slash at its end.
    ///   - tokens: Returns tokens of a service account with the role `roles/storage.objectViewer`;
    ///     `owner` for a local server.
    package init(
        bucket: String, base: String = ObjectDirectory.cloud,
        tokens: @escaping AccountDirectory.Tokens
    ) {
        self.bucket = bucket
        self.base = base
        http = AuditHTTP(service: "Storage at \(base)", tokens: tokens)
    }

    struct Page: Sendable {
        let objects: [AuditedObject]
        let next: String?
    }

    /// Returns a page of objects, in the byte order of their names.
    func page(withPrefix prefix: String, after mark: String?) async throws -> Page {
        var query = "maxResults=\(Self.pageSize)&fields=nextPageToken,items(name,size,timeCreated)"
        if !prefix.isEmpty { query += "&prefix=\(Self.escaped(prefix))" }
        if let mark { query += "&pageToken=\(Self.escaped(mark))" }
        let answer = try await get("?\(query)")
        if answer.status == 404 { throw AuditError("There is no bucket \(bucket).") }
        let reply: ListReply = try decoded(answer)
        return Page(objects: try (reply.items ?? []).map(audited), next: reply.nextPageToken)
    }

    /// Returns an object; nil if there is none.
    func object(_ name: String) async throws -> AuditedObject? {
        let answer = try await get("/\(Self.escaped(name))?fields=name,size,timeCreated")
        return answer.status == 404 ? nil : try audited(try decoded(answer))
    }

    // MARK: HTTP

    private struct Resource: Decodable {
        let name: String
        let size: String?
        let timeCreated: String?
    }

    private struct ListReply: Decodable {
        let items: [Resource]?
        let nextPageToken: String?
    }

    private var unexpected: AuditError { AuditError("\(http.service) sent an unexpected answer.") }

    private func audited(_ resource: Resource) throws -> AuditedObject {
        // Google's times are UTC. Their fractions of a second do not matter here.
        let time = resource.timeCreated.map { $0.prefix(19) + "Z" }
        guard let size = resource.size.flatMap({ Int64($0) }), let time,
            let date = try? Date(String(time), strategy: .iso8601)
        else { throw unexpected }
        return AuditedObject(
            name: resource.name, size: size, createdAt: Int64(date.timeIntervalSince1970))
    }

    private func decoded<Reply: Decodable>(_ answer: HTTPAnswer) throws -> Reply {
        guard answer.status == 200 else { throw http.refusal(answer) }
        guard let reply = try? JSONDecoder().decode(Reply.self, from: Data(answer.body)) else {
            throw unexpected
        }
        return reply
    }

    private func get(_ path: String) async throws -> HTTPAnswer {
        let address = "\(base)/storage/v1/b/\(Self.escaped(bucket))/o\(path)"
        do {
            return try await Retry(Self.policy).run {
                let answer = try await http.answer(to: "GET", address)
                let status = answer.status
                if status == 408 || status == 429 || status >= 500 {
                    throw HTTPStatusError(status, retryAfter: answer.field("retry-after"))
                }
                return answer
            }
        } catch let error as RetryError {
            if let last = error.last as? AuditError { throw last }
            throw AuditError("\(http.service): \(error.last.map { "\($0)" } ?? "late")")
        }
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
