import Foundation
import Synchronization
import TidemarkImages
import TidemarkTestKit

/// A folder that is removed after the test, a network, and clocks that the test moves.
final class Place: Sendable {
    let folder: URL
    let clock = ManualClock()
    private let now = Mutex<Int64>(1_800_000_000_000)
    let network: ScriptedPictures

    init(_ network: ScriptedPictures) {
        self.network = network
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("pictures-\(UUID().uuidString)")
    }

    convenience init(_ files: [String: [UInt8]], maxAge: Int = 3_600, gate: Gate? = nil) {
        self.init(ScriptedPictures(files, maxAge: maxAge, gate: gate))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func pipeline(_ settings: ImageSettings = ImageSettings()) throws -> ImagePipeline {
        try ImagePipeline(
            folder: folder, settings: settings,
            environment: ImageEnvironment(
                transport: network, clock: clock, wallClock: { self.now.withLock { $0 } },
                random: { 0.5 }))
    }

    func pass(_ seconds: Int64) { now.withLock { $0 += 1_000 * seconds } }

    /// Waits until a pause between two attempts begins. Every attempt's timeout sleeps too.
    func untilPause() async { await clock.sleeper(notDueIn: .seconds(30)) }

    func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0 != "unfinished" }
    }
}

/// Small picture files.
enum Samples {
    static let size = PictureSize(width: 96, height: 64)
    static let jpeg = PictureEncoder.jpeg(PictureGenerator.fields(size), size)!
    static let png = PictureEncoder.png(PictureGenerator.fields(size), size)!
    static let webP = PictureEncoder.webP(PictureGenerator.fields(size), size)!
    static let losslessWebP = PictureEncoder.webP(
        PictureGenerator.fields(size), size, quality: nil)!
    /// A file of some ten kilobytes, which arrives in parts.
    static let photograph: [UInt8] = photograph(1)

    static func photograph(_ seed: UInt64) -> [UInt8] {
        var generator = PictureGenerator(seed: seed)
        let size = PictureSize(width: 320, height: 240)
        return PictureEncoder.jpeg(generator.photograph(size), size)!
    }

    static let address = "http://pictures.test/a"
    static let url = URL(string: address)!
    static let box = PictureSize(width: 32, height: 32)
    static let request = PictureRequest(url, size: box)
}
