import Crypto
import Foundation

enum MD5 {
    static func base64(_ data: Data) -> String {
        Data(Insecure.MD5.hash(data: data)).base64EncodedString()
    }
}

/// A folder that is deleted with this object.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-files-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file with bytes that the size and the seed determine.
    @discardableResult
    func write(_ name: String, size: Int, seed: UInt64 = 1) throws -> URL {
        let file = url.appendingPathComponent(name)
        try Self.bytes(size, seed: seed).write(to: file)
        return file
    }

    static func bytes(_ size: Int, seed: UInt64) -> Data {
        var dice = ModelDice(seed)
        var data = Data(capacity: size + 8)
        while data.count < size {
            withUnsafeBytes(of: dice.next()) { data.append(contentsOf: $0) }
        }
        return data.prefix(size)
    }
}

/// A clock on which no time needs to pass. Time is read from the system's clock.
struct InstantClock: Clock {
    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        await Task.yield()
    }
}
