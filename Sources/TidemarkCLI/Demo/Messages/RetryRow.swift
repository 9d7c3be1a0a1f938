import Synchronization
import TidemarkModel
import TidemarkResilience

/// One call that fails three times, once by never being answered, and then succeeds; and one that
/// will never succeed.
struct RetryRow: ScenarioRow {
    /// An app waits 2, 4 and 8 s, and 10 s for each attempt. Here a fifth of that.
    static let scale = 0.2

    let slug = "retry"
    let name = "a read that fails three times, by the policy of 2, 4 and 8 s"
    let bar = Bar(
        reads: 1, showsContentOffline: false,
        most: ["waits off by s": 0.001, "longest attempt s": 12],
        exactly: ["retries": 3, "attempts of a call that is refused": 1])

    private static let collection = CollectionPath(unchecked: "profiles")

    var seed: [Mutation] {
        [
            Mutation(
                path: DocumentPath(unchecked: Self.collection.text + "/ada"),
                .set(["name": .string("Ada")]))
        ]
    }

    /// By the method that nothing else here uses.
    func faults(label: String) -> [DemoFault] {
        [(1, "error=UNAVAILABLE"), (2, "silence"), (3, "error=UNAVAILABLE")].map { nth, effect in
            DemoFault("rpc=RunQuery,label=\(label),nth=\(nth),\(effect)", isBilled: false)
        }
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        let caller = CallerTransport(visit)
        do {
            let documents =
                switch side {
                case .before: try await within(.seconds(10)) { try await Self.read(caller) }
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
        Truth(try await server.documents(in: Self.collection))
    }

    private static func read(_ caller: CallerTransport) async throws -> [Document] {
        try await caller.documents(of: Query(collection: collection))
    }

    private func retry(_ caller: CallerTransport, _ visit: Visit) async throws -> [Document] {
        let log = Mutex(RetryLog())
        var retry = Retry(.mobile)
        retry.policy.delayScale = Self.scale
        retry.policy.attemptTimeout = retry.policy.attemptTimeout.map { $0 * Self.scale }
        retry.connectivity = visit.connectivity
        retry.onEvent = { event in log.withLock { $0.note(event) } }
        let documents = try await retry.run(.read, classify: Failure.init(demo:)) { _ in
            try await Self.read(caller)
        }
        let seen = log.withLock { $0 }
        visit.measured("retries", Double(seen.waits.count))
        visit.measured("waits off by s", seen.error(scale: Self.scale))
        visit.measured("longest attempt s", seen.longestAttempt / Self.scale)

        // A call that makes no sense: asking again would not help.
        var attempts = 0
        do {
            let nonsense = CollectionPath(unchecked: "profiles/ada")
            let refused = Mutex(0)
            defer { attempts = refused.withLock { $0 } }
            _ = try await retry.run(.read, classify: Failure.init(demo:)) { _ in
                refused.withLock { $0 += 1 }
                return try await caller.documents(of: Query(collection: nonsense))
            }
        } catch is RetryError {}
        visit.measured("attempts of a call that is refused", Double(attempts))
        return documents
    }
}

/// What a policy did, as it tells it.
private struct RetryLog {
    private(set) var waits: [Duration] = []
    private(set) var longestAttempt = 0.0
    private var began = ContinuousClock.now

    mutating func note(_ event: RetryEvent) {
        switch event {
        case .began: began = .now
        case .failed, .succeeded:
            let took = (ContinuousClock.now - began).milliseconds / 1_000
            longestAttempt = max(longestAttempt, took)
        case .waiting(let wait): waits.append(wait)
        default: break
        }
    }

    /// By how much a wait is not what the journey says.
    func error(scale: Double) -> Double {
        let wanted = [2.0, 4, 8]
        if waits.count > wanted.count { return .infinity }
        return zip(waits, wanted).map { abs($0.milliseconds / 1_000 / scale - $1) }.max() ?? 0
    }
}
