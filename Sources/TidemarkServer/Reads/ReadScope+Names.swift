import TidemarkModel
import TidemarkStore

extension ReadScope {
    /// Returns the ids directly inside a collection, including missing documents with descendants,
    /// in name order, after `after`, at most `limit`.
    func documentIDs(
        in collection: CollectionPath, after: String?, limit: Int
    ) throws -> [String] {
        let changed = try changedNames(below: collection.text + "/")
        var ids = try table.documentIDs(
            in: collection, includingMissing: true, after: after, limit: limit + changed.count)
        if changed.isEmpty { return ids }
        func path(_ id: String) -> DocumentPath {
            DocumentPath(unchecked: collection.text + "/" + id)
        }
        // The past state decides if a changed document exists.
        ids.removeAll { id in changed.contains { $0.hasSameBytes(as: id) } }
        for id in changed where after.map({ path($0) < path(id) }) ?? true {
            let isThere =
                try document(at: path(id)) != nil
                || hasDescendants(of: path(id), below: path(id).text + "/")
            if isThere { ids.append(id) }
        }
        return Array(ids.sorted { path($0) < path($1) }.prefix(limit))
    }

    /// Returns the sorted ids of the collections directly below a document, or at the root, that
    /// contain documents at any depth.
    func collectionIDs(below parent: DocumentPath?) throws -> [String] {
        var ids = try table.collectionIDs(below: parent)
        let prefix = parent.map { $0.text + "/" } ?? ""
        let changed = try changedNames(below: prefix)
        if changed.isEmpty { return ids }
        ids.removeAll { id in changed.contains { $0.hasSameBytes(as: id) } }
        for id in changed where try hasDescendants(of: parent, below: prefix + id + "/") {
            ids.append(id)
        }
        return ids.sorted { $0.precedesInBytes($1) }
    }

    /// Returns the segments directly below `prefix` of the paths that changed after a past read
    /// time.
    private func changedNames(below prefix: String) throws -> [String] {
        guard let past else { return [] }
        var names: Set<CollectionPath> = []
        _ = try past.undos(after: readTime) { path in
            if path.text.utf8.starts(with: prefix.utf8) {
                let rest = path.text.utf8.dropFirst(prefix.utf8.count)
                let name = String(Substring(rest.prefix { $0 != UInt8(ascii: "/") }))
                names.insert(CollectionPath(unchecked: name))
            }
            return false
        }
        return names.map(\.text)
    }

    private func hasDescendants(of parent: DocumentPath?, below prefix: String) throws -> Bool {
        let query = Query(parent: parent, collectionID: nil, allDescendants: true)
        var found = false
        _ = try run(query) { document in
            found = document.path.text.utf8.starts(with: prefix.utf8)
            return !found
        }
        return found
    }
}
