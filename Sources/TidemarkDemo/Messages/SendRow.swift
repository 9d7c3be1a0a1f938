import Foundation
import Tidemark
import TidemarkModel
import TidemarkServer

/// Messages are sent, the app is killed while it sends, is started again, and continues. The row
/// does this three times, because sends take different times on a network that loses packets.
struct SendRow: ScenarioRow {
    private static let kills = 3

    private let messages: [HistoryEvent]
    /// The number of messages that are sent around one kill.
    private let together: Int

    /// - Parameter messages: The messages of all kills: the same number for each, at least 2.
    init(_ messages: [HistoryEvent]) {
        together = messages.count / Self.kills
        precondition(together >= 2 && messages.count.isMultiple(of: Self.kills))
        // The number in the text identifies each message on the server.
        self.messages = messages.enumerated().map { number, event in
            HistoryEvent(
                id: event.id, author: event.author, authoredAt: event.authoredAt,
                committedAt: event.committedAt, text: "\(number + 1). \(event.text)")
        }
    }

    let slug = "send"
    var name: String {
        "send \(together) messages, the app killed (-9) among them, \(Self.kills) times"
    }
    var bar: Bar {
        var bar = Bar(
            reads: 0, showsContentOffline: false,
            most: ["out of order": 0, "sent twice": 0, "not journalled": 0])
        // The round trips take 1.5 s on 3G.
        for network in [DemoNetwork.healthy, .threeG] { bar.timesOn[network] = ["send ms": 2_000] }
        return bar
    }
    var seed: [Mutation] { sides.map { Conversation.begin(conversation($0)) } }

    private func conversation(_ side: Side) -> String { "sent-\(side.rawValue)" }

    /// Predicts no reads.
    func forecast(_ firestore: Firestore) async throws -> Forecast? { Forecast() }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        var (acknowledged, sent, told) = (0, [Double](), [Double]())
        for start in stride(from: 0, to: messages.count, by: together) {
            let texts = visit.place.folder.appendingPathComponent("texts-\(start).json")
            try JSONEncoder().encode(Array(messages[start..<(start + together)])).write(to: texts)
            let app = SendingApp(
                side: side, texts: texts, conversation: conversation(side), visit: visit,
                start: try await visit.direct.now())
            // The same event ends both apps, so the second process of each begins with the same
            // number of waiting messages.
            let first = try await app.run(from: 0, killedAfter: together / 2)
            // The network is back within a minute. The app is not informed.
            let rest = try await app.run(from: first.acknowledged, killedAfter: nil)
            acknowledged += first.acknowledged + rest.acknowledged
            sent += first.sent + rest.sent
            told += first.told + rest.told
        }
        visit.isUpToDate()
        visit.measured("not journalled", Double(messages.count - acknowledged))
        if let sent = sent.median { visit.measured("send ms", sent) }
        if let told = told.median { visit.measured("told ms", told) }
        return try await judge(side, visit)
    }

    /// Returns the sent messages, which the server must have at the end.
    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(living: Dictionary(uniqueKeysWithValues: messages.map { ($0.text, .min) }))
    }

    /// Compares the messages on the server with the sent ones. A message that was sent twice would
    /// exist twice, or have an update time after its creation.
    private func judge(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let sent = Conversation.query(conversation(side))
        let documents = try await visit.direct.documents(of: sent)
            .sorted { $0.createTime < $1.createTime }
        let texts = documents.map { document in
            if case .string(let text)? = document.fields[ItemFields.text] { text } else { "" }
        }
        let places = Dictionary(
            uniqueKeysWithValues: messages.enumerated().map { ($0.element.text, $0.offset) })
        let order = texts.map { places[$0] ?? -1 }
        visit.measured("out of order", Double(zip(order, order.dropFirst()).count { $0 > $1 }))
        let rewritten = documents.count { $0.updateTime != $0.createTime }
        visit.measured("sent twice", Double(texts.count - Set(texts).count + rewritten))
        return texts.map { ShownItem(id: $0, version: .min) }
    }
}

extension [Double] {
    fileprivate var median: Double? { isEmpty ? nil : sorted()[(count - 1) / 2] }
}

/// The app that sends, in a separate process, which the demo can kill.
private struct SendingApp {
    struct Run {
        var acknowledged = 0
        /// The times in milliseconds: until the server had a message, and until the user learnt
        /// that the message is safe.
        var sent: [Double] = []
        var told: [Double] = []
    }

    let side: Side
    let texts: URL
    let conversation: String
    let visit: Visit
    /// The time at the start of the use, on a phone with a correct clock.
    let start: Timestamp
    private let began = ContinuousClock.now

    /// - Parameters:
    ///   - first: The number of messages that were acknowledged before.
    ///   - count: The number of messages that the app journals before it is killed; nil to send
    ///     all.
    func run(from first: Int, killedAfter count: Int?) async throws -> Run {
        let own = [
            "demo", "send", "--side", side.rawValue, "--texts", texts.path, "--first", "\(first)",
            "--conversation", conversation, "--now", "\(start.advanced(by: .now - began).seconds)",
        ]
        let app = AppProcess(own + PlaceOptions.arguments(visit))
        var run = Run()
        var journalled = 0
        for await words in try app.start() {
            switch words.first {
            case "journalled":
                journalled += 1
                if journalled == count { app.kill() }
            case "acknowledged": run.acknowledged += 1
            case "sent": run.sent.append(words.last.flatMap(Double.init) ?? .infinity)
            case "told": run.told.append(words.last.flatMap(Double.init) ?? .infinity)
            default: break
            }
        }
        return run
    }
}
