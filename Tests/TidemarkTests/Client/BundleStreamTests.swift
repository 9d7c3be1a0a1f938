import Foundation
import Synchronization
import Testing

@testable import Tidemark

/// Tests bundles that arrive in pieces and are larger than the buffer.
@Suite(.timeLimit(.minutes(2))) struct `A streamed bundle` {
    private static let root = "projects/projectID/databases/(default)/documents"
    private static let time = "2026-11-21T10:00:00.000001Z"

    private static func element(_ json: String) -> [UInt8] {
        Array("\(json.utf8.count)\(json)".utf8)
    }

    /// Returns a bundle of `count` rooms, all in the result of the query `all`.
    private static func bundle(_ count: Int, id: String = "b") -> [[UInt8]] {
        let metadata = element(
            #"{"metadata":{"id":"\#(id)","createTime":"\#(time)","version":1,"#
                + #""totalDocuments":\#(count),"totalBytes":"1000"}}"#)
        let query = element(
            #"{"namedQuery":{"name":"all","readTime":"\#(time)","bundledQuery":{"parent":"\#(root)","#
                + #""structuredQuery":{"from":[{"collectionId":"rooms"}]}}}}"#)
        return [metadata, query]
            + (0..<count).map { number in
                let name = "\(root)/rooms/r\(number)"
                return element(
                    #"{"documentMetadata":{"name":"\#(name)","readTime":"\#(time)","exists":true,"#
                        + #""queries":["all"]}}"#)
                    + element(
                        #"{"document":{"name":"\#(name)","createTime":"\#(time)","#
                            + #""updateTime":"\#(time)","fields":{"n":{"integerValue":"\#(number)"}}}}"#
                    )
            }
    }

    private static func stream(_ elements: [[UInt8]]) -> AsyncStream<UInt8> {
        let bytes = Mutex((elements: elements, element: 0, byte: 0))
        return AsyncStream {
            bytes.withLock { state in
                guard state.element < state.elements.count else { return nil }
                let byte = state.elements[state.element][state.byte]
                state.byte += 1
                if state.byte == state.elements[state.element].count {
                    state.byte = 0
                    state.element += 1
                }
                return byte
            }
        }
    }

    @Test func `tells its observers how far it is`() async throws {
        let firestore = try Firestore.testing(Unconnected())
        let seen = Called<LoadBundleTaskProgress>()
        let never = Called<LoadBundleTaskProgress>()
        let data = Data(Self.bundle(450).joined())
        let task: LoadBundleTask = firestore.loadBundle(data)
        let handle: LoadBundleObserverHandle = task.addObserver { never.with($0) }
        task.removeObserverWith(handle: handle)
        task.addObserver { seen.with($0) }
        var progress = await seen.value()
        var loaded = progress.documentsLoaded
        while progress.state == .inProgress {
            progress = await seen.value()
            #expect(progress.documentsLoaded >= loaded)
            loaded = progress.documentsLoaded
        }
        #expect(progress.state == .success && progress.documentsLoaded == 450)
        #expect(progress.totalDocuments == 450 && progress.totalBytes == 1000)
        #expect(progress.bytesLoaded > 1000)
        let late = Called<LoadBundleTaskProgress>()
        task.addObserver { late.with($0) }
        #expect(await late.value() == progress)
        task.removeAllObservers()
        let again = Called<(LoadBundleTaskProgress?, (any Error)?)>()
        firestore.loadBundle(data) { again.with(($0, $1)) }
        #expect(await again.value().0?.state == .success)
        let bad = Called<(LoadBundleTaskProgress?, (any Error)?)>()
        firestore.loadBundle(InputStream(data: Data("7{".utf8))) { bad.with(($0, $1)) }
        #expect((await bad.value().1 as? FirestoreError)?.code == .invalidArgument)
        let named = Called<Query?>()
        firestore.getQuery(named: "all") { named.with($0) }
        #expect(await named.value() != nil)
        await firestore.terminate()
    }

    @Test func `comes from a stream or a sequence of bytes`() async throws {
        let elements = Self.bundle(1_000)
        for way in 0..<2 {
            let firestore = try Firestore.testing(Unconnected())
            let progress =
                way == 0
                ? try await firestore.loadBundle(InputStream(data: Data(elements.joined())))
                : try await firestore.loadBundle(bytes: Self.stream(elements))
            #expect(progress.documentsLoaded == 1_000)
            let query = try #require(try await firestore.getQuery(named: "all"))
            let rows = try await query.getDocuments(source: .cache)
            #expect(rows.count == 1_000 && rows.freshness.age != nil)
            await firestore.terminate()
        }
    }

    /// The first parts are stored before the app is killed or the network fails.
    @Test func `that ends half way leaves nothing that claims to be whole`() async throws {
        let folder = try TemporaryFolder()
        let elements = Self.bundle(1_000)
        let rooms = { (firestore: Firestore) in
            try await firestore.collection("rooms").getDocuments(source: .cache)
        }
        let first = try Firestore.testing(Unconnected(), cache: .directory(folder.path))
        await #expect(throws: FirestoreError.self) {
            try await first.loadBundle(bytes: Self.stream(Array(elements.prefix(700))).cut)
        }
        #expect(try await rooms(first).count == 600)
        #expect(try await rooms(first).freshness.age == nil)
        #expect(try await first.getQuery(named: "all") == nil)
        // The client is terminated while it waits for the rest.
        let (open, input) = AsyncStream.makeStream(of: UInt8.self)
        for byte in Self.bundle(1_000, id: "c").prefix(900).joined() { input.yield(byte) }
        let arrived = Called<Void>()
        let loading = Task {
            try await first.loadBundle(bytes: open) {
                if $0.documentsLoaded >= 800 { arrived.with(()) }
            }
        }
        await arrived.value()
        await first.terminate()
        input.finish()
        _ = await loading.result
        let second = try Firestore.testing(Unconnected(), cache: .directory(folder.path))
        #expect(try await rooms(second).freshness.age == nil)
        #expect(try await second.getQuery(named: "all") == nil)
        // The garbage collection removes the remaining parts, and a bundle loaded after that is
        // complete.
        try await second.loadBundle(Data(elements.joined()))
        #expect(try await second.getQuery(named: "all") != nil)
        #expect(try await rooms(second).count == 1_000)
        #expect(try await rooms(second).freshness.age != nil)
        let collected: SyncError? = await withCheckedContinuation { done in
            second.engine.collectGarbage(limit: 0, percent: 100) { done.resume(returning: $0) }
        }
        #expect(collected == nil)
        await second.terminate()
    }

    @Test func `keeps no more than an element and a piece`() throws {
        var reader = BundleReader(try DatabaseID(project: "projectID", database: "(default)"))
        var documents = 0
        for element in Self.bundle(5_000) {
            reader.append(element)
            while let event = try reader.nextEvent(isEnd: false) {
                if case .document = event { documents += 1 }
            }
            #expect(reader.buffered <= 1_000)
        }
        #expect(documents == 5_000)
        if try reader.nextEvent(isEnd: true) != nil { Issue.record("more than there was") }
        reader.append(Array("99999999999{".utf8))
        #expect(throws: FirestoreError.self) { try reader.nextEvent(isEnd: false) }
    }
}

private struct Cut: Error {}

extension AsyncSequence where Element == UInt8, Self: Sendable {
    /// The same bytes, followed by an error in place of an end.
    fileprivate var cut: AsyncThrowingStream<UInt8, any Error> {
        let source = self
        return AsyncThrowingStream { input in
            let task = Task {
                for try await byte in source { input.yield(byte) }
                input.finish(throwing: Cut())
            }
            input.onTermination = { _ in task.cancel() }
        }
    }
}

extension Freshness {
    fileprivate var age: Duration? {
        if case .stale(let age, _) = self { age } else { nil }
    }
}
