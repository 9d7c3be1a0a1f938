import Foundation
import TidemarkHTTPClient
import TidemarkModel
import TidemarkResilience

/// A webhook that receives audit reports: of a chat, or of a service of yours.
public struct AuditWebhook: Sendable {
    /// Three attempts, 10 s each.
    private static let policy = RetryPolicy(
        maxRetries: 2, initialDelay: .seconds(1), factor: 2, maximumDelay: .seconds(4),
        jitter: .equal, attemptTimeout: .seconds(10), waitsForNetwork: false)

    private static let session = HTTPSession(maxRedirects: 5, silence: .seconds(10))

    private let address: String

    /// Returns nil if the address is not an `http` or `https` URL.
    public init?(_ address: String) {
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme),
            url.host() != nil
        else { return nil }
        self.address = address
    }

    private struct Message: Encodable {
        /// The text for chats, which show only this field.
        let text: String
        let count, profilesWithoutAccount: Int
        let userIds: [String]
        let detectedAt: String
    }

    /// Posts a report in the form of the report's document, with a `text` for chats and at most
    /// 1,000 ids.
    ///
    /// - Throws: ``AuditError`` if no attempt succeeds.
    public func post(_ report: OrphanReport) async throws {
        let accounts = report.accountsWithoutProfile
        let time = Date(timeIntervalSince1970: Double(report.detectedAt.seconds))
        let message = Message(
            text: "\(accounts.count) accounts without a profile, "
                + "\(report.profilesWithoutAccount.count) profiles without an account.",
            count: accounts.count, profilesWithoutAccount: report.profilesWithoutAccount.count,
            userIds: Array(accounts.ids.prefix(1_000)),
            detectedAt: ISO8601DateFormatter().string(from: time))
        let request = HTTPRequest(
            "POST", address, fields: [("content-type", "application/json")],
            body: [UInt8](try JSONEncoder().encode(message)))
        do {
            try await Retry(Self.policy).run {
                let answer = try await Self.session.head(of: request)
                guard (200..<300).contains(answer.status) else {
                    throw HTTPStatusError(
                        answer.status, retryAfter: answer.field("retry-after"))
                }
            }
        } catch let error as RetryError {
            throw AuditError(
                "The webhook rejected the report: \(error.last.map { "\($0)" } ?? "late")")
        }
    }
}
