import Synchronization
public import Tidemark
public import TidemarkModel
public import TidemarkServer
import TidemarkStore
import TidemarkSync

/// A whole Firestore in the process of a test: no port, no emulator to install, and a clock that the
/// test moves.
///
/// ```swift
/// let local = try LocalFirestore.start()
/// let firestore = try local.firestore()
/// try await firestore.document("rooms/blue").setData(["open": true])
/// local.advance(by: .seconds(3_600))
/// await local.stop()
/// ```
///
/// It answers as `tidemark serve` does: transactions, listeners, indexes and what reads cost. Time
/// stands still, for the server and for its clients, until ``advance(by:)`` or ``setNow(_:)``: a
/// deadline, a back-off or a lock's timeout passes only then. Thread-safe.
public final class LocalFirestore: Sendable {
    private struct State {
        var clients: [Firestore] = []
        var sockets: [LocalSocket] = []
    }

    /// The project of every client that names no other.
    public let projectID: String
    /// The server itself, for what has no name here.
    public let server: FirestoreServer
    private let clock: LocalClock
    private let state = Mutex(State())

    private init(projectID: String, server: FirestoreServer, clock: LocalClock) {
        self.projectID = projectID
        self.server = server
        self.clock = clock
    }

    /// Starts a server: in memory, unless the configuration names a folder.
    ///
    /// - Parameters:
    ///   - projectID: The project of every client that names no other.
    ///   - now: What its clock reads. The same in every run, so that a test's times are too.
    ///   - configuration: As of `tidemark serve`: its data, how long it keeps history, its indexes.
    /// - Throws: `RPCStatus` when the folder's data cannot be opened.
    public static func start(
        projectID: String = "local",
        now: Timestamp = Timestamp(seconds: 1_700_000_000, nanoseconds: 0),
        configuration: FirestoreServer.Configuration = FirestoreServer.Configuration()
    ) throws(RPCStatus) -> LocalFirestore {
        let clock = LocalClock(now: now)
        // Documents' and transactions' ids are the same in every run as well.
        let chance = Mutex(SeededRandom(seed: 1))
        let environment = ServerEnvironment(
            now: { clock.now }, randomBits: { chance.withLock { $0.next() } },
            executor: LocalQueue("tidemark.local.server", clock: clock))
        do throws(StoreError) {
            let server = try FirestoreServer(configuration, environment: environment)
            return LocalFirestore(projectID: projectID, server: server, clock: clock)
        } catch { throw RPCStatus(.unavailable, error.message) }
    }

    /// A client of this server, as an app makes one; every call makes another device.
    ///
    /// - Parameters:
    ///   - projectID: The client's project; nil for the server's.
    ///   - databaseID: The client's database.
    ///   - label: The label under which ``meter()`` counts it.
    ///   - cache: In memory, or in a folder, where the next client finds what this one held.
    ///   - readDeadline: How long a read waits for the server, in virtual time; nil for no limit.
    ///   - readBudgets: What it may read a day.
    ///   - indexAdvisor: Collects its queries' indexes; one may serve all clients of a test run.
    ///   - token: The bearer token of its calls, as security rules see it: `owner` for an administrator,
    ///     nil for nobody. ``firestore(as:label:cache:)`` makes one of an account.
    /// - Throws: `FirestoreError` when the cache cannot be opened.
    public func firestore(
        projectID: String? = nil, databaseID: String = "(default)", label: String? = nil,
        cache: FirestoreSettings.Cache = .memory, readDeadline: Duration? = .seconds(10),
        readBudgets: [ReadBudget] = [],
        indexAdvisor: IndexAdvisor? = nil, token: String? = nil
    ) throws(FirestoreError) -> Firestore {
        let clock = clock
        let chance = Mutex(SeededRandom(seed: 2))
        let environment = SyncEnvironment(
            transport: server, scheduler: LocalQueue("tidemark.local.client", clock: clock),
            now: { clock.now },
            random: { Double.random(in: 0..<1, using: chance) })
        let settings = FirestoreSettings(
            cache: cache, label: label, readDeadline: readDeadline, token: token)
        settings.readBudgets = readBudgets
        settings.indexAdvisor = indexAdvisor
        let client = try Firestore(
            projectID: projectID ?? self.projectID, databaseID: databaseID, settings: settings,
            environment: environment)
        state.withLock { $0.clients.append(client) }
        return client
    }

