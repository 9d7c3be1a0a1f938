import Foundation
import Testing
import TestSupport
import TidemarkModel

@testable import TidemarkExport

@Suite(.ownThread) struct LogTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// Source: RFC 3720, B.4, and the mask of LevelDB's log format.
    @Test func `the checksum is the known one`() {
        func masked(_ crc: UInt32) -> UInt32 { ((crc >> 15) | (crc << 17)) &+ 0xA282_EAD8 }
        let digits = Array("23456789".utf8)
        #expect(
            digits.withUnsafeBytes { Checksum.masked(type: UInt8(ascii: "1"), $0) }
                == masked(0xE306_9283))
        let zeros = [UInt8](repeating: 0, count: 31)
        #expect(zeros.withUnsafeBytes { Checksum.masked(type: 0, $0) } == masked(0x8A91_36AA))
    }

    private func read(_ path: String) throws -> [[UInt8]] {
        var reader = try LogReader(path)
        var records: [[UInt8]] = []
        while let record = try reader.next() { records.append(record) }
        return records
    }

    /// Lengths near the end of a block: no header fits, only a header fits, or no space is left.
    @Test(arguments: [
        0, 1, 32_740, 32_753, 32_754, 32_755, 32_760, 32_761, 32_762, 100_000, 400_000,
    ])
    func `records come back`(length: Int) throws {
        let path = folder.file("log")
        let records = [[UInt8](repeating: 7, count: length), [1, 2, 3], [], [9]]
        var writer = try LogWriter(path)
        for record in records { try writer.append(record) }
        try writer.finish()
        #expect(try read(path) == records)
        #expect(
            try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
                == Int(writer.size))
    }

    @Test func `every cut and every changed byte is found`() throws {
        let path = folder.file("log")
        let records = (0..<40).map { [UInt8](repeating: UInt8($0), count: $0 * 90) }
        var writer = try LogWriter(path)
        for record in records { try writer.append(record) }
        try writer.finish()
        let whole = try Data(contentsOf: URL(filePath: path))
        for seed in 0..<400 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var damaged = whole
            if seed.isMultiple(of: 2) {
                damaged = damaged.prefix(Int(random.next() % UInt64(whole.count)))
            } else {
                damaged[Int(random.next() % UInt64(whole.count))] ^= 1 << UInt8(random.next() % 8)
            }
            try damaged.write(to: URL(filePath: path))
            // This test cannot detect a cut between two records. The number of documents shows such
            // a cut.
            do { #expect(records.starts(with: try read(path)), "seed \(seed)") } catch {
                #expect(error is ExportError, "seed \(seed)")
            }
        }
    }
}
