import Synchronization
import Tidemark
import TidemarkModel
import TidemarkResilience
import TidemarkTesting

/// A call that fails three times, once because it is never answered, and then succeeds; and a call
/// that never succeeds.
///
/// The clock moves only by hand. The row judges the time that passes between two attempts and
/// during each, and not the delays that the policy announces.
struct RetryRow: ScenarioRow {
    let slug = "retry"
    let name = "a read that fails three times, by the policy of 2, 4 and 8 s"
    let bar = Bar(
        reads: 1, showsContentOffline: false,
        most: ["waits off by s": 0.001],
        exactly: [
            "retries": 3, "longest attempt s": 10, "time that passed s": 24,
            "attempts of a call that is refused": 1,
        ])

    private static let owner = "linus"
    /// The query for the one conversation of the owner.
    private static var query: TidemarkModel.Query {
        var query = TidemarkModel.Query(collection: Conversation.conversations)
        query.filter = .field(FieldPath(name: Membership.field), .arrayContains, .string(owner))
        return query
    }
    /// The number of the attempt that is never answered.
    private static let silent = 2

    func user(_ side: Side) -> String { Self.owner }

    var seed: [Mutation] {
        [Conversation.begin("retried", with: [Self.owner])]
    }

    /// Returns faults for a method that nothing else in this row uses.
    func faults(label: String) -> [DemoFault] {
        [(1, "error=UNAVAILABLE"), (Self.silent, "silence"), (3, "error=UNAVAILABLE")].map {
            nth, effect in
            DemoFault("rpc=RunQuery,label=\(label),nth=\(nth),\(effect)", isBilled: false)
        }
    }

    /// Predicts the one answered attempt: others fail before they are billed.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let written = WrittenDocuments(seed)
        var forecast = Forecast()
        forecast.add(
            "the answered attempt: 1",
            .query(written.rows(seed.map(\.path), indexed: Self.owner.utf8.count + 1)))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let caller = CallerTransport(visit)
        do {
            let documents =
                switch side {
                case .before, .filtered:
                    try await within(.seconds(10)) { try await Self.read(caller) }
                case .after: try await retry(caller, visit)
                }
            visit.isUpToDate()
            await caller.close()
            return documents.map { ShownItem(id: $0.path.id, version: $0.updateTime) }
        } catch {
            await caller.close()
            throw error
        }
    }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        Truth(try await server.documents(of: Self.query))
    }

    private static func read(_ caller: CallerTransport) async throws -> [Document] {
        try await caller.documents(of: query)
    }

    private func retry(_ caller: CallerTransport, _ visit: Visit) async throws -> [Document] {
        let log = RetryLog()
        var retry = Retry(.mobile, clock: log.clock)
        retry.connectivity = visit.connectivity
        retry.onEvent = { log.note($0) }
        let passing = Task {
            // The server reports when it has taken the call that it does not answer.
            while !Task.isCancelled {
                let isTaken = try await visit.faultsApplied()[Self.silent - 1] > 0
                let mayPass = log.mayPass(silent: Self.silent, isTaken: isTaken)
                if mayPass, log.clock.advanceToNext() { continue }
                try await Task.sleep(for: .milliseconds(2))
            }
        }
        defer { passing.cancel() }
        let documents = try await retry.run(.read, classify: Failure.init(demo:)) { _ in
            try await Self.read(caller)
        }
        let seen = log.seen
        visit.measured("retries", Double(seen.waits.count))
        visit.measured("waits off by s", seen.error)
        visit.measured("longest attempt s", seen.longestAttempt.milliseconds / 1_000)
        visit.measured("time that passed s", log.clock.now.time.milliseconds / 1_000)
        visit.measured(
            "attempts of a call that is refused", Double(try await refused(retry, caller)))
        return documents
    }

    /// Makes an invalid call, which a retry cannot help.
    ///
    /// - Returns: The number of attempts.
    private func refused(_ retry: Retry<ManualClock>, _ caller: CallerTransport) async throws -> Int
    {
        let attempts = Mutex(0)
        let nonsense = CollectionPath(unchecked: "conversations/retried")
        do {
            _ = try await retry.run(.read, classify: Failure.init(demo:)) { _ in
                attempts.withLock { $0 += 1 }
                return try await caller.documents(of: TidemarkModel.Query(collection: nonsense))
            }
        } catch is RetryError {}
        return attempts.withLock { $0 }
    }
}

/// The times at which attempts began and ended, by the clock.
private final class RetryLog: Sendable {
    struct Seen: Sendable {
        /// The durations from the end of an attempt to the start of the next.
        var waits: [Duration] = []
        var longestAttempt = Duration.zero
        var attempt = 0
        /// True if the retry waits for its delay, and not for an answer or a network.
        var isWaiting = false
        fileprivate var since = ManualClock.Instant()

        /// The largest difference in seconds between a wait and the journey's delays.
        var error: Double {
            let wanted = [2.0, 4, 8]
            if waits.count > wanted.count { return .infinity }
            return zip(waits, wanted).map { abs($0.milliseconds / 1_000 - $1) }.max() ?? 0
        }
    }

    let clock = ManualClock()
    private let state = Mutex(Seen())

    var seen: Seen { state.withLock { $0 } }

    /// Returns true between attempts, and during the attempt that is never answered: only then the
    /// time moves.
    func mayPass(silent: Int, isTaken: Bool) -> Bool {
        state.withLock { $0.isWaiting || ($0.attempt == silent && isTaken) }
    }

    func note(_ event: RetryEvent) {
        let now = clock.now
        state.withLock { seen in
            switch event {
            case .began(let attempt):
                if attempt > 1 { seen.waits.append(seen.since.duration(to: now)) }
                (seen.attempt, seen.isWaiting, seen.since) = (attempt, false, now)
            case .failed, .succeeded:
                seen.longestAttempt = max(seen.longestAttempt, seen.since.duration(to: now))
                (seen.attempt, seen.since) = (0, now)
            case .waiting: seen.isWaiting = true
            default: seen.isWaiting = false
            }
        }
    }
}
