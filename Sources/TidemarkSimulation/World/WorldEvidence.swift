import TidemarkModel
import TidemarkSync

/// What was shown, to be compared with what the server held at that time.
struct WorldEvidence {
    /// Versions of documents that a client took for the server's, not compared yet.
    var versions: [(document: Document, client: String)] = []
    /// Snapshots that claim to be the whole truth as of their read time.
    var truths: [(snapshot: ViewSnapshot, client: String)] = []
    /// Versions that were compared.
    var known: Set<WorldVersion> = []
    /// By the writes of others: how they were shown among a user's own.
    var strangers: [String: String] = [:]
    /// Writes that the server was seen to hold.
    var applied: Set<String> = []
    /// What committed transactions have read and not written.
    var reads: [(transfer: String, path: DocumentPath, version: Timestamp?, committed: Timestamp)] =
        []
}

/// What the server held at times past, each of them asked for once.
struct WorldHeld {
    private struct Key: Hashable {
        let collection: String
        let time: Timestamp
    }

    private var known: [Key: [Document]?] = [:]

    /// Nil where the server does not remember.
    mutating func documents(
        of collection: String, at time: Timestamp, _ server: WorldServer
    ) -> [Document]? {
        let key = Key(collection: collection, time: time)
        if let known = known[key] { return known }
        let query = Query(collectionID: collection)
        let documents = try? server.documents(query, at: time, in: World.database).get()
        known[key] = .some(documents)
        return documents
    }
}

struct WorldVersion: Hashable {
    let path: DocumentPath
    let time: Timestamp
    let contents: EncodedFields
}
