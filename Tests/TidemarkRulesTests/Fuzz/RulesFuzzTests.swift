import Foundation
import Testing
import TestSupport
import TidemarkModel
import TidemarkPatterns

@testable import TidemarkRules

/// Checks damaged files and patterns, and files with a huge cost. They are refused or evaluated in
/// a short time.
@Suite(.ownThread) struct `Damaged and hostile rules` {
    private static let rounds =
        ProcessInfo.processInfo.environment["TIDEMARK_FUZZ_RULES"].flatMap { Int($0) } ?? 2_000
    private static let seed =
        ProcessInfo.processInfo.environment["TIDEMARK_FUZZ_SEED"].flatMap { UInt64($0) }
        ?? .random(in: 0...UInt64(UInt32.max))

    private static let words =
        expressionTable.split { $0.isWhitespace }.map(String.init)
        + ["match", "allow", "function", "let", "return", "if", "service", "{", "}", "(", ")", ";"]

    private static func file(_ condition: String) -> String {
        """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            function f(a) { let b = a; return b == \(condition); }
            match /rooms/{room} { allow update: if f(1) || \(condition); }
          }
        }
        """
    }

    private static func decide(_ text: String) {
        guard let rules = try? Ruleset(text) else { return }
        _ = rules.decide(SampleRequest.request, reading: SampleRequest(), trace: RulesTrace())
        let query = Query(
            collectionID: "rooms",
            filter: .field(FieldPath(name: "name"), .equal, .string("Blue")))
        _ = rules.decide(query, as: nil, at: .epoch, reading: SampleRequest())
    }

    @Test func `crash nothing`() {
        for round in 0..<Self.rounds {
            var random = SeededRandom(seed: Self.seed &+ UInt64(round))
            let count = Int.random(in: 1...12, using: &random)
            let condition = (0..<count).map { _ in Self.words.randomElement(using: &random)! }
                .joined(separator: " ")
            var bytes = Array(Self.file(condition).utf8)
            if Bool.random(using: &random) {
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    let index = Int.random(in: 0..<bytes.count, using: &random)
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
                    case 1: bytes.remove(at: index)
                    default: bytes.insert(UInt8.random(in: 32...126, using: &random), at: index)
                    }
                }
            }
            Self.decide(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test func `crash no pattern`() {
        let pieces = [
            "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "a", "1",
            ",", "-", "(?", "(?i)", "[:", ":]", "\\p", "\\x", "\\Q", "{2,3}", "é", "\\d", "&",
        ]
        for round in 0..<Self.rounds {
            var random = SeededRandom(seed: Self.seed &+ UInt64(round))
            let count = Int.random(in: 1...12, using: &random)
            let text = (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            guard let pattern = try? Pattern(text) else { continue }
            var steps = 100_000
            _ = pattern.matchesWhole("aa1é-a,", steps: &steps)
            _ = pattern.replacing(in: "aa1é-a,", with: "$1$0", steps: &steps)
            _ = pattern.splitting("aa1é-a,", steps: &steps)
        }
    }

    @Test func `end soon, whatever they were made for`() throws {
        let doubling = (0..<11).map { "let v\($0 + 1) = v\($0) + v\($0);" }.joined(separator: " ")
        let functions = (0..<20).map {
            "function g\($0)(v0) { \(doubling) return g\($0 + 1)(v11); }"
        }
        let explosions = [
            "\(functions.joined(separator: "\n")) function g20(v) { return v.size() > 0; } function x() { return g0('aaaaaaaaaaaaaaaa'); }",
            "function x() { return '\(String(repeating: "a", count: 5_000))'.matches('(a*)*(a*)*b'); }",
            "function x() { return '\(String(repeating: "a", count: 5_000))'.matches('(a|aa|aaa){500}b'); }",
            "function x() { return 'a'.matches('(((a{100}){100}){100}){100}' + ''); }",
            "function y(a) { return a + a; } function x() { return y(y(y(y(y(y(y(y(y(y([1,2,3,4]))))))))))  == []; }",
        ]
        for text in explosions {
            let file = """
                rules_version = '2';
                service cloud.firestore {
                  match /databases/{database}/documents {
                    \(text)
                    match /rooms/{room} { allow update: if x(); }
                  }
                }
                """
            let time = processorTime { Self.decide(file) }
            // The time is 50 ms in a release build. A debug build takes many times as long.
            #expect(time < .seconds(20), "\(text.prefix(60)): \(time)")
        }
    }
}
