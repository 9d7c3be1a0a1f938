import Foundation
import Tidemark
import TidemarkFiles
import TidemarkHTTP
import TidemarkHTTPClient
import TidemarkSync
import TidemarkTesting

/// Measures the outbox of files: an upload beside a plain `PUT` of the same bytes by the same HTTP
/// library to the same server, and the opening of a long queue beside an empty one. Both take turns
/// with their yardsticks.
struct FileSuite {
    let folder: URL
    let report: Report

    private static let uploadBytes = 64 << 20
    private static let rounds = 5
    private static let files = 10_000
    private static let bucket = "bench.firebasestorage.app"
    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    /// - Returns: True if the bar of the queue holds. The report knows the ratios.
    func run() async throws -> Bool {
        report.begin("files", "an outbox of files", yardstick: "plain")
        let local = try LocalFirestore.start()
        try await measureUploads(local)
        let holds = try await measureQueue(local)
        await local.stop()
        return holds
    }

    // MARK: Uploads

    private func measureUploads(_ local: LocalFirestore) async throws {
        let server = try ObjectsServer(
            dataDirectory: folder.appending(path: "storage").path, project: local.projectID,
            gate: nil)
        let (ports, input) = AsyncStream.makeStream(of: Int.self)
        let serving = Task(executorPreference: ServingThread("tidemark.bench.storage")) {
            defer { input.finish() }
            try await server.run(host: "127.0.0.1", port: 0) { input.yield($0) }
        }
        // The server's task has an error if there is no port.
        guard let port = await ports.first(where: { _ in true }) else {
            return try await serving.value
        }
        let (ours, plain) = try await upload(to: "http://127.0.0.1:\(port)", local)
        serving.cancel()
        _ = await serving.result
        server.close()
        report.add(
            "64 MiB in chunks, with its document", ours.median, against: plain.median,
            atMost: FileRatio.upload,
            more: [
                "mebibytesPerSecond": 64 / (ours.median / 1e6),
                "plainMebibytesPerSecond": 64 / (plain.median / 1e6),
            ])
    }

    /// Returns the times of uploads and of plain requests, which take turns.
    private func upload(
        to address: String, _ local: LocalFirestore
    ) async throws -> (ours: [Double], plain: [Double]) {
        let contents = (0..<Self.uploadBytes).map {
            UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 9)
        }
        let firestore = try client(local, "uploads")
        let outbox = outbox(firestore, address)
        await outbox.start()
        var (ours, plain): ([Double], [Double]) = ([], [])
        for round in 0..<Self.rounds {
            plain.append(
                try await time { try await put(contents, to: address, name: "plain-\(round)") })
            // The copy is made and its digests are taken before the write is journalled.
            let receipt = try await firestore.document("films/\(round)").enqueueSetData([
                "film": FileUpload(data: Data(contents), contentType: "video/mp4")
            ])
            ours.append(try await time { try await receipt.acknowledged() })
        }
        await outbox.stop()
        await firestore.terminate()
        return (ours, plain)
    }

    private func put(_ contents: [UInt8], to address: String, name: String) async throws {
        let path = "/upload/storage/v1/b/\(Self.bucket)/o?uploadType=media&name=\(name)"
        let request = HTTPRequest(
            "PUT", address + path, fields: [("content-type", "video/mp4")], body: contents)
        var status = 0
        try await Self.session.send(request) { part in
            if case .head(let code, _) = part { status = code }
        }
        precondition(status == 200, "the server answered \(status)")
    }

    // MARK: The queue

    private func measureQueue(_ local: LocalFirestore) async throws -> Bool {
        try await fill(local)
        var (long, reads, empty): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<4 * Self.rounds {
            empty.append(try await open(local, "empty", finding: 0).open)
            let times = try await open(local, "queue", finding: Self.window)
            long.append(times.open)
            reads.append(times.read)
        }
        let opens = long.median / 1e3
        report.add(
            .queueOpens, opens,
            detail: String(
                format: "of them the files %.1f ms; slowest %.1f ms; an empty queue %.1f ms",
                reads.median / 1e3, (long.max() ?? 0) / 1e3, empty.median / 1e3),
            more: [
                "filesMilliseconds": reads.median / 1e3,
                "emptyQueueMilliseconds": empty.median / 1e3,
            ])
        return Bar.queueOpens.holds(opens)
    }

    /// The number of small files in the window of an outbox with the usual settings.
    private static let window = 8

    /// Returns the time until a new client's outbox knows which files to send, and the part of it
    /// that the client needs for the files when its queue of writes is open.
    private func open(
        _ local: LocalFirestore, _ name: String, finding count: Int
    ) async throws -> (open: Double, read: Double) {
        var opened: Firestore?
        let client = try time { opened = try self.client(local, name) }
        guard let opened else { preconditionFailure("a client was made or an error thrown") }
        let read = try await time {
            let found = try await filesToSend(opened)
            precondition(found == count, "\(found) files can be sent")
        }
        await opened.terminate()
        return (client + read, read)
    }

    /// Journals the files, each with its document.
    private func fill(_ local: LocalFirestore) async throws {
        let firestore = try client(local, "queue")
        await firestore.disableNetwork()
        let outbox = outbox(firestore, "http://127.0.0.1:1")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<16 {
                group.addTask {
                    for number in stride(from: lane, to: Self.files, by: 16) {
                        _ = try await firestore.document("photos/\(number)").enqueueSetData([
                            "photo": FileUpload(data: Data([1]), contentType: "image/png")
                        ])
                    }
                }
            }
            try await group.waitForAll()
        }
        let count = try await outbox.waitingFiles().count
        precondition(count == Self.files)
        await firestore.terminate()
    }

    /// Returns the number of files in the window that the first turn of an outbox reads.
    private func filesToSend(_ firestore: Firestore) async throws -> Int {
        let window = FileWindow(smallBytes: 1 << 20, limit: Self.window, running: [])
        let result = await withCheckedContinuation { continuation in
            firestore.engine.session.filesToSend(window) { continuation.resume(returning: $0) }
        }
        return try result.get().files.count
    }

    private func client(_ local: LocalFirestore, _ name: String) throws -> Firestore {
        try local.firestore(cache: .directory(folder.appending(path: name).path))
    }

    private func outbox(_ firestore: Firestore, _ address: String) -> FileOutbox {
        var settings = FileSettings(bucket: Self.bucket)
        settings.address = address
        return FileOutbox(firestore, settings)
    }
}
