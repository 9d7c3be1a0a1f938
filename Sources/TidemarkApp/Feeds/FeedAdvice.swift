import Synchronization
import Tidemark

/// Tells the developer once in a process that the change times of a collection hide documents.
enum FeedAdvice {
    private static let told = Mutex<Set<String>>([])
    /// The maximum number of collections of which a process tells.
    private static let maxTold = 100

    /// - Parameters:
    ///   - count: The number of documents that an audit found.
    ///   - collection: The id of the collection.
    ///   - field: The field with the change time.
    static func notify(hidden count: Int, in collection: String, by field: String) {
        let isNew = told.withLock { told in
            told.count < maxTold && told.insert("\(collection)/\(field)").inserted
        }
        guard isNew else { return }
        Log.advise(
            """
            feed of \(collection): an audit found \(count) documents that \(field) had hidden. \
            They were really deleted, have left the filters, or were written without \(field). \
            The command "tidemark migrate change-times --check" finds the writer.
            """)
    }
}
