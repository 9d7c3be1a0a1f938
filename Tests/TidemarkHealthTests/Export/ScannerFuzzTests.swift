import Foundation
import Testing
import TestSupport

@testable import TidemarkHealth

@Suite(.ownThread) struct `Damaged exports` {
    private static var rounds: Int {
        Int(ProcessInfo.processInfo.environment["TIDEMARK_FUZZ_EXPORTS"] ?? "") ?? 400
    }
    private static var firstSeed: UInt64 {
        UInt64(ProcessInfo.processInfo.environment["TIDEMARK_FUZZ_SEED"] ?? "") ?? 1
    }

    /// Returns the bytes after random changes: some are replaced, removed, doubled or added.
    private static func damaged(_ bytes: ArraySlice<UInt8>, _ dice: inout TestDice) -> [UInt8] {
        var bytes = Array(bytes)
        let odd = Array("<>\"'=/ &;\u{0}\u{B}-!?\n".utf8)
        for _ in 0..<Int.random(in: 1...12, using: &dice) {
            let place = Int.random(in: 0..<bytes.count, using: &dice)
            let length = min(bytes.count - place, Int.random(in: 1...200, using: &dice))
            switch Int.random(in: 0...4, using: &dice) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &dice)
            case 1: bytes[place] = odd.randomElement(using: &dice)!
            case 2: bytes.removeSubrange(place..<(place + length))
            case 3: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
            default: bytes.insert(odd.randomElement(using: &dice)!, at: place)
            }
            if bytes.isEmpty { return [60] }
        }
        return bytes
    }

    @Test func `are read as far as they make sense, the same in one part and in many`() throws {
        let (export, _) = generated(HealthGenerator(days: 1, seed: 3))
        let head = try #require(export.firstRange(of: Array("<HealthData locale".utf8)))
        for round in 0..<Self.rounds {
            let seed = Self.firstSeed &+ UInt64(round)
            var dice = TestDice(seed)
            let start = Int.random(in: head.lowerBound..<(export.count - 9_000), using: &dice)
            let bytes =
                Array("<HealthData>".utf8)
                + Self.damaged(export[start..<(start + 8_000)], &dice)
            let whole = try scan(bytes)
            let parts = (0..<20).map { _ in Int.random(in: 0...900, using: &dice) }
            let inParts = try scan(bytes, parts: parts)
            #expect(inParts.samples == whole.samples, "seed \(seed)")
            #expect(inParts.scanner.counts == whole.scanner.counts, "seed \(seed)")
            let counts = whole.scanner.counts
            #expect(counts.samples == whole.samples.count, "seed \(seed)")
            #expect(counts.bytes == Int64(bytes.count), "seed \(seed)")
            #expect(counts.badRecords.count == min(counts.bad, 100), "seed \(seed)")
        }
    }

    @Test func `as zips end with an error or with the data`() async throws {
        let scratch = try Scratch()
        let (export, _) = generated(HealthGenerator(days: 1, seed: 3))
        var zip: [UInt8] = []
        let writer = ZipWriter(entry: "export.xml") { zip += $0 }
        try writer.add(export)
        try writer.finish()
        var whole = 0
        for round in 0..<min(Self.rounds, 150) {
            let seed = Self.firstSeed &+ UInt64(round)
            var dice = TestDice(seed)
            var bytes = zip
            // Half of the damage is in the directory, which contains the numbers.
            let last = round.isMultiple(of: 2) ? bytes.count : min(bytes.count, 120)
            for _ in 0..<Int.random(in: 1...3, using: &dice) {
                let place = bytes.count - 1 - Int.random(in: 0..<last, using: &dice)
                bytes[place] = UInt8.random(in: 0...255, using: &dice)
            }
            let file = try scratch.write(bytes, as: "export.zip")
            do throws(HealthExportError) {
                var source = try HealthExport.open(file)
                var unpacked: [UInt8] = []
                while true {
                    var failure: HealthExportError?
                    let part = [UInt8](unsafeUninitializedCapacity: 50_000) { buffer, count in
                        do throws(HealthExportError) {
                            count = try source.read(into: UnsafeMutableRawBufferPointer(buffer))
                        } catch {
                            failure = error
                        }
                    }
                    if let failure { throw failure }
                    if part.isEmpty { break }
                    unpacked += part
                }
                whole += 1
                #expect(unpacked == export, "seed \(seed): the checksum held and the data is wrong")
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
        // Some damage is in fields that the reader ignores, such as times.
        #expect(whole < Self.rounds)
    }
}
