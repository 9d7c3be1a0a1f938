import Crypto
import Dispatch
import Foundation
import Synchronization
public import TidemarkModel
import TidemarkObjects

/// Serves objects to the clients of Firebase Storage and of Cloud Storage.
///
/// ``ObjectsCore`` makes all decisions, on one queue. This class is the shell: it checks callers,
/// and separate threads write and read files. Bytes are streamed: a request holds less than a
/// megabyte of them. ``run(host:port:web:maxConnections:ready:)`` opens a socket.
public final class ObjectsServer: Sendable {
    /// The maximum number of calls that wait for the core. Further calls are refused.
    static let maxWaiting = 4_000

    /// The project whose default buckets exist from the start.
    let project: String
    let callers: ObjectCallers
    private let judge: (any ObjectJudge)?
    let disk = DiskThreads()
    let desk = UploadDesk()
    let blobs: BlobFolder
    private let core: Mutex<ObjectsCore>
    private let queue = DispatchQueue(label: "tidemark.objects")
    private let waiting = Mutex(0)
    /// The faults that are ordered for requests.
    package let faults: ObjectFaults
    /// The folder of the bytes of a server that keeps its data in memory; nil for other servers.
    private let temporary: TemporaryFolder?

    /// - Parameters:
    ///   - dataDirectory: The folder of the objects, next to the documents; nil keeps the metadata
    ///     in memory and the bytes in a temporary folder.
    ///   - project: The project whose default buckets exist from the start.
    ///   - gate: Decides who may call; nil admits every caller.
    ///   - rules: Decides what users may do; nil allows everything.
    /// - Throws: An error with a message if the data cannot be opened.
    public convenience init(
        dataDirectory: String?, project: String, gate: (any CallerGate)?,
        rules: StorageRules? = nil
    ) throws {
        try self.init(
            dataDirectory: dataDirectory, project: project, gate: gate, judge: rules,
            environment: .live())
    }

    init(
        dataDirectory: String?, project: String, gate: (any CallerGate)?,
        judge: (any ObjectJudge)?, environment: ObjectsEnvironment
    ) throws {
        self.project = project
        callers = ObjectCallers(gate: gate)
        faults = ObjectFaults(callers)
        self.judge = judge
        temporary = dataDirectory == nil ? try TemporaryFolder(named: "tidemark-objects") : nil
        let folder = temporary?.path ?? (dataDirectory ?? ".") + "/objects"
        let core = try ObjectsCore(
            dataDirectory: dataDirectory, blobs: folder, environment: environment)
        blobs = core.blobs
        self.core = Mutex(core)
    }

    /// Closes the data after all running work is done.
    public func close() {
        queue.sync { core.withLock { $0.close() } }
        temporary?.remove()
    }

    /// The names of the buckets that exist without an upload.
    var defaultBuckets: [String] { ["\(project).appspot.com", "\(project).firebasestorage.app"] }

    /// Decides what users may do.
    var access: ObjectPermissions {
        ObjectPermissions(judge: judge) { [self] (path) throws(ObjectRefusal) in
            try await onCore { (core) throws(ObjectRefusal) in try core.objectIfExists(path) }
        }
    }

    /// Runs `body` on the core's queue.
    func onCore<T: Sendable>(
        _ body: @escaping @Sendable (ObjectsCore) throws(ObjectRefusal) -> T
    ) async throws(ObjectRefusal) -> T {
        let isFull = waiting.withLock { count in
            if count >= Self.maxWaiting { return true }
            count += 1
            return false
        }
        if isFull { throw ObjectRefusal.unavailable("Too many calls are waiting.") }
        defer { waiting.withLock { $0 -= 1 } }
        let result: Result<T, ObjectRefusal> = await withCheckedContinuation { done in
            queue.async { [self] in
                let result: Result<T, ObjectRefusal> = core.withLock { core in
                    do throws(ObjectRefusal) { return .success(try body(core)) } catch {
                        return .failure(error)
                    }
                }
                done.resume(returning: result)
            }
        }
        return try result.get()
    }

    /// Performs a step of an upload, and tells its requests what to do next.
    func step(
        _ key: [UInt8], _ event: UploadEvent, digest: BlobDigest? = nil
    ) async throws(ObjectRefusal) {
        try await onCore { [desk] (core) throws(ObjectRefusal) in
            var events = [event]
            var digest = digest
            while !events.isEmpty {
                let directives = try core.step(key, events.removeFirst(), digest: digest)
                digest = nil
                // A request that has left cannot perform its effects.
                events += desk.deliver(directives)
            }
        }
    }
}

extension ObjectsEnvironment {
    /// Uses the system's clock and random generator, and SHA-256.
    static func live() -> ObjectsEnvironment {
        ObjectsEnvironment(
            now: { Int64(Date().timeIntervalSince1970 * 1_000_000) },
            randomBytes: { count in
                var generator = SystemRandomNumberGenerator()
                return (0..<count).map { _ in
                    UInt8.random(in: .min ... .max, using: &generator)
                }
            }, digest: { Array(SHA256.hash(data: $0)) })
    }
}
