import Foundation
import Synchronization
import Testing

@testable import StampsCore

@Suite(.timeLimit(.minutes(2))) struct `The pictures of an app as it was` {
    /// Records the requested addresses and the number of decoded files.
    private final class Log: Sendable {
        private let downloads = Mutex<[String]>([])
        private let decodes = Mutex(0)

        var asked: [String] { downloads.withLock { $0 } }
        var decoded: Int { decodes.withLock { $0 } }
        func ask(_ address: String) { downloads.withLock { $0.append(address) } }
        func decode() { decodes.withLock { $0 += 1 } }
    }

    private struct NotFound: Error {}

    private func pictures(
        _ folder: URL, _ log: Log, bytes: Int = 1
    ) throws -> KeptPictures<Int> {
        try KeptPictures(
            folder: folder,
            download: { address in
                log.ask(address)
                if address.hasSuffix("none") { throw NotFound() }
                return Array(address.utf8)
            },
            make: { file in
                log.decode()
                return (file.count, bytes)
            })
    }

    private func inFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("kept-pictures-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test func `are each downloaded once, for all views, and for the next launch`() async throws {
        try await inFolder { folder in
            let log = Log()
            let first = try pictures(folder, log)
            try await withThrowingTaskGroup(of: Int.self) { views in
                for _ in 0..<9 {
                    views.addTask { try await first.picture("http://a/7?x=1").kept }
                }
                for try await kept in views { #expect(kept == 14) }
            }
            #expect(try await first.picture("http://a/7?x=1").origin == .memory)
            #expect(log.asked.count == 1 && log.decoded == 1)
            let second = try pictures(folder, log)
            #expect(try await second.picture("http://a/7?x=1").origin == .disk)
            #expect(try await second.picture("http://a/8").origin == .network)
            #expect(log.asked == ["http://a/7?x=1", "http://a/8"] && log.decoded == 3)
        }
    }

    @Test func `are asked for again where a download failed`() async throws {
        try await inFolder { folder in
            let log = Log()
            let pictures = try pictures(folder, log)
            for _ in 0..<2 {
                await #expect(throws: NotFound.self) { try await pictures.picture("none") }
            }
            #expect(log.asked == ["none", "none"] && log.decoded == 0)
        }
    }

    @Test func `leave memory when it is full, the one used longest ago first`() async throws {
        try await inFolder { folder in
            let third = KeptPictures<Int>.mostInMemory / 3
            let pictures = try pictures(folder, Log(), bytes: third)
            for name in ["a", "b", "c"] { _ = try await pictures.picture(name) }
            #expect(try await pictures.picture("a").origin == .memory)
            _ = try await pictures.picture("d")
            #expect(try await pictures.picture("a").origin == .memory)
            #expect(try await pictures.picture("b").origin == .disk)
        }
    }
}
