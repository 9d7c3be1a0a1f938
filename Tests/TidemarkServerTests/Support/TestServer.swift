import Foundation
import Synchronization
import Testing
import TidemarkModel
import TidemarkServer

/// A server in one thread with a virtual clock. When `run` returns, the server has performed all
/// requests.
final class TestServer: Sendable {
    let server: FirestoreServer
    let machine: TestMachine
    let database: DatabaseID

    init(
        directory: String? = nil, history: Duration = .seconds(3_600),
        billing: Billing = Billing(), rememberedWriteStreams: Int = 100,
        indexes: IndexSettings? = nil, lockTimeout: Duration = .seconds(15),
        editions: DatabaseEditions = DatabaseEditions(), machine: TestMachine = TestMachine()
    ) throws {
        self.machine = machine
        database = try DatabaseID(project: "test")
        var configuration = FirestoreServer.Configuration(
            dataDirectory: directory, history: history, billing: billing, lockTimeout: lockTimeout)
        configuration.indexes = indexes
        configuration.editions = editions
        configuration.rememberedWriteStreams = rememberedWriteStreams
        server = try FirestoreServer(configuration, environment: machine.environment)
    }

    /// Returns a server with `c/a`, `c/b` and `c/d`, whose `n` are 1, 2 and 3.
    static func withThree() throws -> TestServer {
        let server = try TestServer()
        try server.commit(
            set("c/a", ["n": .integer(1)]), set("c/b", ["n": .integer(2)]),
            set("c/d", ["n": .integer(3)]))
        return server
    }

    func context(_ label: String? = nil, token: String? = nil) -> CallContext {
        CallContext(database: database, label: label, token: token)
    }

    /// Returns the replies to a request after it has ended.
    func replies(
        _ request: Request, label: String? = nil, token: String? = nil
    ) throws -> [Reply] {
        let heard = Heard<Reply>()
        _ = server.call(request, context(label, token: token)) { heard.receive($0) }
        machine.run()
        let status = try #require(heard.status, "the call has not ended")
        if status.code != .ok { throw status }
        return heard.messages
    }

    /// Starts a call that perhaps has to wait.
    func start(_ request: Request, label: String? = nil) -> TestCall {
        let heard = Heard<Reply>()
        let call = server.call(request, context(label)) { heard.receive($0) }
        machine.run()
        return TestCall(machine: machine, heard: heard, call: call)
    }

    func startCommit(_ mutations: Mutation..., transaction: TransactionID? = nil) -> TestCall {
        start(.commit(CommitRequest(mutations: mutations, transaction: transaction)))
    }

    func begin(
        _ options: TransactionOptions = .readWrite(retrying: nil), token: String? = nil
    ) throws -> TransactionID {
        let replies = try replies(.beginTransaction(options), token: token)
        guard case .beginTransaction(let id)? = replies.first else {
            throw RPCStatus(.internal, "no reply")
        }
        return id
    }

    @discardableResult
    func commit(
        _ mutations: Mutation..., transaction: TransactionID? = nil, label: String? = nil
    ) throws -> CommitReply {
        let request = CommitRequest(mutations: mutations, transaction: transaction)
        guard case .commit(let reply)? = try replies(.commit(request), label: label).first else {
            throw RPCStatus(.internal, "no reply")
        }
        return reply
    }

    /// Returns the single reply to an aggregation.
    func aggregate(
        _ request: RunAggregationQueryRequest, label: String? = nil
    ) throws -> AggregationReply {
        let replies = try replies(.runAggregationQuery(request), label: label)
        guard case .runAggregationQuery(let reply)? = replies.first else {
            throw RPCStatus(.internal, "no reply")
        }
        return reply
    }

    func get(
        _ path: String, at consistency: ReadConsistency = .latest, label: String? = nil
    ) throws -> Document {
        let request = GetDocumentRequest(path: try DocumentPath(path), consistency: consistency)
        guard case .document(let document)? = try replies(.getDocument(request), label: label).first
        else { throw RPCStatus(.internal, "no reply") }
        return document
    }

    func query(
        _ query: Query, at consistency: ReadConsistency = .latest, label: String? = nil
    ) throws -> [RunQueryReply] {
        let request = RunQueryRequest(query: query, consistency: consistency)
        return try replies(.runQuery(request), label: label).compactMap {
            if case .runQuery(let reply) = $0 { reply } else { nil }
        }
    }

    /// Returns the ids of the rows, in order.
    func ids(_ query: Query, at consistency: ReadConsistency = .latest) throws -> [String] {
        try self.query(query, at: consistency).compactMap(\.document?.path.id)
    }

    func reads(_ label: String) -> Int { server.meter().first { $0.label == label }?.reads ?? 0 }

    func listen(label: String? = nil) -> TestListen { TestListen(self, label: label) }
}

/// A running call.
struct TestCall {
    let machine: TestMachine
    let heard: Heard<Reply>
    let call: any CancellableCall

    /// The end of the call; nil while the call waits.
    var status: RPCStatus? { heard.status }
    var replies: [Reply] { heard.messages }

    func cancel() {
        call.cancel()
        machine.run()
    }
}

/// The clock, the random numbers and the single thread of a test.
final class TestMachine: Sendable {
    private struct Timer {
        let due: Duration
        let order: Int
        let job: @Sendable () -> Void
    }

    private struct State {
        var now = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        var uptime = Duration.zero
        var timers: [Timer] = []
        var timersMade = 0
        var chance = SeededRandom(seed: 0)
        var jobs: [@Sendable () -> Void] = []
        var ticks = Duration.zero
        var tick = Duration.zero
        var log: [String] = []
    }

