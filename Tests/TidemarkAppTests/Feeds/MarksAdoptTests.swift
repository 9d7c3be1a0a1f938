import Foundation
import Testing
import Tidemark
import TidemarkTesting

@testable import TidemarkApp

/// Marks that an older version of the app has kept in `UserDefaults`.
@Suite(.timeLimit(.minutes(2))) struct `Kept marks` {
    private let name = "tidemark-\(UUID().uuidString)"

    private func withDefaults<T>(_ body: (UserDefaults) async throws -> T) async throws -> T {
        let defaults = try #require(UserDefaults(suiteName: name))
        defer { defaults.removePersistentDomain(forName: name) }
        return try await body(defaults)
    }

    private func kept(_ value: Any?, _ unit: Marks.KeptUnit = .milliseconds) throws -> Int64? {
        try KeptMark(value, unit)?.milliseconds
    }

    @Test func `are dates, numbers of a unit, and texts of digits`() throws {
        let time = 1_778_392_800_123
        #expect(try kept(Date(timeIntervalSince1970: 1_778_392_800.5)) == 1_778_392_800_500)
        #expect(try kept(time) == Int64(time))
        #expect(try kept(Double(time) + 0.9) == Int64(time))
        #expect(try kept(NSNumber(value: time)) == Int64(time))
        #expect(try kept("\(time)") == Int64(time))
        #expect(try kept(1_778_392_800, .seconds) == 1_778_392_800_000)
        #expect(try kept(1_778_392_800.25, .seconds) == 1_778_392_800_250)
    }

    @Test func `that name no time move nothing`() throws {
        #expect(try kept(nil) == nil)
        #expect(try kept(0) == nil)
        #expect(try kept(-5) == nil)
        #expect(try kept("0") == nil)
        #expect(try kept(Date(timeIntervalSince1970: -1)) == nil)
    }

    /// A clear mark of the wrong unit would hide everything, or nothing.
    @Test func `of the other unit, or of no number, are refused`() {
        for (value, unit) in [
            (1_778_392_800, Marks.KeptUnit.milliseconds), (1_778_392_800_123, .seconds),
            ("yesterday", .milliseconds), ("-5", .milliseconds), (Double.nan, .milliseconds),
            (["a"], .seconds), (Double.infinity, .seconds),
        ] as [(Any, Marks.KeptUnit)] {
            #expect(throws: FirestoreError.self, "\(value)") { try kept(value, unit) }
        }
    }

    @Test func `move a feed's marks once, and never back`() async throws {
        try await LocalFirestore.withClient { _, firestore in
            let feed = try Feed(
                FeedDefinition(
                    query: firestore.collection("rooms/blue/messages"), itemTime: "sentAt",
                    way: .changeTime("updatedAt", deletedField: "deletedAt")))
            for second in 1...4 as ClosedRange<Int64> {
                try await firestore.document("rooms/blue/messages/m\(second)").setData([
                    "sentAt": Timestamp(seconds: 1_600_000_000 + second, nanoseconds: 0),
                    "updatedAt": FieldValue.serverTimestamp(),
                ])
            }
            try await withDefaults { try await adopt($0, into: feed) }
        }
    }

    private func adopt(_ defaults: UserDefaults, into feed: Feed) async throws {
        defaults.set(1_600_000_001_000, forKey: "cleared_blue")
        defaults.set("1600000003000", forKey: "seen_blue")
        let moves = try await Marks.adopt(
            cleared: defaults.object(forKey: "cleared_blue"),
            seen: defaults.object(forKey: "seen_blue"), into: feed)
        #expect(moves.count == 2)
        try await feed.sync()
        #expect(await feed.items.map(\.document.documentID) == ["m4", "m3", "m2"])
        #expect(await feed.unreadCount == 1)
        // The old time does not undo a later clear.
        try await feed.clear(throughMilliseconds: 1_600_000_002_000)
        let again = try await Marks.adopt(
            cleared: defaults.object(forKey: "cleared_blue"),
            seen: defaults.object(forKey: "seen_blue"), into: feed)
        guard case .ignored? = again[.action], case .ignored? = again[.consumption] else {
            Issue.record("\(again)")
            return
        }
        #expect(await feed.items.map(\.document.documentID) == ["m4", "m3"])
        #expect(defaults.object(forKey: "seen_blue") != nil, "the keys stay")
        // With one bad value, neither mark moves.
        defaults.set("soon", forKey: "seen_blue")
        defaults.set(1_600_000_004_000, forKey: "cleared_blue")
        do {
            try await Marks.adopt(
                cleared: defaults.object(forKey: "cleared_blue"),
                seen: defaults.object(forKey: "seen_blue"), into: feed)
            Issue.record("a text that is no time was taken")
        } catch { #expect(error.code == .invalidArgument) }
        #expect(await feed.items.count == 2)
    }
}
