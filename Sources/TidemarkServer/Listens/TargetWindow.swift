import TidemarkModel

/// The rows of a query that are cut off by a limit or an offset, compared as a whole.
enum TargetWindow {
    /// The versions of a query's rows.
    static func versions(of rows: [Document]) -> [DocumentPath: Timestamp] {
        Dictionary(rows.map { ($0.path, $0.updateTime) }, uniquingKeysWith: { $1 })
    }

    /// From one window of a query to the next.
    ///
    /// - Parameter changed: The documents that have changed, as they are now; nil for removed ones.
    static func step(
        _ target: LiveTarget, from old: [DocumentPath: Timestamp], to rows: [Document],
        _ changed: [DocumentPath: Document?], _ snapshot: inout StreamSnapshot
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
