import Foundation
import TidemarkModel
import TidemarkServer

/// Messages are sent, the app is killed among them, started again, and goes on.
struct SendRow: ScenarioRow {
    private let messages: [HistoryEvent]

    init(_ messages: [HistoryEvent]) {
        precondition(messages.count >= 2)
        self.messages = messages
    }

    let slug = "send"
    var name: String { "send \(messages.count) messages, the app killed (-9) among them" }
    var bar: Bar {
        var bar = Bar(
            reads: 0, showsContentOffline: false,
            most: ["out of order": 0, "sent twice": 0, "not journalled": 0])
        for network in [DemoNetwork.healthy, .threeG] { bar.mostOn[network] = ["send ms": 2_000] }
        return bar
    }
    var seed: [Mutation] { Side.allCases.map { Conversation.begin(conversation($0)) } }

    private func conversation(_ side: Side) -> String { "sent-\(side.rawValue)" }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let texts = visit.place.folder.appendingPathComponent("texts.json")
        try JSONEncoder().encode(messages).write(to: texts)
        let app = SendingApp(
            side: side, texts: texts, conversation: conversation(side), visit: visit)
        let first = try await app.run(from: 0, killedAfter: messages.count / 2)
        var acknowledged = first.acknowledged
        // Its network is back in a minute at the most; it is not told.
        let rest = try await app.run(from: acknowledged, killedAfter: nil)
        acknowledged += rest.acknowledged
        visit.isUpToDate()
        visit.measured("not journalled", Double(messages.count - acknowledged))
        if let sent = (first.sent + rest.sent).median { visit.measured("send ms", sent) }
        if let told = (first.told + rest.told).median { visit.measured("told ms", told) }
        return try await judge(side, visit)
    }

    /// What is on the server in the end is compared with what the user has sent.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let ids = messages.map { SendCommand.id(of: $0, in: conversation(side)) }
        return Truth(living: Dictionary(uniqueKeysWithValues: ids.map { ($0, .min) }))
    }

    private func judge(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let conversation = conversation(side)
        let documents = try await visit.direct.documents(of: Conversation.query(conversation))
        let places = Dictionary(
            uniqueKeysWithValues: messages.enumerated().map {
                (SendCommand.id(of: $0.element, in: conversation), $0.offset)
            })
        let order = documents.sorted { $0.createTime < $1.createTime }.map {
            places[$0.path.id] ?? -1
        }
        visit.measured("out of order", Double(zip(order, order.dropFirst()).count { $0 > $1 }))
        let sent = try await visit.direct.documents(in: Conversation.conversations)
            .first { $0.path.id == conversation }?.fields[SendCommand.counter]
        let commits = if case .integer(let count)? = sent { Int(count) } else { 0 }
        visit.measured("sent twice", Double(max(0, commits - documents.count)))
        return documents.map { ShownItem(id: $0.path.id, version: .min) }
    }
}

extension [Double] {
    fileprivate var median: Double? { isEmpty ? nil : sorted()[(count - 1) / 2] }
}

/// The app that sends, in a process of its own, so that it can be killed.
private struct SendingApp {
    struct Run {
        var acknowledged = 0
        /// In milliseconds: until the server had a message, and until the person was told that it is
        /// safe.
        var sent: [Double] = []
        var told: [Double] = []
    }

    let side: Side
    let texts: URL
    let conversation: String
    let visit: Visit

    /// - Parameter count: How many messages it acknowledges to the user before it is killed; nil for
    ///   all there are.
    func run(from first: Int, killedAfter count: Int?) async throws -> Run {
        let app = AppProcess([
            "demo", "send", "--side", side.rawValue, "--texts", texts.path, "--first", "\(first)",
            "--conversation", conversation, "--user", visit.place.user,
            "--port", "\(visit.place.port)", "--label", visit.label,
            "--cache", visit.place.folder.appendingPathComponent("cache").path,
        ])
        var run = Run()
        for await words in try app.start() {
            switch words.first {
            case "acknowledged":
                run.acknowledged += 1
                if run.acknowledged == count { app.kill() }
            case "sent": run.sent.append(words.last.flatMap(Double.init) ?? .infinity)
            case "told": run.told.append(words.last.flatMap(Double.init) ?? .infinity)
            default: break
            }
        }
        return run
    }
}
