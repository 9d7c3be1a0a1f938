import Foundation
import Tidemark
import TidemarkApp
import TidemarkModel
import TidemarkServer
import TidemarkSync

struct UnexpectedPages: Error {
    let pages: Int
    let rows: Int
    let launch: Int
    let hasMore: Bool
    let error: FirestoreError?
}

/// A conversation of many messages on a server behind a round trip, and a device that holds all of
/// them.
final class HeldFeed {
    let server: FirestoreServer
    private let folder: URL
    private let database: DatabaseID
    private var written = 0
    /// The server's time in seconds since 1970. It moves between two rounds, so the overlap of a
    /// query for changes does not include the changes of the previous round.
    private var now: Int64 = 1_750_000_000

    struct Opening {
        /// The time in microseconds from the request until the first page shows the newest item.
        var delta: Double
        var plan: Double
        var changed: Int
    }

    init(count: Int, folder: URL) async throws {
        server = try FirestoreServer(FirestoreServer.Configuration())
        self.folder = folder.appending(path: "device")
        database = try DatabaseID(project: "bench")
        try await insert(count)
        let firestore = try client(roundTrip: .zero)
        let feed = try feed(firestore, pageSize: 10_000)
        try await feed.sync()
        await firestore.terminate()
    }

    private func client(roundTrip: Duration = AppSuite.roundTrip) throws -> Firestore {
        let settings = FirestoreSettings(
            cache: .directory(folder.path), cacheSizeBytes: nil, readDeadline: .seconds(60))
        settings.dispatchQueue = DispatchQueue(label: "benchmark.listeners")
        let transport: any Transport =
            roundTrip == .zero ? server : DelayedTransport(server, roundTrip: roundTrip)
        return try Firestore(
            projectID: "bench", settings: settings,
            environment: .live(transport))
    }

    private func feed(_ firestore: Firestore, pageSize: Int = 500) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection("messages"), itemTime: "timestamp",
                way: .changeTime("updatedAt", deletedField: "deletedAt"), pageSize: pageSize))
    }

    func insert(_ count: Int) async throws {
        let workload = Workload(count: 1_000)
        let changed = try FieldPath(segments: ["updatedAt"])
        let end = written + count
        now += 400
        try server.setClock(Timestamp(seconds: now, nanoseconds: 0))
        while written < end {
            let mutations = (written..<min(end, written + 500)).map { number in
                Mutation(
                    path: DocumentPath(unchecked: "messages/m\(number)"),
                    .set(workload.fields(number)),
                    transforms: [FieldTransform(changed, .serverTimestamp)])
            }
            _ = try await server.commit(mutations, CallContext(database: database))
            written += mutations.count
        }
        now += 400
        try server.setClock(Timestamp(seconds: now, nanoseconds: 0))
    }

    /// Opens the feed in this process, and reads the new items.
    func opening() async throws -> Opening {
        let firestore = try client()
        let feed = try self.feed(firestore)
        async let opened = feed.open()
        let held = await Self.items(of: feed) { !$0.isEmpty }
        precondition(held.count == 50)
        _ = try await opened
        let plan = await time { _ = await feed.plan }
        let asked = ContinuousClock.now
        async let sync = feed.sync()
        _ = await Self.items(of: feed) { $0.first != held.first }
        let delta = (ContinuousClock.now - asked) / .microseconds(1)
        let changed = try await sync.changed
        await firestore.terminate()
        return Opening(delta: delta, plan: plan, changed: changed)
    }

    /// Returns the first items of a view that fulfil the condition.
    private static func items(
        of feed: Feed, _ isRight: ([FeedItem]) -> Bool
    ) async -> [FeedItem] {
        for await state in feed.states where isRight(state.items) { return state.items }
        return []
    }

    /// Returns the times until pages are shown that an earlier launch has read, in microseconds.
    func pages(_ count: Int) async throws -> [Double] {
        var times: [Double] = []
        for launch in 0..<2 {
            let firestore = try client(roundTrip: .zero)
            let pager = try Pager(
                firestore.collection("messages"), orderedBy: "timestamp",
                pagesFromDisk: .keptRight(changeTime: "updatedAt", deletedField: "deletedAt"))
            for await state in pager.states where !state.isFromCache && !state.isLoadingMore {
                break
            }
            try await pager.refresh()
            for page in 1...count {
                let taken = await time {
                    pager.loadMore()
                    for await state in pager.states where !state.isLoadingMore { break }
                }
                let shown = pager.current
                guard shown.items.count == 50 * (page + 1) else {
                    throw UnexpectedPages(
                        pages: page, rows: shown.items.count, launch: launch,
                        hasMore: shown.hasMore, error: shown.error)
                }
                if launch == 1 { times.append(taken) }
            }
            pager.close()
            await firestore.terminate()
        }
        return times
    }
}
