import Tidemark
import TidemarkServer
import TidemarkTesting

extension LocalFirestore {
    /// Starts a server whose databases run pipelines.
    static func startEnterprise() throws -> LocalFirestore {
        var configuration = FirestoreServer.Configuration()
        configuration.editions = DatabaseEditions(.enterprise)
        return try .start(configuration: configuration)
    }
}
