import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests that keys of dictionaries are stored as the app's data, for every strategy for keys.
@Suite(.timeLimit(.minutes(20))) struct `Keys of dictionaries` {
    private struct Poll: Codable, Equatable {
        struct Round: Codable, Equatable {
            var topVotes: [String: Int]
        }
        enum Side: String, Codable, CodingKeyRepresentable { case leftSide, rightSide }

        var voteCount = 1
        var byUser = ["uidAbC": 1, "first_name": 2, "x": 3]
        var allRounds = [Round(topVotes: ["userOne": 1, "user_one": 2])]
        var inLists = [["aB": 1], ["a_b": 2]]
        var byDay = ["dayOne": ["noonTime": Round(topVotes: ["cD": 4])]]
        var byNumber = [7: "seven"]
        var bySide: [Side: Int] = [.leftSide: 1]
        var maybeNamed: [String: Int]? = ["eF": 5]
    }

    private static func tables() -> [(Firestore.Encoder, Firestore.Decoder)] {
        let snake = (Firestore.Encoder(), Firestore.Decoder())
        snake.0.keyEncodingStrategy = .convertToSnakeCase
        snake.1.keyDecodingStrategy = .convertFromSnakeCase
        let custom = (Firestore.Encoder(), Firestore.Decoder())
        custom.0.keyEncodingStrategy = .custom { AnyKey(stringValue: "_" + $0.last!.stringValue) }
        custom.1.keyDecodingStrategy = .custom {
            AnyKey(stringValue: String($0.last!.stringValue.dropFirst()))
        }
        return [snake, custom]
    }

    @Test func `are stored and read as they are, at any depth`() async throws {
        let local = try LocalFirestore.start()
        let firestore = try local.firestore()
        for (index, (encoder, decoder)) in Self.tables().enumerated() {
            let document = firestore.document("polls/\(index)")
            try await document.setData(from: Poll(), encoder: encoder)
            let snapshot = try await document.getDocument(source: .server)
            let (user, rounds, days, sides) =
                index == 0
                ? ("by_user", "all_rounds", "by_day", "by_side")
                : ("_byUser", "_allRounds", "_byDay", "_bySide")
            let votes = index == 0 ? "top_votes" : "_topVotes"
            #expect(snapshot[user] as? [String: Int] == Poll().byUser)
            let list = snapshot[rounds] as? [[String: [String: Int]]]
            #expect(list == [[votes: ["userOne": 1, "user_one": 2]]])
            let day = snapshot[days] as? [String: [String: [String: [String: Int]]]]
            #expect(day == ["dayOne": ["noonTime": [votes: ["cD": 4]]]])
            #expect(snapshot[sides] as? [String: Int] == ["leftSide": 1])
            #expect(try snapshot.data(as: Poll.self, decoder: decoder) == Poll())
        }
        await local.stop()
    }

    /// Compares with Foundation's coders, which get the same values and strategies.
    @Test func `are those that Foundation's coders write`() throws {
        struct Outer: Codable, Equatable {
            var oneTwo: [String: [String: Int]] = ["threeFour": ["five_six": 1, "sevenEight": 2]]
        }
        let json = JSONEncoder()
        json.keyEncodingStrategy = .convertToSnakeCase
        let theirs = try JSONSerialization.jsonObject(with: json.encode(Outer()))
        let encoder = Firestore.Encoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        let ours = try encoder.encode(Outer())
        let again = try JSONSerialization.jsonObject(
            with: JSONSerialization.data(withJSONObject: ours))
        #expect(again as? NSObject == theirs as? NSObject)
        #expect(ours.keys.sorted() == ["one_two"])
        let whole = try encoder.encode(["fiveSix": 1])
        #expect(whole.keys.sorted() == ["fiveSix"], "a document that is a dictionary")
    }

    @Test func `of rows that an earlier version wrote are read as they are, or as they were`()
        throws
    {
        let decoder = Firestore.Decoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let old: [String: Any] = [
            "vote_count": 1, "by_user": ["uid_ab_c": 1], "all_rounds": [] as [Any],
            "in_lists": [] as [Any], "by_day": [:] as [String: Any],
            "by_number": [:] as [String: Any], "by_side": [:] as [String: Any],
        ]
        #expect(try decoder.decode(Poll.self, from: old).byUser == ["uid_ab_c": 1])
        decoder.convertsKeysOfDictionaries = true
        #expect(try decoder.decode(Poll.self, from: old).byUser == ["uidAbC": 1])
    }
}
