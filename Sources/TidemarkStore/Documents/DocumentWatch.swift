package import TidemarkModel

/// An observer of documents that it has read. It is notified about changes until it is released.
///
/// A reported change may be rolled back with its transaction, so a changed document must be read
/// again.
protocol DocumentWatch: AnyObject {
    /// Called before a row is overwritten or removed.
    func willChange(row: Int64, _ connection: Connection) throws(StoreError)
    /// Called after a document was written or removed.
    ///
    /// - Parameter row: The document's current or former row.
    func changed(_ path: DocumentPath, row: Int64)
    /// Called when everything read before is invalid.
    func lost()
}

/// The watches of one connection.
struct DocumentWatches {
    private struct Entry { weak var watch: (any DocumentWatch)? }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ watch: any DocumentWatch) {
        entries.removeAll { $0.watch == nil }
        entries.append(Entry(watch: watch))
    }

    mutating func remove(_ watch: any DocumentWatch) {
        entries.removeAll { $0.watch == nil || $0.watch === watch }
    }

    func forEach<E>(_ body: (any DocumentWatch) throws(E) -> Void) throws(E) {
        for entry in entries {
            if let watch = entry.watch { try body(watch) }
        }
    }
}

/// A document that is being written or removed.
struct DocumentChange {
    let collection: CollectionRow
    /// The document's name in the collection.
    let name: [UInt8]
    let path: DocumentPath
    /// The new contents; nil unless the document exists afterwards.
    let contents: EncodedFields?
}

extension Connection {
    /// True if changes of documents must be reported.
    var isObserved: Bool { !watches.isEmpty || !figures.isEmpty }

    /// Call before a row is overwritten or removed.
    func willChange(_ row: Int64, _ change: DocumentChange) throws(StoreError) {
        if !watches.isEmpty {
            try watches.forEach { watch throws(StoreError) in
                try watch.willChange(row: row, self)
                watch.changed(change.path, row: row)
            }
        }
        if !figures.isEmpty { try figures.replace(row, change: change, connection: self) }
    }

    /// Call after a row was inserted.
    func haveInserted(_ row: Int64, _ change: DocumentChange) {
        if !watches.isEmpty { watches.forEach { $0.changed(change.path, row: row) } }
        if !figures.isEmpty { figures.add(row, change) }
    }

    /// Call when everything that was read of documents is invalid.
    func loseDocuments() {
        watches.forEach { $0.lost() }
        figures.forget()
    }
}

/// Collects the paths of documents that are written or removed, until it is released.
package final class ChangedDocuments: DocumentWatch {
    package private(set) var paths: Set<DocumentPath> = []

    func willChange(row: Int64, _ connection: Connection) {}
    func changed(_ path: DocumentPath, row: Int64) { paths.insert(path) }
    func lost() {}
}
