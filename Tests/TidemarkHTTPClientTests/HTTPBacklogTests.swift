import Foundation
import Testing
import TidemarkHTTPClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

struct HTTPBacklogTests {
    private let folder = FileManager.default.temporaryDirectory
        .appending(path: "backlog-\(UUID().uuidString)").path

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
    }

    private static let period = 7 * 251
    private static let pattern = (0..<1 << 20).map { UInt8($0 / 7 % 251) }

    /// Returns bytes that differ from those of other places of a body, at most 1 MiB less a period.
    private func bytes(_ range: Range<Int>) -> [UInt8] {
        let start = range.lowerBound % Self.period
        return Array(Self.pattern[start..<start + range.count])
    }

    @Test(arguments: 1...20) func `bytes come back once and in their order`(seed: Int) throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var random = Numbers(state: UInt64(seed))
        var backlog = HTTPBacklog(limit: 8 << 20, folder: folder)
        var (arrived, taken) = (0, 0)
        for _ in 0..<100 {
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                let count = Int.random(in: 0...40_000, using: &random)
                try backlog.append(Data(bytes(arrived..<arrived + count)))
                arrived += count
                #expect(backlog.countInMemory <= HTTPBacklog.memoryLimit)
            }
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let part = try backlog.removeFirst()
                #expect(part.count <= HTTPBacklog.memoryLimit)
                #expect(!part.isEmpty || taken == arrived)
                #expect(part == bytes(taken..<taken + part.count))
                taken += part.count
            }
        }
        while taken < arrived {
            let part = try backlog.removeFirst()
            try #require(!part.isEmpty)
            #expect(part == bytes(taken..<taken + part.count))
            taken += part.count
        }
        #expect(try backlog.removeFirst().isEmpty)
    }

    @Test func `a long body waits in a file without a name, and in little memory`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var backlog = HTTPBacklog(limit: 64 << 20, folder: folder)
        for number in 0..<4_096 {
            try backlog.append(Data(repeating: UInt8(number % 251), count: 16 << 10))
            #expect(backlog.countInMemory <= HTTPBacklog.memoryLimit)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        var count = 0
        while case let part = try backlog.removeFirst(), !part.isEmpty { count += part.count }
        #expect(count == 64 << 20)
    }

    @Test func `an emptied file is used again from its start`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var backlog = HTTPBacklog(limit: 300_000, folder: folder)
        for _ in 0..<20 {
            for _ in 0..<4 { try backlog.append(Data(bytes(0..<100_000))) }
            var count = 0
            while case let part = try backlog.removeFirst(), !part.isEmpty { count += part.count }
            #expect(count == 400_000)
        }
    }

    @Test func `a full file is an error, and what waits is still there`() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var backlog = HTTPBacklog(limit: 200_000, folder: folder)
        for _ in 0..<3 { try backlog.append(Data(bytes(0..<100_000))) }
        #expect(throws: URLError(.dataLengthExceedsMaximum)) {
            try backlog.append(Data(bytes(0..<1)))
        }
        var count = 0
        while case let part = try backlog.removeFirst(), !part.isEmpty { count += part.count }
        #expect(count == 300_000)
    }

    @Test func `a disk that refuses the file is an error`() throws {
        try FileManager.default.removeItem(atPath: folder)
        var backlog = HTTPBacklog(limit: 1 << 20, folder: folder)
        try backlog.append(Data(bytes(0..<100_000)))
        #expect(throws: URLError(.cannotCreateFile)) {
            try backlog.append(Data(bytes(0..<100_000)))
        }
    }
}

/// Random numbers of a seed.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 29)
    }
}
