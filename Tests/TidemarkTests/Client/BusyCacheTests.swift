import Foundation
import Testing
import TidemarkTesting

@testable import Tidemark

/// Tests a view of a cache that another client has open. Where the client is in another process,
/// the process runs this test's own executable, and the environment says what to do.
@Suite(.timeLimit(.minutes(2))) struct `A view of a busy cache` {
    private static func opening(
        _ folder: String, _ onBusyCache: FirestoreSettings.BusyCache, project: String = "local"
    ) throws(FirestoreError) -> Firestore {
        try Firestore(
            projectID: project,
            settings: FirestoreSettings(cache: .directory(folder), onBusyCache: onBusyCache),
            environment: .live(Unconnected()))
    }

    @Test func `serves what is cached, and refuses what would change it`() async throws {
        let local = try LocalFirestore.start()
        let folder = try TemporaryFolder()
        let owner = try local.firestore(cache: .directory(folder.path))
        try await owner.document("rooms/a").setData(["n": 1])
        try await owner.document("rooms/b").setData(["n": 2])
        _ = try await owner.collection("rooms").getDocuments(source: .server)
        await owner.disableNetwork()
        _ = try await owner.document("rooms/b").enqueueUpdateData(["n": 3])
        let view = try Self.opening(folder.path, .readOnly)
        #expect(view.isReadOnly && !owner.isReadOnly)
        let rooms = try await view.collection("rooms").order(by: "n").getDocuments()
        #expect(rooms.documents.map { $0["n"] as? Int } == [1, 3])
        #expect(rooms.metadata.hasPendingWrites && rooms.metadata.isFromCache)
        #expect(try await view.document("rooms/a").getDocument()["n"] as? Int == 1)
        for try await snapshot in view.collection("rooms").snapshots {
            #expect(snapshot.count == 2 && snapshot.metadata.isFromCache)
            break
        }
        try await refusesWrites(view)
        // The view does not see the owner's later writes, and they continue.
        _ = try await owner.document("rooms/c").enqueueSetData(["n": 4])
        #expect(try await view.collection("rooms").getDocuments().count == 2)
        await view.terminate()
        await owner.terminate()
        let next = try Self.opening(folder.path, .readOnly)
        #expect(!next.isReadOnly)
        #expect(try await next.collection("rooms").getDocuments(source: .cache).count == 3)
        await next.terminate()
        await local.stop()
    }

    @Test func `takes away what views of killed processes have left`() async throws {
        let parent = FileManager.default.temporaryDirectory
        let old = Date(timeIntervalSinceNow: -3_600)
        /// Leaves a folder like that of a process with a view, whether the process was killed or
        /// still runs.
        func leave(_ age: Date) throws -> URL {
            let folder = parent.appendingPathComponent("tidemark-view-" + UUID().uuidString)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true)
            try Data("rows".utf8).write(to: folder.appendingPathComponent("view.sqlite"))
            try Data().write(to: folder.appendingPathComponent("in-use"))
            try FileManager.default.setAttributes(
                [.modificationDate: age], ofItemAtPath: folder.path)
            return folder
        }
        let (dead, living) = (try leave(old), try leave(old))
        let lock = open(living.appendingPathComponent("in-use").path, O_RDWR)
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        defer {
            close(lock)
            try? FileManager.default.removeItem(at: living)
        }
        let local = try LocalFirestore.start()
        let folder = try TemporaryFolder()
        let owner = try local.firestore(cache: .directory(folder.path))
        _ = try await owner.collection("rooms").getDocuments(source: .cache)
        // The young folder is made only now, because the steps above can take long next to other
        // tests.
        let young = try leave(Date())
        defer { try? FileManager.default.removeItem(at: young) }
        let view = try Self.opening(folder.path, .readOnly)
        #expect(view.isReadOnly)
        #expect(!FileManager.default.fileExists(atPath: dead.path))
        #expect(FileManager.default.fileExists(atPath: young.path), "it may be in the making")
        #expect(FileManager.default.fileExists(atPath: living.path), "its process has it locked")
        await view.terminate()
        await local.stop()
    }

    private func refusesWrites(_ view: Firestore) async throws {
        let document = view.document("rooms/a")
        await view.enableNetwork()
        let refused: [() async throws -> Void] = [
            { try await document.setData(["n": 9]) },
            { _ = try await document.enqueueDelete() },
            { try await view.waitForPendingWrites() },
            { try await view.changeUser(to: "ann") },
            { _ = try await view.retryRejectedWrite(1) },
            { try await view.discardRejectedWrite(1) },
        ]
        for call in refused {
            do {
                try await call()
                Issue.record("a view was written to")
            } catch let error as FirestoreError {
                #expect(error.storageFault == .locked && error.recovery == .closeOtherClient)
            }
        }
        do {
            _ = try await document.getDocument(source: .server)
            Issue.record("a view asked the server")
        } catch { #expect(error.code == .unavailable) }
        await #expect(throws: FirestoreError.self) {
            try await view.runTransaction { transaction in
                _ = try await transaction.getDocument(document)
            }
        }
    }

    #if os(Linux)
        @Test func `is of one state, whatever the other process writes meanwhile`() async throws {
            let folder = try TemporaryFolder()
            let other = try OtherProcess("writes until it is told to stop", folder.path)
            try other.waitUntil("WRITING")
            do throws(FirestoreError) {
                _ = try Self.opening(folder.path, .fail)
                Issue.record("two processes on one cache")
            } catch { #expect(error.storageFault == .locked) }
            var seen: [Int] = []
            for _ in 0..<12 {
                let view: Firestore
                do throws(FirestoreError) { view = try Self.opening(folder.path, .readOnly) } catch
                {
                    // The other process was faster each time, so the view is refused immediately.
                    #expect(error.storageFault == .locked)
                    continue
                }
                let pair = try await view.collection("pair").getDocuments(source: .cache)
                let numbers = pair.documents.compactMap { $0["n"] as? Int }
                #expect(numbers.count == 2 && Set(numbers).count == 1, "\(numbers)")
                seen += numbers.prefix(1)
                await view.terminate()
            }
            #expect(seen == seen.sorted() && !seen.isEmpty)
            #expect(try other.end() == 0)
        }

        @Test func `leaves the owner its lock, in this process too`() async throws {
            let folder = try TemporaryFolder()
            let owner = try Self.opening(folder.path, .fail)
            _ = try await owner.document("rooms/a").enqueueSetData(["n": 1])
            let view = try Self.opening(folder.path, .readOnly)
            #expect(try await view.document("rooms/a").getDocument()["n"] as? Int == 1)
            await view.terminate()
            let other = try OtherProcess("finds the cache locked", folder.path)
            #expect(try other.end() == 0)
            _ = try await owner.document("rooms/a").enqueueSetData(["n": 2])
            await owner.terminate()
        }

        // The next tests run in the other process.

        @Test(.enabled(if: OtherProcess.folder != nil))
        func `writes until it is told to stop`() async throws {
            let local = try LocalFirestore.start()
            let folder = try #require(OtherProcess.folder)
            let firestore = try local.firestore(cache: .directory(folder))
            let load = String(repeating: "x", count: 50_000)
            let isOver = Called<Void>()
            let task = Task {
                var n = 0
                while !Task.isCancelled {
                    n += 1
                    let batch = firestore.batch()
                    for id in ["a", "b"] {
                        batch.setData(
                            ["n": n, "load": load],
                            forDocument: firestore.document("pair/\(id)"))
                    }
                    try await batch.commit()
                    if n == 1 { FileHandle.standardOutput.write(Data("WRITING\n".utf8)) }
                }
            }
            Thread.detachNewThread {
                _ = try? FileHandle.standardInput.readToEnd()
                isOver.with(())
            }
            await isOver.value()
            task.cancel()
            _ = try? await task.value
            await local.stop()
        }

        @Test(.enabled(if: OtherProcess.folder != nil))
        func `finds the cache locked`() throws {
            let folder = try #require(OtherProcess.folder)
            do throws(FirestoreError) {
                _ = try Self.opening(folder, .fail)
                Issue.record("the owner's lock is gone")
            } catch { #expect(error.storageFault == .locked) }
        }
    #endif
}

#if os(Linux)
    /// A second process of this test's executable, which runs one test.
    private final class OtherProcess {
        /// The folder that the other process receives; nil in this process.
        static var folder: String? {
            ProcessInfo.processInfo.environment["TIDEMARK_BUSY_CACHE"]
        }

        private let process = Process()
        private let input = Pipe()
        private let output = Pipe()

        init(_ test: String, _ folder: String) throws {
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--testing-library", "swift-testing", "--filter", test]
            process.environment = ProcessInfo.processInfo.environment.merging(
                ["TIDEMARK_BUSY_CACHE": folder]
            ) { $1 }
            process.standardInput = input
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
        }

        /// Waits for a line in the output of the process.
        func waitUntil(_ line: String) throws {
            var text = ""
            while !text.contains(line) {
                let data = output.fileHandleForReading.availableData
                try #require(!data.isEmpty, "the other process ended: \(text)")
                text += String(decoding: data, as: UTF8.self)
            }
        }

        /// Tells the process to stop, and waits for its end.
        func end() throws -> Int32 {
            try input.fileHandleForWriting.close()
            _ = try output.fileHandleForReading.readToEnd()
            process.waitUntilExit()
            return process.terminationStatus
        }
    }
#endif