    private let state = Mutex(State())

    var now: Timestamp {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    /// The time that passes with each read of the stopwatch.
    var tick: Duration {
        get { state.withLock { $0.tick } }
        set { state.withLock { $0.tick = newValue } }
    }

    /// The server's messages to its operator.
    var log: [String] { state.withLock { $0.log } }

    /// Moves the clock. A move forward runs each due timer at its time.
    func advance(_ duration: Duration) {
        let end = uptime + max(.zero, duration)
        while let timer = takeTimer(dueBy: end) {
            pass(timer.due - uptime)
            timer.job()
            run()
        }
        pass(end - uptime)
        if duration < .zero { now = now.advanced(by: duration) }
    }

    private var uptime: Duration { state.withLock { $0.uptime } }

    private func pass(_ duration: Duration) {
        state.withLock { state in
            state.uptime += duration
            state.now = state.now.advanced(by: duration)
        }
    }

    private func takeTimer(dueBy end: Duration) -> Timer? {
        state.withLock { state in
            let index = state.timers.indices.min { left, right in
                let (left, right) = (state.timers[left], state.timers[right])
                return (left.due, left.order) < (right.due, right.order)
            }
            guard let index, state.timers[index].due <= end else { return nil }
            return state.timers.remove(at: index)
        }
    }

    /// Runs the jobs, including the jobs that they add.
    func run() {
        while let job = state.withLock({ $0.jobs.isEmpty ? nil : $0.jobs.removeFirst() }) { job() }
    }

    var environment: ServerEnvironment {
        var environment = ServerEnvironment(
            now: { [self] in now },
            randomBits: { [self] in
                state.withLock { $0.chance.next() }
            }, executor: Executor(machine: self))
        environment.ticks = { [self] in
            state.withLock { state in
                state.ticks += state.tick
                return state.ticks
            }
        }
        environment.log = { [self] line in state.withLock { $0.log.append(line) } }
        return environment
    }

    private struct Executor: ServerExecutor {
        let machine: TestMachine
        var uptime: Duration { machine.uptime }
        func after(_ delay: Duration, _ job: @escaping @Sendable () -> Void) {
            machine.state.withLock { state in
                state.timersMade += 1
                state.timers.append(
                    Timer(
                        due: state.uptime + max(.zero, delay), order: state.timersMade, job: job))
            }
        }
        func async(_ job: @escaping @Sendable () -> Void) {
            machine.state.withLock { $0.jobs.append(job) }
        }
        func sync(_ job: @Sendable () -> Void) {
            machine.run()
            job()
        }
    }
}

/// Records the events of a sink. Fails the test if an event follows the end.
final class Heard<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var status: RPCStatus?
    }

    private let state = Mutex(State())

    var messages: [Message] { state.withLock { $0.messages } }
    var status: RPCStatus? { state.withLock { $0.status } }

    func receive(_ event: StreamEvent<Message>) {
        state.withLock { state in
            #expect(state.status == nil, "an event after the end")
            switch event {
            case .message(let message): state.messages.append(message)
            case .ended(let status): state.status = status
            }
        }
    }

    /// Returns and removes the messages since the last call.
    func take() -> [Message] {
        state.withLock { state in
            defer { state.messages = [] }
            return state.messages
        }
    }
}

/// A listen stream.
final class TestListen: Sendable {
    let server: TestServer
    let heard = Heard<ListenResponse>()
    private let stream: any RequestStream<ListenRequest>

    init(_ server: TestServer, label: String?) {
        self.server = server
        let heard = heard
        stream = server.server.listen(server.context(label)) { heard.receive($0) }
        server.machine.run()
    }

    /// Adds a target, and returns the server's messages.
    func add(_ target: ListenTarget) -> [ListenResponse] {
        stream.send(.add(target, labels: [:]))
        server.machine.run()
        return heard.take()
    }

    func unreadable(_ id: Int32, _ cause: RPCStatus) -> [ListenResponse] {
        stream.send(.unreadable(targetID: id, cause))
        server.machine.run()
        return heard.take()
    }

    func remove(_ id: Int32) -> [ListenResponse] {
        stream.send(.remove(targetID: id))
        server.machine.run()
        return heard.take()
    }

    /// Returns the messages since the last call.
    func take() -> [ListenResponse] {
        server.machine.run()
        return heard.take()
    }

    func cancel() {
        stream.cancel()
        server.machine.run()
    }

    func finish() {
        stream.finish()
        server.machine.run()
    }
}

func path(_ text: String) -> DocumentPath { DocumentPath(unchecked: text) }

func set(
    _ text: String, _ fields: MapValue, _ precondition: Precondition = .none
) -> Mutation {
    Mutation(path: path(text), .set(fields), precondition: precondition)
}

func delete(_ text: String, _ precondition: Precondition = .none) -> Mutation {
    Mutation(path: path(text), .delete, precondition: precondition)
}

func collection(_ id: String) -> Query { Query(collectionID: id) }

/// Returns the status that `body` throws.
func refusal(_ body: () throws -> Void) -> RPCStatus? {
    do {
        try body()
        return nil
    } catch {
        return error as? RPCStatus
    }
}

/// A folder that is deleted with its object.
final class TemporaryFolder {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

extension [UInt8] {
    func write(to path: String) throws {
        try Data(self).write(to: URL(fileURLWithPath: path))
    }
}
