import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkTesting

@testable import TidemarkFiles

/// An app's process: a client with its cache in a folder, and an outbox.
struct Phone {
    let firestore: Firestore
    let outbox: FileOutbox

    /// - Parameters:
    ///   - folder: The folder of the cache. The next phone continues with it.
    ///   - address: The address of Storage.
    ///   - small: The size in bytes up to which a file is small.
    ///   - clock: The clock of the waits between attempts.
    ///   - background: The session of the system that sends chunks; nil for none.
    ///   - onStep: Called before each step of an upload.
    init(
        _ local: LocalFirestore, folder: TemporaryFolder, address: String,
        small: Int64 = 1 << 20, tokens: (any TokenProvider)? = nil,
        clock: any Clock<Duration> = InstantClock(), background: String? = nil,
        onStep: @escaping @Sendable () -> Void = {}
    ) throws {
        let cache = folder.url.appendingPathComponent("cache").path
        firestore = try local.firestore(cache: .directory(cache))
        var settings = FileSettings(bucket: "bucket")
        settings.address = address
        settings.smallFileBytes = small
        settings.tokenProvider = tokens
        settings.backgroundSession = background
        outbox = FileOutbox(
            firestore, settings,
            environment: FileEnvironment(
                clock: clock, now: { Int64(Date().timeIntervalSince1970) },
                random: {
                    onStep()
                    return 0.5
                }))
    }

    /// Ends the process: from then on nothing is stored, and soon nothing is sent.
    func kill() async {
        await firestore.terminate()
        await outbox.stop()
    }

    func send(_ file: FileUpload, with id: String) async throws -> WriteReceipt {
        let message = firestore.document("messages/\(id)")
        return try await message.enqueueSetData(["text": "Look!", "photo": file])
    }

    /// Waits until all files and their documents are sent.
    func sendAll(_ what: String = "all files are sent") async throws {
        do {
            try await until(what) { try await outbox.waitingFiles().isEmpty }
        } catch {
            if let waiting = try? await outbox.waitingFiles(), !waiting.isEmpty {
                Issue.record("\(waiting)")
            }
            throw error
        }
    }
}
