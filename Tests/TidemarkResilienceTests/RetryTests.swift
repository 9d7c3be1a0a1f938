import Dispatch
import Synchronization
import Testing
import TestSupport
import TidemarkResilience
import TidemarkTestKit

private struct Broken: Error {}
private struct Forbidden: Error {}
private struct Expired: Error {}

@Sendable private func classify(_ error: any Error) -> Failure {
    switch error {
    case is Forbidden: Failure(.permanent)
    case is Expired: Failure(.authentication)
    case is CancellationError: Failure(.cancelled)
    default: Failure(.transient)
    }
}

/// An operation that never ends and ignores cancellation.
@Sendable private func hang() async throws -> Int {
    await withUnsafeContinuation { (_: UnsafeContinuation<Int, Never>) in }
}

@Suite(.timeLimit(.minutes(2))) struct Retrying {
    private let clock = ManualClock()
    private let events = Events()

    private final class Events: Sendable {
        private let list = Mutex<[RetryEvent]>([])
        var all: [RetryEvent] { list.withLock { $0 } }
        func add(_ event: RetryEvent) { list.withLock { $0.append(event) } }
    }

    private func retry(
        _ policy: RetryPolicy = .mobile, budget: RetryBudget? = nil,
        connectivity: Connectivity = .always
    ) -> Retry<ManualClock> {
        Retry(
            policy, clock: clock, budget: budget, connectivity: connectivity, random: { 0.5 },
            onEvent: { [events] in events.add($0) })
    }

    @Test func `succeeds at the attempt that does, and says what happened`() async throws {
        async let value = retry().run(.read, classify: classify) { attempt in
            if attempt < 3 { throw Broken() }
            return attempt
        }
        await clock.pass(.seconds(2))
        await clock.pass(.seconds(4))
        #expect(try await value == 3)
        #expect(
            events.all == [
                .began(attempt: 1), .failed(attempt: 1, Failure(.transient)), .waiting(.seconds(2)),
                .began(attempt: 2), .failed(attempt: 2, Failure(.transient)), .waiting(.seconds(4)),
                .began(attempt: 3), .succeeded(attempt: 3),
            ])
    }

    @Test func `what is forbidden is not asked for again`() async throws {
        let error = await #expect(throws: RetryError.self) {
            try await retry().run(.read, classify: classify) { _ in throw Forbidden() }
        }
        #expect(error?.reason == .permanent)
        #expect(error?.last is Forbidden)
        #expect(error?.attempts.count == 1)
    }

    @Test func `an attempt that hangs is left behind at its own timeout`() async throws {
        async let value = retry().run(.read, classify: classify) { attempt in
            attempt == 1 ? try await hang() : attempt
        }
        await clock.pass(.seconds(10))
        await clock.pass(.seconds(2))
        #expect(try await value == 2)
    }

    @Test func `an attempt that takes too long is cancelled`() async throws {
        let (cancels, sink) = AsyncStream.makeStream(of: Int.self)
        let task = Task {
            try await retry().run(.read, deadline: .seconds(15), classify: classify) { attempt in
                try await withTaskCancellationHandler {
                    try await hang()
                } onCancel: {
                    sink.yield(attempt)
                }
            }
        }
        await clock.pass(.seconds(10))
        var cancelled = cancels.makeAsyncIterator()
        #expect(await cancelled.next() == 1, "by its own time")
        await clock.pass(.seconds(2))
        await clock.pass(.seconds(3))
        #expect(await cancelled.next() == 2, "by what was left of the whole")
        let error = await #expect(throws: RetryError.self) { try await task.value }
        #expect(error?.reason == .deadline)
    }

    @Test func `the deadline ends an attempt that hangs`() async throws {
        let task = Task {
            try await retry().run(.read, deadline: .seconds(3), classify: classify) { _ in
                try await hang()
            }
        }
        await clock.pass(.seconds(3))
        let result = await task.result
        let error = #expect(throws: RetryError.self) { try result.get() }
        #expect(error?.reason == .deadline)
        #expect(error?.attempts.first?.ended == .seconds(3))
        #expect(error?.last is AttemptTimedOut)
    }

    @Test func `a caller that is cancelled is let go at once, whatever it waits for`() async throws
    {
        for isHanging in [true, false] {
            let task = Task {
                try await retry().run(.read, classify: classify) { _ in
                    if isHanging { return try await hang() }
                    throw Broken()
                }
            }
            await clock.sleepers()
            task.cancel()
            let result = await task.result
            #expect(throws: CancellationError.self) { try result.get() }
        }
    }

    @Test func `credentials are refreshed once for all that need them`() async throws {
        let flight = SingleFlight<String, Int>()
        let refreshes = Box(0)
        let isFresh = Box(false)
        let gate = Gate()
        let retry = retry()
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    try await retry.run(
                        .write, classify: classify,
                        refresh: {
                            _ = try await flight.value(for: "token") {
                                await gate.wait()
                                isFresh.change { $0 = true }
                                return refreshes.change { $0 += 1 }
                            }
                        }
                    ) { _ in
                        if !isFresh.value { throw Expired() }
                        return 1
                    }
                }
            }
            try await until("5 callers share the flight") { flight.callers(for: "token") == 5 }
            gate.open()
            return try await group.reduce(0, +)
        }
        #expect(sum == 5)
        #expect(refreshes.value == 1)
        #expect(events.all.filter { $0 == .refreshingCredentials }.count == 5)
        let error = await #expect(throws: RetryError.self) {
            try await retry.run(.read, classify: classify) { _ in throw Expired() }
        }
        #expect(error?.reason == .authentication, "there is no way to refresh")
    }

    @Test func `offline it waits for the network, not for a clock`() async throws {
        let isOnline = Box(false)
        let gate = Gate()
        let connectivity = Connectivity(
            isOnline: { isOnline.value }, untilOnline: { await gate.wait() })
        var policy = RetryPolicy.mobile
        policy.attemptTimeout = nil
        let retry = retry(policy, connectivity: connectivity)
        async let value = retry.run(.read, classify: classify) { attempt in
            isOnline.change { $0 = attempt > 6 }
            if attempt < 10 { throw Broken() }
            return attempt
        }
        try await until("the retry waits for a network") { events.all == [.waitingForNetwork] }
        gate.open()
        for delay in [2, 4, 8] {
            await clock.pass(.seconds(delay))
        }
        #expect(try await value == 10, "what was tried without a network costs no attempt")
        #expect(events.all.filter { $0 == .waitingForNetwork }.count == 7)
    }

    @Test func `a slow read gets a second one beside it, and the first answer wins`() async throws {
        var policy = RetryPolicy.mobile
        policy.hedging = .init(after: .seconds(1))
        let calls = Box(0)
        async let value = retry(policy).run(.read, classify: classify) { _ in
            let call = calls.change { $0 += 1 }
            return call == 1 ? try await hang() : 7
        }
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await value == 7)
        #expect(events.all.contains(.hedged(attempt: 1)))
        #expect(calls.value == 2)
    }

    @Test(arguments: [CallSafety.write, .idempotentWrite])
    func `a slow write gets none`(safety: CallSafety) async throws {
        var policy = RetryPolicy.mobile
        policy.hedging = .init(after: .seconds(1))
        let calls = Box(0)
        let task = Task {
            try await retry(policy).run(safety, deadline: .seconds(9), classify: classify) { _ in
                calls.change { $0 += 1 }
                return try await hang()
            }
        }
        await clock.sleepers()
        clock.advance(by: .seconds(8))
        clock.advance(by: .seconds(1))
        await #expect(throws: RetryError.self) { try await task.value }
        #expect(calls.value == 1)
    }

    @Test func `a server in trouble is not asked twice at once either`() async throws {
        var policy = RetryPolicy.mobile
        policy.hedging = .init(after: .seconds(1), most: 3)
        let calls = Box(0)
        let budget = RetryBudget(RetryCredits(share: 0, floor: 0.1), uptime: { .zero })
        let task = Task {
            try await retry(policy, budget: budget).run(
                .read, deadline: .seconds(5), classify: classify
            ) { _ in
                calls.change { $0 += 1 }
                return try await hang()
            }
        }
        for _ in 0..<2 {
            await clock.sleepers(2)
            clock.advance(by: .seconds(1))
        }
        await clock.pass(.seconds(3))
        await #expect(throws: RetryError.self) { try await task.value }
        #expect(calls.value == 2, "there was credit for one")
    }

    @Test func `a server in trouble is not asked by everybody again`() async throws {
        let budget = RetryBudget(RetryCredits(share: 0, floor: 0.1), uptime: { .zero })
        let retry = retry(RetryPolicy(maxRetries: 3, initialDelay: .zero), budget: budget)
        let error = await #expect(throws: RetryError.self) {
            try await retry.run(.read, classify: classify) { _ in throw Broken() }
        }
        #expect(error?.reason == .budget)
        #expect(error?.attemptsMade == 2)
        #expect(events.all.last == .gaveUp(.budget))
    }

    @Test func `what is not tried again takes nothing from those that are`() async throws {
        let budget = RetryBudget(RetryCredits(share: 0, floor: 0.1), uptime: { .zero })
        for (policy, safety) in [(RetryPolicy.none, CallSafety.read), (.mobile, .write)] {
            await #expect(throws: RetryError.self) {
                try await self.retry(policy, budget: budget).run(safety, classify: classify) { _ in
                    throw Broken()
                }
            }
        }
        let retry = retry(RetryPolicy(maxRetries: 3, initialDelay: .zero), budget: budget)
        let value = try await retry.run(.read, classify: classify) { attempt in
            if attempt == 1 { throw Broken() }
            return attempt
        }
        #expect(value == 2)
    }
}