    /// What was read and written so far, and for whom.
    public func meter() -> [MeterRow] { server.meter() }

    /// Removes every document of a database, as the emulator's clearing does: listeners are told that
    /// each is gone, the clock goes on, and the past cannot be read any more. Nothing is billed.
    ///
    /// - Throws: `RPCStatus` when a name is invalid, or the data cannot be written; nothing is
    ///   changed then.
    public func clear(
        projectID: String? = nil, databaseID: String = "(default)"
    ) async throws(RPCStatus) {
        let database: DatabaseID
        do throws(InvalidPath) {
            database = try DatabaseID(project: projectID ?? self.projectID, database: databaseID)
        } catch { throw RPCStatus(error) }
        try await server.clear(database)
    }

    /// Terminates the clients, closes the sockets and lets go of the data.
    public func stop() async {
        await endClients()
        let sockets = state.withLock { state in
            defer { state.sockets = [] }
            return state.sockets
        }
        for socket in sockets { await socket.close() }
        server.close()
    }

    var runningClients: [Firestore] { state.withLock { $0.clients } }

    private func endClients() async {
        let clients = state.withLock { state in
            defer { state.clients = [] }
            return state.clients
        }
        for client in clients { await client.terminate() }
    }
}

// MARK: - Time

extension LocalFirestore {
    /// What the clock reads: for the server's times and for the clients' own.
    public var now: Timestamp { clock.now }

    /// Lets time pass, and does what is due by then in its order. Takes no real time.
    ///
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) { clock.advance(by: duration) }

    /// Makes the clock read `time`. An earlier one is what a clock does that was wrong: commit times
    /// do not go back with it.
    public func setNow(_ time: Timestamp) { clock.set(time) }
}

// MARK: - Snapshots

extension LocalFirestore {
    /// Documents, their history and the clock, as they were at one moment.
    public struct Snapshot: Sendable {
        fileprivate let server: ServerSnapshot
        fileprivate let now: Timestamp
    }

    /// Everything the server holds, for ``restore(_:)``. Costs a copy of it in memory.
    ///
    /// - Throws: `RPCStatus` when there is no room for that.
    public func snapshot() throws(RPCStatus) -> Snapshot {
        do throws(StoreError) { return Snapshot(server: try server.snapshot(), now: now) } catch {
            throw RPCStatus(.resourceExhausted, error.message)
        }
    }

    /// Goes back to a snapshot: every document, its history and the clock are as they were.
    ///
    /// Clients made before are terminated, because what they hold is of a history that is no more;
    /// sockets stay, and streams on them end with `unavailable`. The meter goes on counting.
    ///
    /// - Throws: `RPCStatus` when the data cannot be written; it is then as it was.
    public func restore(_ snapshot: Snapshot) async throws(RPCStatus) {
        await endClients()
        do throws(StoreError) { try server.restore(snapshot.server) } catch {
            throw RPCStatus(.unavailable, error.message)
        }
        clock.set(snapshot.now)
    }
}

// MARK: - Sockets

extension LocalFirestore {
    /// Serves on a port of this machine too, for whatever lives in another process.
    ///
    /// ```swift
    /// let socket = try await local.serve()
    /// let settings = FirestoreSettings(host: socket.host, isSSLEnabled: false, cache: .memory)
    /// ```
    ///
    /// - Parameters:
    ///   - port: 0 for a free one.
    ///   - callers: Who may call, as ``LocalAccounts/callers``; nil for anybody.
    /// - Throws: `RPCStatus` when the port cannot be had.
    public func serve(
        port: Int = 0, callers: (any CallerGate)? = nil
    ) async throws(RPCStatus) -> LocalSocket {
        let socket = try await LocalSocket(server, port: port, callers: callers)
        state.withLock { $0.sockets.append(socket) }
        return socket
    }
}

extension Double {
    fileprivate static func random(
        in range: Range<Double>, using chance: borrowing Mutex<SeededRandom>
    ) -> Double {
        chance.withLock { Double.random(in: range, using: &$0) }
    }
}
