import Crypto
import Foundation
import Synchronization
import TidemarkModel

@testable import TidemarkObjects

/// Objects in a separate folder, with a clock and random bytes of the tests.
final class TestObjects {
    let folder = FileManager.default.temporaryDirectory.path + "/objects-" + UUID().uuidString
    private(set) var core: ObjectsCore
    private let control = Control()

    /// The error of a process that ends at a step.
    struct Killed: Error {}

    private final class Control: Sendable {
        let seconds = Mutex<Int64>(1_000)
        let random = Mutex(SeededRandom(seed: 1))
        let failing = Mutex<ObjectsStep?>(nil)

        var environment: ObjectsEnvironment {
            var environment = ObjectsEnvironment(
                now: { [self] in seconds.withLock { $0 } * 1_000_000 },
                randomBytes: { [self] count in
                    random.withLock { random in
                        (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                    }
                }, digest: { Array(SHA256.hash(data: $0)) })
            environment.step = { [self] step in
                if failing.withLock({ $0 }) == step { throw Killed() }
            }
            return environment
        }
    }

    init() throws {
        core = try ObjectsCore(
            dataDirectory: folder, blobs: folder + "/objects", environment: control.environment)
    }

    deinit {
        core.close()
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the process and starts another one.
    func restart() throws {
        fail(at: nil)
        core.close()
        core = try ObjectsCore(
            dataDirectory: folder, blobs: folder + "/objects", environment: control.environment)
    }

    func wait(_ time: Int64) { control.seconds.withLock { $0 += time } }
    func fail(at step: ObjectsStep?) { control.failing.withLock { $0 = step } }

    func path(_ name: String, in bucket: String = "demo") throws -> ObjectPath {
        try ObjectPath(bucket: bucket, name: name)
    }

    /// Writes and syncs a blob, as the shell does.
    func blob(_ data: [UInt8]) throws -> (blob: BlobID, contents: ObjectContents) {
        let blob = core.newBlob()
        let writer = try BlobWriter(new: blob, in: core.blobs)
        try data.withUnsafeBytes { try writer.append($0) }
        try writer.flush()
        try writer.sync()
        return (blob, writer.digest.contents)
    }

    @discardableResult
    func put(
        _ name: String, _ data: String, if conditions: ObjectConditions = ObjectConditions(),
        _ change: (inout UploadPlan) -> Void = { _ in }
    ) throws -> StoredObject {
        let (blob, contents) = try blob(Array(data.utf8))
        var plan = UploadPlan(path: try path(name), conditions: conditions)
        change(&plan)
        return try core.put(plan, blob: blob, contents: contents)
    }

    func data(_ name: String) throws -> String? {
        guard let object = try core.objectIfExists(try path(name)) else { return nil }
        guard let reader = try BlobReader(object.blob, in: core.blobs) else { return "no file" }
        let bytes = try reader.read(at: 0, count: 1_000_000)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The number of files with bytes.
    var files: Int {
        FileManager.default.subpaths(atPath: folder + "/objects")?.filter {
            BlobID(String($0.split(separator: "/").last ?? "")) != nil
        }.count ?? 0
    }
}