/// A value that many tasks change.
private final class Box<Value: Sendable>: Sendable {
    private let content: Mutex<Value>

    init(_ value: Value) { content = Mutex(value) }

    var value: Value { content.withLock { $0 } }

    @discardableResult
    func change(_ body: @Sendable (inout Value) -> Void) -> Value {
        content.withLock { value in
            body(&value)
            return value
        }
    }
}

/// A gate that is closed until a test opens it.
private final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, waiters: [CheckedContinuation<Void, Never>])>(
        (false, []))

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    func open() {
        let waiters = state.withLock { state in
            defer { state = (true, []) }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// An actor that knows if work runs on its executor.
private actor Desk {
    private static let key = DispatchSpecificKey<Bool>()
    private static var isHere: Bool { DispatchQueue.getSpecific(key: key) ?? false }

    private final class Executor: SerialExecutor {
        private let queue = DispatchQueue(label: "desk")

        init() { queue.setSpecific(key: Desk.key, value: true) }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
        }
    }

    private let executor = Executor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func isBusy(with flight: SingleFlight<String, Int>) async throws -> Bool {
        #expect(Self.isHere)
        return try await flight.value(for: "a") { Self.isHere ? 1 : 0 } == 1
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A single flight` {
    private let flight = SingleFlight<String, Int>()

    /// Starts `count` tasks that call the flight.
    private func callers(
        _ count: Int, _ work: @escaping @Sendable () async throws -> Int
    ) -> [Task<SingleFlight<String, Int>.Landing, any Error>] {
        (0..<count).map { _ in
            Task { try await flight.landing(for: "a", work) }
        }
    }

    @Test func `nine callers, one piece of work`() async throws {
        let gate = Gate()
        let runs = Box(0)
        let tasks = callers(9) {
            runs.change { $0 += 1 }
            await gate.wait()
            return 5
        }
        try await until("9 callers share the flight") { flight.callers(for: "a") == 9 }
        gate.open()
        var shared = 0
        for task in tasks {
            let landing = try await task.value
            #expect(landing.value == 5)
            shared += landing.isShared ? 1 : 0
        }
        #expect(runs.value == 1 && shared == 8)
        #expect(flight.count == 0)
        #expect(try await flight.value(for: "a") { 6 } == 6, "it is no cache")
    }

    @Test func `one that leaves does not take the others' work along`() async throws {
        let gate = Gate()
        let tasks = callers(3) {
            await gate.wait()
            try Task.checkCancellation()
            return 5
        }
        try await until("3 callers share the flight") { flight.callers(for: "a") == 3 }
        tasks[0].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[0].value }
        gate.open()
        #expect(try await tasks[1].value.value == 5)
        #expect(try await tasks[2].value.value == 5)
    }

    @Test func `when the last one leaves, the work is cancelled`() async throws {
        let (ended, sink) = AsyncStream.makeStream(of: Void.self)
        let tasks = callers(2) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
            } onCancel: {
                sink.yield()
            }
            return 0
        }
        try await until("2 callers share the flight") { flight.callers(for: "a") == 2 }
        for task in tasks { task.cancel() }
        for await _ in ended { break }
        #expect(flight.count == 0)
    }

    @Test func `an error is everybody's, and the next caller begins anew`() async throws {
        let gate = Gate()
        let tasks = callers(2) {
            await gate.wait()
            throw Broken()
        }
        try await until("2 callers share the flight") { flight.callers(for: "a") == 2 }
        gate.open()
        for task in tasks { await #expect(throws: Broken.self) { try await task.value } }
        #expect(try await flight.value(for: "a") { 1 } == 1)
    }

    @Test func `what is forgotten is begun again, and still answers those who wait`() async throws {
        let gate = Gate()
        let old = callers(1) {
            await gate.wait()
            return 1
        }
        try await until("the flight has a caller") { flight.callers(for: "a") == 1 }
        flight.forget("a")
        #expect(try await flight.value(for: "a") { 2 } == 2)
        gate.open()
        #expect(try await old[0].value.value == 1)
    }

    @Test func `work is not done by the caller's actor`() async throws {
        #expect(try await Desk().isBusy(with: flight) == false)
    }

    @Test func `under many callers that come, go and fail, everyone gets an answer`() async throws {
        let flight = SingleFlight<Int, Int>()
        let answered = Box(0)
        let succeeded = Box(0)
        await withTaskGroup(of: Void.self) { group in
            for index in 0..<3_000 {
                group.addTask {
                    let task = Task {
                        try await flight.value(for: index % 7) {
                            await Task.yield()
                            if index % 11 == 0 { throw Broken() }
                            return index % 7
                        }
                    }
                    if index % 3 == 0 { task.cancel() }
                    switch await task.result {
                    case .success(let value):
                        #expect(value == index % 7)
                        succeeded.change { $0 += 1 }
                    case .failure(let error):
                        let mayBeCancelled = index % 3 == 0 && error is CancellationError
                        #expect(error is Broken || mayBeCancelled, "\(error)")
                    }
                    answered.change { $0 += 1 }
                }
            }
        }
        #expect(answered.value == 3_000)
        #expect(succeeded.value > 300, "hardly anybody got a value: \(succeeded.value)")
        #expect(flight.count == 0)
    }
}
