import TidemarkModel

/// Compares the rows of a query with a limit or an offset as a whole.
enum TargetWindow {
    /// Returns the versions of a query's rows.
    static func versions(of rows: [Document]) -> [DocumentPath: Timestamp] {
        Dictionary(rows.map { ($0.path, $0.updateTime) }, uniquingKeysWith: { $1 })
    }

    /// Adds the difference between two windows of a query.
    ///
    /// - Parameter changed: The present state of the changed documents; nil for removed documents.
    static func step(
        _ target: LiveTarget, from old: [DocumentPath: Timestamp], to rows: [Document],
        changed: [DocumentPath: Document?], snapshot: inout StreamSnapshot
    ) {
        let now = Set(rows.map(\.path))
        for path in old.keys.filter({ !now.contains($0) }).sorted() {
            if let document = changed[path] {
                snapshot.remove(path, changedTo: document, from: target)
            } else {
                snapshot.pushOut(path, of: target)
            }
        }
        for document in rows where old[document.path] != document.updateTime {
            snapshot.add(document, to: target)
        }
    }
}
