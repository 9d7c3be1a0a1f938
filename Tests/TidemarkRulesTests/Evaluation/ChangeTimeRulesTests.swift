import Foundation
import Testing
import TidemarkModel
import TidemarkRules

/// The rules of the article *Data that is there*, which demand a change time.
struct `Rules that demand a change time` {
    private let time = Timestamp(seconds: 1_790_000_000, nanoseconds: 0)
    private var now: Value {
        .pendingServerTimestamp(localWriteTime: time, previous: nil)
    }

    /// Returns a sandbox with the article's rules and one post.
    private func sandbox() throws -> RulesSandbox {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Sources/TidemarkApp/TidemarkApp.docc/DataThatIsThere.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let start = try #require(text.range(of: "```\nfunction isDated()"))
        let end = try #require(text.range(of: "\n```", range: start.upperBound..<text.endIndex))
        let body = text[text.index(start.lowerBound, offsetBy: 4)..<end.lowerBound]
        var sandbox = try RulesSandbox(
            """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
            \(body)
              }
            }
            """, at: time)
        let old = Timestamp(seconds: 1_780_000_000, nanoseconds: 0)
        sandbox["posts/a"] = ["text": .string("x"), "updatedAt": .timestamp(old)]
        sandbox["posts/none"] = ["text": .string("x")]
        return sandbox
    }

    @Test func `allow writes with the server's time`() throws {
        let rules = try sandbox()
        for operation in [
            RulesOperation.create("posts/b", ["text": .string("y"), "updatedAt": now]),
            .update("posts/a", ["text": .string("y"), "updatedAt": now]),
            .update("posts/none", ["deletedAt": now, "updatedAt": now]),
            .set("posts/a", ["text": .string("y"), "updatedAt": now]),
        ] { #expect(rules.refusal(of: operation, as: .nobody) == nil, "\(operation)") }
    }

    @Test func `refuse writes without it, with a device's time, and deletes`() throws {
        let rules = try sandbox()
        let later = Timestamp(seconds: time.seconds, nanoseconds: 1_000_000)
        for operation in [
            RulesOperation.create("posts/b", ["text": .string("y")]),
            .create("posts/b", ["text": .string("y"), "updatedAt": .timestamp(later)]),
            .create("posts/b", ["text": .string("y"), "updatedAt": .null]),
            // The old time stays, so nobody learns of the change.
            .update("posts/a", ["text": .string("y")]),
            .update("posts/none", ["text": .string("y")]),
            .set("posts/a", ["text": .string("y")]),
            .delete("posts/a"),
            .batch([
                .update("posts/a", ["text": .string("y"), "updatedAt": now]),
                .update("posts/none", ["text": .string("y")]),
            ]),
        ] { #expect(rules.refusal(of: operation, as: .nobody) != nil, "\(operation)") }
    }
}
