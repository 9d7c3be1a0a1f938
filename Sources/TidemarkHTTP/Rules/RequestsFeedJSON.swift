import Foundation
import TidemarkModel
import TidemarkRules
import TidemarkServer

/// A judged request in the form of the emulator's feed.
struct FeedEntry: Encodable {
    struct Context: Encodable {
        let request: ExpressionValue
        let resource: ExpressionValue?
        let path: String
        let method: String
        let time: String
    }

    struct LineOutcome: Encodable {
        let line: Int
        let outcome: String
    }

    let rulesContext: Context
    let outcome: String
    let requestId: String
    let granularAllowOutcomes: [LineOutcome]
    let rulesReleaseName: String
    let time: String

    init(_ request: JudgedRequest) {
        let variables = request.judgement?.variables
        let bare = RulesMap([
            ("auth", request.uid.map { .map(RulesMap([("uid", .string($0))])) } ?? .null),
            ("method", .string(request.method.rawValue)),
            ("time", .timestamp(request.time)),
        ])
        time = request.time.rfc3339
        rulesContext = Context(
            request: ExpressionValue(variables?.request ?? .map(bare)),
            resource: variables?.resource.map(ExpressionValue.init),
            path: "/databases/\(request.database.database)/documents/\(request.path)",
            method: request.method.rawValue, time: time)
        let isError = request.outcomes.contains { $0.outcome == .error }
        outcome = request.isAllowed ? "allow" : isError ? "error" : "deny"
        requestId = "\(request.number)"
        granularAllowOutcomes = request.outcomes.map {
            LineOutcome(line: $0.line, outcome: $0.outcome.rawValue)
        }
        rulesReleaseName = "projects/\(request.database.project)/releases/cloud.firestore"
    }

    static func text(of entries: [FeedEntry]) -> Data { encoded(entries) }

    var text: Data { Self.encoded(self) }

    private static func encoded(_ value: some Encodable) -> Data {
        // Numbers that JSON cannot represent are already texts.
        return Data((try? JSONValueEncoder(isSorted: true).encode(value)) ?? Array("[]".utf8))
    }
}
