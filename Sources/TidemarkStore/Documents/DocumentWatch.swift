package import TidemarkModel

/// Somebody who has read documents and hears of those that change afterwards, until it is let go.
///
/// What it hears may be undone with the transaction: a document that changed is one to be read again.
protocol DocumentWatch: AnyObject {
    /// A row is about to be written over or removed.
    func willChange(row: Int64, _ connection: Connection) throws(StoreError)
    /// A document was written or removed.
    ///
    /// - Parameter row: The one it has, or had.
    func changed(_ path: DocumentPath, row: Int64)
    /// All that was read is worth nothing.
    func lost()
}

/// Those who watch one connection.
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

/// One document that is written or removed.
struct DocumentChange {
    let collection: CollectionRow
    /// Its name in the collection.
    let name: [UInt8]
    let path: DocumentPath
    /// Empty unless it is found afterwards.
    let contents: EncodedFields?
}

extension Connection {
    /// Whether anybody wants to hear of documents that change.
    var isObserved: Bool { !watches.isEmpty || !figures.isEmpty }

    /// To be called before a row is written over or removed.
    func willChange(_ row: Int64, _ change: DocumentChange) throws(StoreError) {
        if !watches.isEmpty {
            try watches.forEach { watch throws(StoreError) in
                try watch.willChange(row: row, self)
                watch.changed(change.path, row: row)
            }
        }
        if !figures.isEmpty { try figures.replace(row, change, self) }
    }

    /// To be called after a row was inserted.
    func haveInserted(_ row: Int64, _ change: DocumentChange) {
        if !watches.isEmpty { watches.forEach { $0.changed(change.path, row: row) } }
        if !figures.isEmpty { figures.add(row, change) }
    }

    /// Everything that was read of documents is worth nothing any more.
    func loseDocuments() {
        watches.forEach { $0.lost() }
        figures.forget()
    }
}

/// Names the documents that are written or removed, until it is let go.
package final class ChangedDocuments: DocumentWatch {
    package private(set) var paths: Set<DocumentPath> = []

    func willChange(row: Int64, _ connection: Connection) {}
    func changed(_ path: DocumentPath, row: Int64) { paths.insert(path) }
    func lost() {}
}
