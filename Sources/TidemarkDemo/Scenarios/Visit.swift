import Foundation
import Synchronization
import Tidemark
import TidemarkModel
import TidemarkResilience
import TidemarkServer

/// A measured use of an app: its clients, and the times that the user sees.
final class Visit: Sendable {
    /// The minimum time without network at the start, on the network that starts offline. If the
    /// device must show content first, the network stays away until it does, for at most
    /// `longestOffline`, because a busy machine can need many seconds.
    static let offline = Duration.milliseconds(1_500)
    private static let longestOffline = Duration.seconds(30)
    /// The factor on the delays of the `mobile` policy. It shortens the demo: the delays are 0.2,
    /// 0.4 and 0.8 s.
    static let retryScale = 0.1

    let network: DemoNetwork
    let place: DemoPlace
    let side: Side
    /// The labels under which the use is billed. The first is its own.
    let labels: [String]
    var label: String { labels[0] }
    /// The server without the network.
    let direct: DirectServer
    private let server: ServerProcess
    private let clock: NetworkClock
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    private struct State {
        var clients: [DeviceClient] = []
        var isOnline: Bool
        var returning: Task<Void, any Error>?
        var measured = Measured()
        /// Ends when the visit shows content.
        let content = AsyncStream.makeStream(of: Never.self)

        init(isOnline: Bool = true) { self.isOnline = isOnline }
    }

    init(
        network: DemoNetwork, place: DemoPlace, side: Side, labels: [String],
        server: ServerProcess, direct: DirectServer, faults: [DemoFault], clock: NetworkClock,
        waitsForContent: Bool = false
    ) {
        self.side = side
        self.clock = clock
        (self.network, self.place, self.labels, self.direct) = (network, place, labels, direct)
        self.server = server
        guard network == .offline else { return }
        let returning = Task {
            try await Task.sleep(for: Self.offline)
            if waitsForContent { try await self.untilContent(atMost: Self.longestOffline) }
            try await server.order(.healthy, rules: faults.map(\.rule))
            await self.cameBack()
        }
        state.withLock { state in
            state.isOnline = false
            state.returning = returning
        }
    }

    /// Opens the cache of the last run, as an app does.
    ///
    /// - Parameters:
    ///   - device: Another device, which holds no data; nil for the row's own.
    ///   - user: The signed-in user on that device; nil for the row's own user.
    func firestore(on device: String? = nil, as user: String? = nil) async throws -> Firestore {
        var place = try place.on(device)
        if let user { place.user = user }
        let client = try await DeviceClient(side, place, label: label)
        state.withLock { $0.clients.append(client) }
        return client.firestore
    }

