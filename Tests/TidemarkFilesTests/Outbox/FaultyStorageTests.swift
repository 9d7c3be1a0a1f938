import Foundation
import HTTPTesting
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkObjects
import TidemarkTesting

@testable import TidemarkFiles

/// The client against the storage port of `tidemark serve` over HTTP, whose requests meet the
/// faults of Google's test server.
@Suite(.timeLimit(.minutes(3))) struct FaultyStorageTests {
    private typealias Place = ServedStorageTests.Place

    /// Uploads a file while its requests meet the faults, and compares the object.
    private func upload(
        _ size: Int, _ faults: [String], seed: UInt64 = 1, _ what: String = ""
    ) async throws {
        try await ServedStorageTests().play { place, _ in
            let test = try place.storage.faults.order(
                RetryOrder([.insert: faults.map { try RetryInstruction($0) }], isForAll: true))
            let phone = try place.phone()
            let file = try place.folder.write("film.mov", size: size, seed: seed)
            let receipt = try await phone.send(FileUpload(file), with: "1")
            await phone.outbox.start()
            try await receipt.acknowledged()
            try await place.expect("1", TemporaryFolder.bytes(size, seed: seed))
            #expect(try await place.storage.objects().count == 1, "\(what)")
            #expect(try await phone.outbox.waitingFiles().isEmpty)
            let left = try #require(place.storage.faults.test(test))
            #expect(left.isCompleted, "faults that did not happen: \(left.instructions) \(what)")
            await phone.kill()
        }
    }

    @Test(
        arguments: [
            "return-503", "return-408", "return-429", "return-500", "return-401",
            "return-503-after-256K", "return-503-after-1000K", "return-broken-stream",
            "return-broken-stream-after-300K", "return-reset-connection",
            "return-broken-stream-final-chunk-after-0B",
            "return-broken-stream-final-chunk-after-10B", "stall-for-1s-after-512K",
        ])
    func `an upload arrives whole through each fault`(fault: String) async throws {
        try await upload(3_000_000, [fault])
        // After a pause and after a last answer, no request of the upload follows.
        let isOnce =
            fault.hasPrefix("stall") || fault.hasPrefix("return-broken-stream-final")
            || fault == "return-broken-stream"
        if !isOnce { try await upload(3_000_000, [fault, fault, fault]) }
    }

    /// A start that is refused for good ends the upload, so the session is lost behind it.
    @Test(arguments: ["return-404", "return-410"])
    func `a session that is lost begins again`(fault: String) async throws {
        try await upload(3_000_000, ["stall-for-0s-after-256K", fault])
    }

    @Test(arguments: 0..<12)
    func `an upload arrives whole through random faults`(seed: UInt64) async throws {
        var dice = ModelDice(seed)
        let sizes = [1, 262_144, 300_000, 1_048_576, 2_500_000]
        let size = sizes[dice.below(sizes.count)]
        let faults = (0..<(2 + dice.below(5))).map { _ in
            switch dice.below(6) {
            case 0: "return-\([408, 429, 500, 502, 503, 504][dice.below(6)])"
            case 1, 2: "return-503-after-\(dice.below(1 + size >> 10))K"
            case 3, 4: "return-broken-stream-after-\(dice.below(1 + size >> 10))K"
            default: "return-reset-connection"
            }
        }
        // Only the last answer has a body. It is lost once: the object is there then.
        let last =
            dice.below(2) == 0
            ? "return-broken-stream"
            : "return-broken-stream-final-chunk-after-\(dice.below(20))B"
        try await upload(size, faults + [last], seed: seed, "seed \(seed): \(faults)")
    }

    /// Another process can continue the upload as soon as the client is suspended, so the request
    /// on the way must end.
    @Test func `an upload ends when the client is suspended, and continues after it`()
        async throws
    {
        try await ServedStorageTests().play { place, _ in
            let test = try place.storage.faults.order(
                RetryOrder([.insert: [.stall(seconds: 300, bytes: 262_144)]], isForAll: true))
            let phone = try place.phone()
            let file = try place.folder.write("film.mov", size: 3_000_000)
            _ = try await phone.send(FileUpload(file), with: "1")
            await phone.outbox.start()
            try await until { place.storage.faults.test(test)?.isCompleted == true }
            await phone.firestore.suspend()
            try await until("the upload ends", within: .seconds(30)) {
                await phone.outbox.running.isEmpty
            }
            phone.firestore.resume()
            try await phone.sendAll()
            try await place.expect("1", TemporaryFolder.bytes(3_000_000, seed: 1))
            #expect(try await place.storage.objects().count == 1)
            #expect(try await place.storage.openUploads(limit: 9).isEmpty)
            await phone.kill()
        }
    }

    // MARK: Downloads and other calls

    /// Downloads an object while the requests meet the faults.
    private func download(_ size: Int, _ faults: [String]) async throws {
        try await ServedStorageTests().play { place, _ in
            let storage = Self.storage(place)
            let reference = storage.reference(withPath: "a/b.bin")
            let bytes = TemporaryFolder.bytes(size, seed: 3)
            try await reference.putDataAsync(bytes)
            for isFile in [true, false] {
                let test = try place.storage.faults.order(
                    RetryOrder([.get: faults.map { try RetryInstruction($0) }], isForAll: true))
                if isFile {
                    let file = place.folder.url.appendingPathComponent("copy.bin")
                    try await reference.writeAsync(toFile: file)
                    #expect(try Data(contentsOf: file) == bytes)
                } else {
                    #expect(try await reference.data(maxSize: Int64(size)) == bytes)
                }
                let left = try #require(place.storage.faults.test(test))
                #expect(left.isCompleted, "\(left.instructions)")
            }
        }
    }

    private static func storage(_ place: Place) -> Storage {
        var settings = FileSettings(bucket: "bucket")
        settings.address = place.address
        return Storage(
            settings, user: nil, appCheck: nil,
            environment: FileEnvironment(
                clock: InstantClock(), now: { Int64(Date().timeIntervalSince1970) },
                random: { 0.5 }))
    }

    @Test(
        arguments: [
            "return-503", "return-429", "return-reset-connection", "return-broken-stream",
            "return-broken-stream-after-256K", "return-broken-stream-after-900K",
            "stall-for-1s-after-256K",
        ])
    func `a download is whole through each fault`(fault: String) async throws {
        // A pause is no error, and the rest of a download has less than 900 KiB.
        let isOnce = fault.hasPrefix("stall") || fault.hasSuffix("-900K")
        try await download(1_000_000, isOnce ? [fault] : [fault, fault])
    }

    /// The progress of a download that begins again would run back.
    @Test func `a download that breaks continues behind the bytes that it has`() async throws {
        try await ServedStorageTests().play { place, _ in
            let storage = Self.storage(place)
            let reference = storage.reference(withPath: "a/b.bin")
            let bytes = TemporaryFolder.bytes(3_000_000, seed: 3)
            try await reference.putDataAsync(bytes)
            let breaks = [RetryInstruction](repeating: .brokenAfter(bytes: 700 << 10), count: 4)
            let test = try place.storage.faults.order(RetryOrder([.get: breaks], isForAll: true))
            let shown = Mutex<[Int64]>([])
            let file = place.folder.url.appendingPathComponent("copy.bin")
            try await reference.writeAsync(toFile: file) { progress in
                shown.withLock { $0.append(progress?.completedUnitCount ?? 0) }
            }
            #expect(try Data(contentsOf: file) == bytes)
            let all = shown.withLock { $0 }
            #expect(all == all.sorted() && all.last == 3_000_000)
            #expect(place.storage.faults.test(test)?.isCompleted == true)
        }
    }

    @Test(arguments: [0, 1, 99_999, 100_000, 100_001, 950_000])
    func `a download in parts is whole`(size: Int) async throws {
        try await ServedStorageTests().play { place, _ in
            let storage = Self.storage(place)
            let bytes = TemporaryFolder.bytes(size, seed: 4)
            try await storage.reference(withPath: "x").putDataAsync(bytes)
            let address = storage.client.wire.object("bucket", "x") + "?alt=media"
            let file = place.folder.url.appendingPathComponent("parts.bin")
            let media = try MediaDownload(to: file.path, partBytes: 100_000)
            let answer = try await storage.client.download(address, into: media) { _, _ in }
            #expect(answer.status == 200)
            #expect(try Data(contentsOf: file) == bytes)
        }
    }

    @Test func `an object that changes during its download is whole in the end`() async throws {
        try await ServedStorageTests().play { place, _ in
            let storage = Self.storage(place)
            let reference = storage.reference(withPath: "x")
            try await reference.putDataAsync(TemporaryFolder.bytes(300_000, seed: 5))
            let address = storage.client.wire.object("bucket", "x") + "?alt=media"
            let file = place.folder.url.appendingPathComponent("parts.bin")
            let media = try MediaDownload(to: file.path, partBytes: 100_000)
            _ = try place.storage.faults.order(
                RetryOrder([.get: [.brokenAfter(bytes: 50 << 10)]], isForAll: true))
            await #expect(throws: (any Error).self) {
                try await storage.client.download(address, into: media) { _, _ in }
            }
            for size in [300_000, 10_000] {
                let bytes = TemporaryFolder.bytes(size, seed: 6)
                try await reference.putDataAsync(bytes)
                await #expect(throws: MediaDownload.Changed.self) {
                    try await storage.client.download(address, into: media) { _, _ in }
                }
                _ = try await storage.client.download(address, into: media) { _, _ in }
                #expect(try Data(contentsOf: file) == bytes)
            }
        }
    }

    @Test func `other calls are repeated until they succeed`() async throws {
        try await ServedStorageTests().play { place, _ in
            let storage = Self.storage(place)
            let reference = storage.reference(withPath: "a/b.bin")
            try await reference.putDataAsync(Data([1, 2, 3]))
            let faults: [RetryInstruction] = [.status(503), .reset, .brokenAnswer]
            let test = try place.storage.faults.order(
                RetryOrder(
                    [
                        .get: faults, .list: faults, .patch: faults,
                        .delete: [.status(503), .reset],
                    ],
                    isForAll: true))
            #expect(try await reference.getMetadata().size == 3)
            #expect(try await storage.reference().child("a").listAll().items == [reference])
            var change = StorageMetadata()
            change.cacheControl = "no-store"
            #expect(try await reference.updateMetadata(change).cacheControl == "no-store")
            try await reference.delete()
            let left = try #require(place.storage.faults.test(test))
            #expect(left.isCompleted, "\(left.instructions)")
        }
    }
}
