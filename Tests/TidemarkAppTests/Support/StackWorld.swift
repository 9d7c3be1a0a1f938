import Tidemark
import TidemarkApp
import TidemarkTesting

/// The servers and the folder of an app that uses `TidemarkStack`, over sockets.
final class StackWorld {
    let local: LocalFirestore
    let accounts: LocalAccounts
    let port: Int
    let folder = TestFolder()

    init() async throws {
        local = try LocalFirestore.start()
        accounts = try await LocalAccounts.start(beside: local)
        port = try await local.serve().port
    }

    /// - Parameter probe: Called at each step of a job.
    func stack(
        _ signals: AppSignals = .none, change: (inout StackSettings) -> Void = { _ in },
        probe: AccountJobs.Probe? = nil
    ) throws -> TidemarkStack {
        let client = FirestoreSettings(host: "127.0.0.1:\(port)", isSSLEnabled: false)
        // These tests do not depend on the speed of the machine.
        client.readDeadline = nil
        var settings = StackSettings(
            folder: folder.path, projectID: local.projectID, accounts: .local(accounts.host),
            firestore: client
        ) { firestore, _ in
            [
                try Feed(
                    FeedDefinition(
                        query: firestore.collection("stamps"), itemTime: "createdAt",
                        way: .changeTime("updatedAt", deletedField: "deletedAt")))
            ]
        }
        settings.signals = signals
        // A program of tests has no keychain.
        settings.credentials = try FileCredentialStore(folder: folder.path + "/secrets")
        change(&settings)
        return try TidemarkStack.$probe.withValue(probe.map(JobProbe.init)) {
            try TidemarkStack(settings)
        }
    }

    func stop() async {
        await accounts.stop()
        await local.stop()
    }
}
