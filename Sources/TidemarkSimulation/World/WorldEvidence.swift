import TidemarkModel
import TidemarkSync

/// The rows that clients showed, to be compared with the server's data at their read times.
struct WorldEvidence {
    /// The versions of documents that a client showed as the server's and that are not compared
    /// yet.
    var versions: [(document: Document, client: String)] = []
    /// The snapshots that claim to be complete as of their read time.
    var truths: [(snapshot: ViewSnapshot, client: String)] = []
    /// The versions that were compared.
    var known: Set<WorldVersion> = []
    /// Other users' writes that appeared among a user's own, with a description of each.
    var strangers: [String: String] = [:]
    /// The writes that the server has applied.
    var applied: Set<String> = []
    /// The documents that committed transactions read but did not write.
    var reads: [(transfer: String, path: DocumentPath, version: Timestamp?, committed: Timestamp)] =
        []
}

/// The server's data at past times. Each collection and time is read only once.
struct WorldHeld {
    private struct Key: Hashable {
        let collection: String
        let time: Timestamp
    }

    private var known: [Key: [Document]?] = [:]

    /// Returns the documents; nil if the server no longer has that version.
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
