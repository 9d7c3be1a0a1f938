import Foundation
import Testing
import TidemarkModel

@testable import Tidemark

/// Tests that a damaged store is read as its waiting writes, or as an error that names the damage.
struct `A damaged store` {
    /// The change that a run makes to a file of a store.
    private enum Damage: CaseIterable {
        case bit, byte, zeros, cut, removed, appended
    }

    private static let runs: Range<UInt64> = 0..<1_000

    private let copy: TemporaryFolder

    init() throws { copy = try TemporaryFolder() }

    private struct Outcome {
        var whole = 0
        var refused = 0
        var torn = 0
        var cutUnseen = 0
    }

    @Test func `is never read as other writes`() throws {
        var outcome = Outcome()
        for seed in Self.runs { try play(seed, &outcome) }
        #expect(outcome.refused > 400, "\(outcome)")
        #expect(outcome.whole > 20 && outcome.torn > 20, "\(outcome)")
    }

    private func play(_ seed: UInt64, _ outcome: inout Outcome) throws {
        var random = SeededRandom(seed: seed)
        let made = MadeStore.readable.randomElement(using: &random)!
        let before = try files(in: made.folder)
        let (name, contents) = before.sorted { $0.key < $1.key }.randomElement(using: &random)!
        let damage = Damage.allCases.randomElement(using: &random)!
        let folder = URL(fileURLWithPath: copy.path).appendingPathComponent("\(seed)")
        try FileManager.default.copyItem(at: made.folder, to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent(name)
        if let changed = Self.apply(damage, to: contents, &random) {
            try changed.write(to: file)
        } else {
            try FileManager.default.removeItem(at: file)
        }
        let what = Comment(rawValue: "seed \(seed): \(made) \(name) \(damage)")
        do throws(FirebaseStoreError) {
            let store = try FirebaseStore(folder: folder)
            // Every batch that was read is equal to a written one, byte by byte.
            #expect(store.batches.allSatisfy { made.written.contains($0.mark) }, what)
            if store.rows == Set(made.batches) {
                outcome.whole += 1
            } else if store.hasTornEnd {
                outcome.torn += 1
            } else {
                // After a cut between two records, the missing records leave no trace.
                #expect(damage == .cut, what)
                outcome.cutUnseen += 1
            }
        } catch { outcome.refused += 1 }
    }

    /// Returns the damaged contents; nil if the file is removed.
    private static func apply(
        _ damage: Damage, to contents: Data, _ random: inout SeededRandom
    ) -> Data? {
        var data = contents
        let place = data.isEmpty ? 0 : Int.random(in: 0..<data.count, using: &random)
        switch damage {
        case .removed: return nil
        case .cut: return data.prefix(place)
        case .appended:
            let more = (0..<Int.random(in: 1...40, using: &random)).map { _ in
                UInt8.random(in: .min ... .max, using: &random)
            }
            return data + more
        case .bit: if !data.isEmpty { data[place] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
        case .byte: if !data.isEmpty { data[place] = .random(in: .min ... .max, using: &random) }
        case .zeros:
            for index in place..<min(place + 16, data.count) { data[index] = 0 }
        }
        return data
    }

    /// Cuts the last record of the log at each shorter length.
    @Test func `ends before a record that is cut off, and says so`() throws {
        let made = MadeStore.named("log")
        let folder = URL(fileURLWithPath: copy.path).appendingPathComponent("log")
        try FileManager.default.copyItem(at: made.folder, to: folder)
        let name = try #require(try files(in: folder).first { $0.key.hasSuffix(".log") })
        let file = folder.appendingPathComponent(name.key)
        // The last record acknowledges the first batch.
        for left in 1..<60 {
            try name.value.dropLast(left).write(to: file)
            let store = try FirebaseStore(folder: folder)
            #expect(store.hasTornEnd && store.batches.map(\.number) == Array(1...5), "\(left)")
        }
    }

    /// A changed length in the middle of a log is not a cut, because complete records follow.
    @Test func `is not taken for one that was cut off`() throws {
        let made = MadeStore.named("log")
        let folder = URL(fileURLWithPath: copy.path).appendingPathComponent("log")
        try FileManager.default.copyItem(at: made.folder, to: folder)
        let name = try #require(try files(in: folder).first { $0.key.hasSuffix(".log") })
        var data = name.value
        data[data.startIndex + 5] = 0x70
        try data.write(to: folder.appendingPathComponent(name.key))
        #expect(
            throws: FirebaseStoreError.damaged(
                file: name.key, problem: "its end is missing.")
        ) { try FirebaseStore(folder: folder) }
    }
}
