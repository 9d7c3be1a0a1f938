import Foundation
import Synchronization
import Tidemark
import TidemarkModel
import TidemarkResilience
import TidemarkServer

/// One use of an app that is measured: its clients, and the moments that a person sees.
final class Visit: Sendable {
    /// How long the device has no network, where it has none at first. As long again as it takes, where it has
    /// to show something meanwhile: on a busy machine that is no matter of seconds.
    static let offline = Duration.milliseconds(1_500)
    private static let longestOffline = Duration.seconds(30)
    /// Waits between attempts are shorter than an app's, so that the demo is: 0.2, 0.4 and 0.8 s.
    static let retryScale = 0.1

    let network: DemoNetwork
    let place: DemoPlace
    let side: Side
    /// Under which it is billed, its own first.
    let labels: [String]
    var label: String { labels[0] }
    /// Past the network.
    let direct: DirectServer
    private let server: ServerProcess
    private let clock: LaneClock
    private let start = ContinuousClock.now
    private let state = Mutex(State())

    private struct State {
        var clients: [DeviceClient] = []
        var isOnline: Bool
        var returning: Task<Void, any Error>?
        var measured = Measured()

        init(isOnline: Bool = true) { self.isOnline = isOnline }
    }

    init(
        _ network: DemoNetwork, _ place: DemoPlace, _ side: Side, labels: [String],
        server: ServerProcess, _ direct: DirectServer, faults: [DemoFault], clock: LaneClock,
        waitsForContent: Bool = false
    ) {
        self.side = side
        self.clock = clock
        (self.network, self.place, self.labels, self.direct) = (network, place, labels, direct)
        self.server = server
        guard network == .offline else { return }
        let returning = Task {
            try await Task.sleep(for: Self.offline)
            if waitsForContent { try await self.untilContent(self.start + Self.longestOffline) }
            try await server.order(.healthy, rules: faults.map(\.rule))
            await self.cameBack()
        }
        state.withLock { state in
            state.isOnline = false
            state.returning = returning
        }
    }

    /// As an app opens it, on the cache of its last run.
    ///
    /// - Parameters:
    ///   - device: Another device, which holds nothing; nil for the row's own.
    ///   - user: Who is signed in there; nil for the row's own user.
    func firestore(on device: String? = nil, as user: String? = nil) async throws -> Firestore {
        var place = try place.on(device)
        if let user { place.user = user }
        let client = try await DeviceClient(side, place, label: label)
        state.withLock { $0.clients.append(client) }
        return client.firestore
    }

    /// The first call counts.
    func sawContent() {
        let now = ContinuousClock.now
        state.withLock { state in
            if state.measured.firstContent != nil { return }
            state.measured.firstContent = now - start
            state.measured.hadContentOffline = !state.isOnline
        }
    }

    private func untilContent(_ end: ContinuousClock.Instant) async throws {
        while state.withLock({ $0.measured.firstContent == nil }), .now < end {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    func isUpToDate() {
        let now = ContinuousClock.now
        state.withLock { $0.measured.upToDate = now - start }
    }

    func measured(_ name: String, _ figure: Double) {
        state.withLock { $0.measured.figures[name] = figure }
    }

    func measured(_ name: String, _ row: [Double]) {
        state.withLock { $0.measured.rows[name] = row }
    }

    /// How long it took until there was a screenful, from disk or server.
    func measuredLoad() {
        state.withLock { state in
            let first = [state.measured.firstContent, state.measured.upToDate].compactMap { $0 }
            state.measured.figures["load ms"] = first.min()?.milliseconds
        }
    }

    /// What pages took, beside the bare call that brings the same page over the same network.
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

    /// What others do meanwhile, on a good network.
    func happens(_ mutations: [Mutation]) async throws { try await direct.play(mutations) }

    /// What others do until so many seconds later, on a good network.
    func happens(_ mutations: [Mutation], over seconds: Int64) async throws {
        try await clock.pass(seconds / 2)
        try await direct.play(mutations)
        try await clock.pass(seconds / 2)
    }

    /// How often each of the faults has happened, the row's own first.
    func faultsApplied() async throws -> [Int] { try await server.faultsApplied() }

    /// Returns once the device has a network.
    func untilOnline() async throws { try await state.withLock(\.returning)?.value }

    /// As the system tells an app.
    var connectivity: Connectivity {
        Connectivity(
            isOnline: { self.state.withLock(\.isOnline) },
            untilOnline: { try await self.untilOnline() })
    }

    /// Asks as an app on a bad network does: by the `mobile` policy, and not while there is none.
    ///
    /// - Parameter attemptTimeout: Nil for the policy's own.
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

    /// All of a collection, as the apps read it that had no feed: however long that takes.
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

    /// What the device's own meter has counted so far.
    func reads(of client: Firestore) async throws -> Int {
        try await client.readMeter.report().rows.filter { labels.contains($0.label) }
            .reduce(0) { $0 + $1.reads }
    }

    /// Returns once a screen that is up to date listens: until its listener has answered, the last thing
    /// that the device was billed is a page. What is under way when a client ends is billed, and the device
    /// never hears of it.
    ///
    /// - Parameter bills: What the client's meter has told since the screen was opened.
    func untilListening(_ client: Firestore, _ bills: AsyncStream<ReadEvent>) async throws {
        let known = try await reads(of: client)
        // It goes on where it listened last, for nothing.
        if known == 0 { return }
        var told = 0
        for await case .billed(let row) in bills where labels.contains(row.label) {
            told += row.reads
            if told >= known, row.cause != .page { return }
        }
        try Task.checkCancellation()
    }

    /// Returns once the server has heard that a screen was closed: what the client asks then comes behind that,
    /// and is billed to nobody. What others write before would be sent to the screen.
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
    /// What may pass by itself is tried again.
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

    /// The time by which a share of them had ended; nil where there are none.
    func percentile(_ share: Double) -> Duration? {
        precondition(share > 0 && share <= 1)
        if isEmpty { return nil }
        return sorted()[Swift.max(0, Int((share * Double(count)).rounded(.up)) - 1)]
    }
}
