import Synchronization

/// Performs ``Traffic``: lets jobs pass when it is their turn. Thread-safe.
final class TrafficControl: Sendable {
    private typealias Door = CheckedContinuation<Void, any Error>

    private struct State {
        var traffic: Traffic
        var lastJob = 0
        var doors: [Int: Door] = [:]
    }

    private let state: Mutex<State>

    init(_ limits: PictureTraffic) { state = Mutex(State(traffic: Traffic(limits))) }

    var waiting: Int { state.withLock { $0.traffic.waitingCount } }
    var running: Int { state.withLock { $0.traffic.runningCount } }
    func isWanted(_ id: PictureID) -> Bool { state.withLock { $0.traffic.isWanted(id) } }

    func join(_ id: PictureID, _ priority: PicturePriority) { step(.joined(id, priority)) }
    func leave(_ id: PictureID, _ priority: PicturePriority) { step(.left(id, priority)) }

    /// Waits for the job's turn, and then runs `body`.
    ///
    /// - Throws: ``PictureError/tooManyRequests``, `CancellationError`, or the error of `body`.
    func run<Value: Sendable>(
        _ kind: Traffic.Kind, of id: PictureID, bytes: Int = 0,
        _ body: () async throws -> Value
    ) async throws -> Value {
        let number = state.withLock { state in
            state.lastJob += 1
            return state.lastJob
        }
        let job = Traffic.Job(number: number, kind: kind, id: id, bytes: bytes)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { door in queue(job, door) }
        } onCancel: {
            withdraw(number)
        }
        defer { step(.ended(number)) }
        return try await body()
    }

    private func queue(_ job: Traffic.Job, _ door: Door) {
        if Task.isCancelled { return door.resume(throwing: CancellationError()) }
        step(.queued(job)) { $0.doors[job.number] = door }
        // The task can be cancelled before the job was registered, so check again.
        if Task.isCancelled { withdraw(job.number) }
    }

    /// Does not affect a running job: its own task notices the cancellation.
    private func withdraw(_ number: Int) {
        let (door, ends) = state.withLock { state -> (Door?, [(Door, Bool)]) in
            guard let door = state.doors.removeValue(forKey: number) else { return (nil, []) }
            return (door, Self.perform(.withdrawn(number), &state))
        }
        door?.resume(throwing: CancellationError())
        Self.open(ends)
    }

    private func step(_ event: Traffic.Event, before: (inout State) -> Void = { _ in }) {
        let ends = state.withLock { state in
            before(&state)
            return Self.perform(event, &state)
        }
        Self.open(ends)
    }

    private static func perform(_ event: Traffic.Event, _ state: inout State) -> [(Door, Bool)] {
        state.traffic.step(event).compactMap { effect in
            switch effect {
            case .start(let number): state.doors.removeValue(forKey: number).map { ($0, true) }
            case .refuse(let number): state.doors.removeValue(forKey: number).map { ($0, false) }
            }
        }
    }

    private static func open(_ ends: [(Door, Bool)]) {
        for (door, mayPass) in ends {
            if mayPass {
                door.resume()
            } else {
                door.resume(throwing: PictureError.tooManyRequests)
            }
        }
    }
}
