import Foundation

@testable import TidemarkHealth

/// Returns the text of an export with these records.
func exportText(_ records: String) -> String {
    "<?xml version=\"1.0\"?>\n<HealthData locale=\"en\">\n" + records + "\n</HealthData>\n"
}

/// Scans the whole text in one call.
func scan(_ text: String) throws -> (samples: [PackedSample], scanner: ExportScanner) {
    try scan(Array(text.utf8))
}

func scan(_ bytes: [UInt8]) throws -> (samples: [PackedSample], scanner: ExportScanner) {
    var scanner = ExportScanner()
    var samples: [PackedSample] = []
    _ = try bytes.withUnsafeBytes { try scanner.scan($0, isLast: true, into: &samples) }
    return (samples, scanner)
}

/// Scans the bytes in parts of these lengths.
func scan(_ bytes: [UInt8], parts: [Int]) throws -> (
    samples: [PackedSample], scanner: ExportScanner
) {
    var scanner = ExportScanner()
    var samples: [PackedSample] = []
    var carried: [UInt8] = []
    var place = 0
    for part in parts {
        let end = min(bytes.count, place + part)
        carried += bytes[place..<end]
        place = end
        let consumed = try carried.withUnsafeBytes {
            try scanner.scan($0, isLast: false, into: &samples)
        }
        carried.removeFirst(consumed)
    }
    carried += bytes[place...]
    _ = try carried.withUnsafeBytes { try scanner.scan($0, isLast: true, into: &samples) }
    return (samples, scanner)
}

func generated(_ generator: HealthGenerator) -> (bytes: [UInt8], truth: HealthTruth) {
    var bytes: [UInt8] = []
    let truth = generator.generate { bytes += $0 }
    return (bytes, truth)
}

/// A folder that exists as long as the test.
final class Scratch {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-health-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func write(_ bytes: [UInt8], as name: String = "export.xml") throws -> String {
        let file = path + "/" + name
        try Data(bytes).write(to: URL(filePath: file))
        return file
    }

    func store(_ name: String = "health.sqlite") throws -> HealthStore {
        try HealthStore(path: path + "/" + name)
    }
}

/// The generator SplitMix64, for tests.
struct TestDice: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
