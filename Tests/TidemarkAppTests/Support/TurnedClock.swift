import Synchronization
import Tidemark
import TidemarkTesting

/// Makes clients whose wall clock a test turns. The clock that measures durations is the server's.
final class TurnedClock: Sendable {
    private let environment: SyncEnvironment
    private let projectID: String
    private let ahead = Mutex(Duration.zero)

    init(_ local: LocalFirestore) throws {
        projectID = local.projectID
        environment = try local.firestore(label: "clock").environment
    }

    func turn(ahead duration: Duration) { ahead.withLock { $0 = duration } }

    /// Returns a client, which the caller terminates.
    func firestore(
        label: String, cache: FirestoreSettings.Cache = .memory
    ) throws -> Firestore {
        let turned = SyncEnvironment(
            transport: environment.transport, scheduler: environment.scheduler,
            now: { [self] in environment.now().advanced(by: ahead.withLock { $0 }) },
            random: environment.random)
        return try Firestore(
            projectID: projectID, settings: FirestoreSettings(cache: cache, label: label),
            environment: turned)
    }
}
