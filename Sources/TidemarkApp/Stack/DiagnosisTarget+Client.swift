public import Tidemark
public import TidemarkDiagnosis

extension DiagnosisTarget {
    /// The server of a client; nil if the client's settings name no valid address.
    public init?(of firestore: Firestore) {
        guard let address = firestore.settings.address else { return nil }
        self.init(
            host: address.host, port: address.port, usesTLS: address.usesTLS,
            project: firestore.databaseID.project, database: firestore.databaseID.database)
    }
}
