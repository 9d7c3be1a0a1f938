import Foundation
import Testing

@testable import TidemarkHealth

struct `An export in a zip` {
    static func zip(_ name: String, _ bytes: [UInt8]) throws -> [UInt8] {
        var zip: [UInt8] = []
        let writer = ZipWriter(entry: name) { zip += $0 }
        for start in stride(from: 0, to: bytes.count, by: 70_000) {
            try writer.add(Array(bytes[start..<min(bytes.count, start + 70_000)]))
        }
        try writer.finish()
        return zip
    }

    @Test(arguments: ["export.xml", "apple_health_export/export.xml", "a/导出.xml"])
    func `is imported like the file in it`(name: String) async throws {
        let scratch = try Scratch()
        let (bytes, truth) = generated(HealthGenerator(days: 3, seed: 1))
        let file = try scratch.write(try Self.zip(name, bytes), as: "export.zip")
        let store = try scratch.store()
        let report = try await HealthImport(into: store).run(file)
        #expect(report.counts.bytes == truth.bytes)
        #expect(try `An import`.totals(store) == truth.totals)
    }

    @Test func `that holds no export is refused`() async throws {
        let scratch = try Scratch()
        for name in ["photo.jpg", "apple_health_export/export_cda.xml"] {
            let file = try scratch.write(try Self.zip(name, [1, 2, 3]), as: "other.zip")
            #expect(throws: HealthExportError.notAnExport(file: "other.zip")) {
                _ = try HealthExport.open(file)
            }
        }
    }

    @Test func `that is cut off or damaged changes nothing`() async throws {
        let scratch = try Scratch()
        let (bytes, _) = generated(HealthGenerator(days: 3, seed: 1))
        let zip = try Self.zip("export.xml", bytes)
        let store = try scratch.store()
        var flipped = zip
        flipped[zip.count / 2] ^= 0x10
        for damaged in [Array(zip.dropLast(10)), Array(zip.prefix(5_000)), flipped] {
            let file = try scratch.write(damaged, as: "export.zip")
            await #expect(throws: HealthExportError.self) {
                try await HealthImport(into: store).run(file)
            }
        }
        #expect(try store.read { try $0.days() } == nil)
    }

    @Test func `that would unpack to far more than an export is refused`() throws {
        let scratch = try Scratch()
        let file = try scratch.write([UInt8](repeating: 0, count: 2_000), as: "bomb.zip")
        func entry(size: Int64, packed: Int64) throws -> ZipEntry {
            ZipEntry(
                file: try ReadOnlyFile(file), name: "export.xml", method: 8, checksum: 0,
                packedSize: packed, size: size, offset: 0)
        }
        #expect(throws: HealthExportError.tooLarge(file: "bomb.zip")) {
            _ = try ZipEntryBytes(entry(size: 1 << 30, packed: 1_000))
        }
        #expect(throws: HealthExportError.tooLarge(file: "bomb.zip")) {
            _ = try ZipEntryBytes(entry(size: 65 << 30, packed: 60 << 30))
        }
    }

    @Test func `that unpacks to more than it says ends there`() throws {
        let scratch = try Scratch()
        var zip = try Self.zip("export.xml", [UInt8](repeating: 32, count: 400_000))
        // The size is in the directory, 24 bytes into its only entry.
        let entry = try #require(zip.lastRange(of: [0x50, 0x4B, 1, 2])).lowerBound
        zip.replaceSubrange((entry + 24)..<(entry + 28), with: [0, 1, 0, 0])
        let file = try scratch.write(zip, as: "liar.zip")
        var source = try HealthExport.open(file)
        var buffer = [UInt8](repeating: 0, count: 300)
        #expect(throws: HealthExportError.tooLarge(file: "liar.zip")) {
            _ = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
        }
    }
}

extension [UInt8] {
    fileprivate func lastRange(of other: [UInt8]) -> Range<Int>? {
        stride(from: count - other.count, through: 0, by: -1).first {
            Array(self[$0..<($0 + other.count)]) == other
        }.map { $0..<($0 + other.count) }
    }
}