    /// Records the time of the first call. Later calls have no effect.
    func sawContent() {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.measured.firstContent != nil { return }
            state.measured.firstContent = now - start
            state.measured.hadContentOffline = !state.isOnline
            state.content.continuation.finish()
        }
    }

    /// Returns when the visit shows content, or after `limit`.
    private func untilContent(atMost limit: Duration) async throws {
        let content = state.withLock { $0.content.stream }
        do { try await within(limit) { for await _ in content {} } } catch is TookTooLong {}
        try Task.checkCancellation()
    }

    func isUpToDate() {
        let now = ContinuousClock.now
        state.withLock { $0.measured.upToDate = now - start }
    }

    func measured(_ name: String, _ figure: Double) {
        state.withLock { $0.measured.figures[name] = figure }
    }

    /// Records the bill that is predicted now, before the first read of the use.
    func predicted(_ forecast: Forecast) {
        state.withLock { $0.measured.forecast = forecast }
    }

    func measured(_ name: String, _ row: [Double]) {
        state.withLock { $0.measured.rows[name] = row }
    }

    /// Records the time to the first screenful, from the disk or the server.
    func measuredLoad() {
        state.withLock { state in
            let first = [state.measured.firstContent, state.measured.upToDate].compactMap { $0 }
            state.measured.figures["load ms"] = first.min()?.milliseconds
        }
    }

    /// Records the times of pages, and the time of a bare call that reads the same page over the
    /// same network.
    func measuredPages(_ pages: [Duration], like query: TidemarkModel.Query) async throws {
        guard let page = pages.median else { return }
        let caller = CallerTransport(self)
        let roundTrip = try await caller.roundTrip(of: query)
        await caller.close()
        measured("pages", Double(pages.count))
        measured("page ms", page.milliseconds)
        measured("slowest page ms", pages.max()?.milliseconds ?? 0)
        measured("round trip ms", roundTrip.milliseconds)
        measured("page in round trips", page / roundTrip)
    }

    /// Plays the writes of others during the visit, on a healthy network.
    func happens(_ mutations: [Mutation]) async throws { try await direct.play(mutations) }

    /// Plays the writes of others in the middle of the next `seconds`, on a healthy network.
    func happens(_ mutations: [Mutation], over seconds: Int64) async throws {
        try await clock.pass(seconds / 2)
        try await direct.play(mutations)
        try await clock.pass(seconds / 2)
    }

    /// Returns the number of times that each fault has happened, the row's own faults first.
    func faultsApplied() async throws -> [Int] { try await server.faultsApplied() }

    /// Returns when the device has a network.
    func untilOnline() async throws { try await state.withLock(\.returning)?.value }

    /// The network state, as the system reports it to an app.
    var connectivity: Connectivity {
        Connectivity(
            isOnline: { self.state.withLock(\.isOnline) },
            untilOnline: { try await self.untilOnline() })
    }

    /// Repeats a read with the `mobile` policy, and waits while there is no network, as an app on a
    /// bad network does.
    ///
    /// - Parameter attemptTimeout: The timeout of each attempt; nil for the policy's own.
    func retrying<Value: Sendable>(
        attemptTimeout: Duration? = nil, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        var retry = Retry(.mobile)
        if let attemptTimeout { retry.policy.attemptTimeout = attemptTimeout }
        retry.policy.delayScale = Self.retryScale
        retry.connectivity = connectivity
        return try await retry.run(.read, classify: Failure.init(demo:)) { _ in
            try await operation()
        }
    }

    /// Reads a whole collection, as the apps without a feed did, for at most 600 s per attempt.
    func readAll(_ items: CollectionReference) async throws -> [QueryDocumentSnapshot] {
        let patience = Duration.seconds(600)
        let all = try await retrying(attemptTimeout: patience) {
            try await items.getDocuments(source: .server, within: patience).documents
        }
        isUpToDate()
        return all
    }

    private func cameBack() async {
        let clients = state.withLock { state in
            state.isOnline = true
            return state.clients
        }
        for client in clients { await client.networkIsBack() }
    }

    /// Returns the number of reads that the device's own meter has counted so far.
    func reads(of client: Firestore) async throws -> Int {
        try await client.readMeter.report().rows.filter { labels.contains($0.label) }
            .reduce(0) { $0 + $1.reads }
    }

    /// Returns when an up-to-date screen also listens. Before its listener has answered, the last
    /// bill on the device is for a page. Work in progress at the end of a client is billed, but the
    /// device does not learn this.
    ///
    /// - Parameter bills: The events of the client's meter since the screen was opened.
    func untilListening(_ client: Firestore, _ bills: AsyncStream<ReadEvent>) async throws {
        let known = try await reads(of: client)
        // If there are no reads, the listener resumes at no cost.
        if known == 0 { return }
        var told = 0
        for await case .billed(let row) in bills where labels.contains(row.label) {
            told += row.reads
            if told >= known, row.cause != .page { return }
        }
        try Task.checkCancellation()
    }

    /// Returns when the server knows that a screen was closed: it processes this read after the
    /// close, and bills it under a separate label. Without this, the server would still send the
    /// next writes of others to the screen.
    func untilNobodyListens(_ client: Firestore) async throws {
        try await ReadTag.with(label: "closed") {
            _ = try await client.document("users/\(place.user)")
                .getDocument(source: .server, within: .seconds(60))
        }
    }

    /// Ends the clients.
    func end() async -> Measured {
        try? await state.withLock(\.returning)?.value
        var bytes = 0
        var reads: Int?
        for client in state.withLock(\.clients) {
            if let own = try? await self.reads(of: client.firestore) { reads = (reads ?? 0) + own }
            bytes += await client.close()
        }
        return state.withLock { [reads, bytes] state in
            state.measured.bytes = bytes
            state.measured.deviceReads = reads
            return state.measured
        }
    }
}

extension Failure {
    /// Classifies an error: the codes that can succeed later are retried.
    init(demo error: any Error) {
        let code =
            (error as? FirestoreError)?.code
            ?? (error as? RPCStatus).flatMap { FirestoreErrorCode(rawValue: Int($0.code.rawValue)) }
        switch code {
        case .unavailable, .deadlineExceeded, .internal, .aborted: self.init(.transient)
        case .resourceExhausted: self.init(.throttled)
        case .unauthenticated: self.init(.authentication)
        case .cancelled: self.init(.cancelled)
        default: self.init(.permanent)
        }
    }
}

extension [Duration] {
    var median: Duration? { percentile(0.5) }

    /// Returns the duration that this share of the durations does not exceed; nil if the list is
    /// empty.
    func percentile(_ share: Double) -> Duration? {
        precondition(share > 0 && share <= 1)
        if isEmpty { return nil }
        return sorted()[Swift.max(0, Int((share * Double(count)).rounded(.up)) - 1)]
    }
}
