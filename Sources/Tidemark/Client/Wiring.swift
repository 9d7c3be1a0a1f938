import Foundation
import Synchronization
import TidemarkWire

/// The connection that a client owns and closes.
package struct Connection: Sendable {
    let transport: GRPCTransport

    init(_ server: FirestoreSettings.Server, authorities: [[UInt8]]) {
        transport = GRPCTransport(
            GRPCTransport.Endpoint(
                host: server.host, port: server.port, usesTLS: server.usesTLS,
                authorities: authorities))
    }

    var traffic: (sent: Int, received: Int) { transport.traffic }

    func close() async { await transport.close() }
}

/// The parts of a client that is in use.
final class Client: Sendable {
    let settings: FirestoreSettings.Values
    let engine: SyncEngine
    let environment: SyncEnvironment
    let connection: Connection?
    /// The reason why the engine refuses every call; nil if it does not.
    let fault: FirestoreError?
    let isTerminated = Mutex(false)
    /// The number of suspensions and resumptions. After a grace period, a caller compares it to
    /// find out if the suspension is still wanted.
    let pauses = Mutex(0)
    /// The take-over that was begun last. The next one begins when it is over.
    let takeOver = Mutex<CacheTakeOver?>(nil)

    init(
        _ settings: FirestoreSettings.Values, engine: SyncEngine,
        environment: SyncEnvironment, connection: Connection?, fault: FirestoreError?
    ) {
        self.settings = settings
        self.engine = engine
        self.environment = environment
        self.connection = connection
        self.fault = fault
    }
}

/// The parts from which a client is created. This is the only place where they meet the real world.
struct Setup: Sendable {
    var settings: FirestoreSettings.Values
    /// The environment; nil for the real one.
    var environment: SyncEnvironment?
    /// The reason why no client can be created from the setup.
    var fault: FirestoreError?

    /// Returns a client. If it cannot work, each use of the client throws the reason.
    func start(_ database: DatabaseID) -> Client {
        var connection: Connection?
        var environment = environment ?? .live(Unconnected())
        do throws(FirestoreError) {
            if let fault { throw fault }
            try settings.check()
            if self.environment == nil {
                let server = try settings.server(
                    environment: ProcessInfo.processInfo.environment)
                let made = Connection(server, authorities: settings.authorities)
                connection = made
                environment = .live(made.transport)
            }
            if settings.tokenProvider != nil || settings.appCheckProvider != nil {
                environment.transport = AuthorizedTransport(
                    environment.transport, settings.tokenProvider,
                    appCheck: settings.appCheckProvider)
            }
            if let advisor = settings.indexAdvisor {
                environment.transport = AdvisedTransport(environment.transport, advisor)
            }
            environment.transport = LoggedTransport(environment.transport)
            environment.cacheEncryption = settings.cacheEncryption
            let engine = try engine(of: database, environment)
            return Client(
                settings, engine: engine, environment: environment, connection: connection,
                fault: nil)
        } catch {
            let engine = SyncEngine(
                refusing: error.syncError, configuration(of: database), environment)
            return Client(
                settings, engine: engine, environment: environment, connection: connection,
                fault: error)
        }
    }

    private func engine(
        of database: DatabaseID, _ environment: SyncEnvironment
    ) throws(FirestoreError) -> SyncEngine {
        do throws(SyncError) {
            return try SyncEngine(configuration(of: database), environment)
        } catch { throw FirestoreError(error) }
    }

    private func configuration(of database: DatabaseID) -> SyncEngine.Configuration {
        let file = settings.cacheFile(of: database)
        if let file { BackupExclusion.exclude(folderOf: file) }
        var configuration = SyncEngine.Configuration(
            database: database, cacheFile: file,
            user: settings.user, sharesCacheBetweenUsers: settings.sharesCacheBetweenUsers,
            label: settings.label, cacheSizeBytes: settings.cacheSizeBytes, token: settings.token)
        configuration.busyCache = settings.onBusyCache.policy
        configuration.readBudgets = settings.readBudgets
        configuration.stormBounds = settings.stormBounds
        configuration.freesAtOnce = settings.cache == .memory && settings.freesAtOnce
        return configuration
    }
}
