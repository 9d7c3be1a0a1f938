import Synchronization
public import Tidemark
public import TidemarkModel
public import TidemarkServer
import TidemarkStore
import TidemarkSync

/// A complete Firestore inside the process of a test. It needs no port and no installed emulator,
/// and the test controls its clock.
///
/// ```swift
/// let local = try LocalFirestore.start()
/// let firestore = try local.firestore()
/// try await firestore.document("rooms/blue").setData(["open": true])
/// local.advance(by: .seconds(3_600))
/// await local.stop()
/// ```
///
/// The server behaves like `tidemark serve`: transactions, listeners, indexes and the cost of
/// reads. Time does not pass, for the server and for its clients, until ``advance(by:)`` or
/// ``setNow(_:)``: a deadline, a back-off or the timeout of a lock passes only then. Thread-safe.
public final class LocalFirestore: Sendable {
    private struct State {
        var clients: [Firestore] = []
        var sockets: [LocalSocket] = []
    }

    /// The project of every client that names no other.
    public let projectID: String
    /// The server, for functions that this class does not offer.
    public let server: FirestoreServer
    /// Calls functions of the test for changes of documents.
    public let triggers: LocalTriggers
    private let clock: LocalClock
    private let state = Mutex(State())

    private init(projectID: String, server: FirestoreServer, clock: LocalClock) {
        self.projectID = projectID
        self.server = server
        triggers = LocalTriggers(server, projectID: projectID)
        self.clock = clock
    }

    /// Starts a server: in memory, unless the configuration names a folder.
    ///
    /// - Parameters:
    ///   - projectID: The project of every client that names no other.
    ///   - now: The initial time of the clock. It is the same in each run, so the times in a test
    ///     are too.
    ///   - configuration: The server's data, the duration of its history and its indexes, like the
    ///     options of `tidemark serve`.
    /// - Throws: `RPCStatus` when the folder's data cannot be opened.
    public static func start(
        projectID: String = "local",
        now: Timestamp = Timestamp(seconds: 1_700_000_000, nanoseconds: 0),
        configuration: FirestoreServer.Configuration = FirestoreServer.Configuration()
    ) throws(RPCStatus) -> LocalFirestore {
        let clock = LocalClock(now: now)
        // The ids of documents and transactions are also the same in every run.
        let chance = Mutex(SeededRandom(seed: 1))
        let environment = ServerEnvironment(
            now: { clock.now }, randomBits: { chance.withLock { $0.next() } },
            executor: LocalQueue("tidemark.local.server", clock: clock))
        do throws(StoreError) {
            let server = try FirestoreServer(configuration, environment: environment)
            return LocalFirestore(projectID: projectID, server: server, clock: clock)
        } catch { throw RPCStatus(.unavailable, error.message) }
    }

    /// Creates a client of this server, as an app does; every call simulates another device.
    ///
    /// - Parameters:
    ///   - projectID: The client's project; nil for the server's.
    ///   - databaseID: The client's database.
    ///   - label: The label under which ``meter()`` counts it.
    ///   - cache: A cache in memory, or in a folder. In a folder, the next client finds the data of
    ///     this client.
    ///   - readDeadline: The maximum time that a read waits for the server, in virtual time; nil
    ///     for no limit.
    ///   - readBudgets: The maximum number of reads per day.
    ///   - indexAdvisor: Collects the indexes of the client's queries; all clients of a test run
    ///     can share an advisor.
    ///   - token: The bearer token of the client's calls, as security rules see it: `owner` for an
    ///     administrator, nil for a client without a user. ``firestore(as:label:cache:)`` creates
    ///     the token of an account.
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

    /// Returns the reads and writes so far, by client label.
    public func meter() -> [MeterRow] { server.meter() }

    /// Removes all documents of a database, like the emulator's clear command. Listeners receive
    /// the removal of each document, the clock continues, and the earlier history can no longer be
    /// read. Nothing is billed.
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

    /// Terminates the clients, closes the sockets and releases the data.
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
    /// The time of the clock, which the server and the clients use.
    public var now: Timestamp { clock.now }

    /// Lets time pass, and runs each job that becomes due, in order. This takes no real time.
    ///
    /// - Precondition: `duration` is not negative.
    public func advance(by duration: Duration) { clock.advance(by: duration) }

    /// Sets the clock to `time`. An earlier time simulates the correction of a wrong clock: commit
    /// times do not decrease with it.
    public func setNow(_ time: Timestamp) { clock.set(time) }
}

// MARK: - Snapshots

extension LocalFirestore {
    /// A copy of the documents, their history and the clock at one moment.
    public struct Snapshot: Sendable {
        fileprivate let server: ServerSnapshot
        fileprivate let now: Timestamp
    }

    /// Returns a copy of the server's data, for ``restore(_:)``. The copy is in memory.
    ///
    /// - Throws: `RPCStatus` if there is no memory for the copy.
    public func snapshot() throws(RPCStatus) -> Snapshot {
        do throws(StoreError) { return Snapshot(server: try server.snapshot(), now: now) } catch {
            throw RPCStatus(.resourceExhausted, error.message)
        }
    }

    /// Restores a snapshot: all documents, their history and the clock have their earlier state.
    ///
    /// Terminates the clients that were created before, because their data belong to a history that
    /// no longer exists. Sockets stay open, and their streams end with `unavailable`. The meter
    /// continues to count.
    ///
    /// - Throws: `RPCStatus` if the data cannot be written; the server is then unchanged.
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
    /// Also serves on a port of this machine, for clients in other processes.
    ///
    /// ```swift
    /// let socket = try await local.serve()
    /// let settings = FirestoreSettings(host: socket.host, isSSLEnabled: false, cache: .memory)
    /// ```
    ///
    /// - Parameters:
    ///   - port: The port; 0 for a free port.
    ///   - callers: Decides who may call, like ``LocalAccounts/callers``; nil to accept all
    ///     callers.
    /// - Throws: `RPCStatus` if the port is in use.
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
