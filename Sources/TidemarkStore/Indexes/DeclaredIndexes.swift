import TidemarkModel

/// An index of a database.
package struct IndexState: Hashable, Sendable {
    package let definition: IndexDefinition
    /// False for an index that was created on demand.
    package let isDeclared: Bool
    /// True if queries can use the index, because it contains every document.
    package let isReady: Bool
}

/// The indexes of one database: declared ones, and those created on demand.
struct DeclaredIndexes {
    let table: DocumentTable

    private var connection: Connection { table.connection }
    private var plans: QueryPlans { QueryPlans(table: table) }

    /// Creates an index. An existing index is kept.
    ///
    /// - Parameter fillsNow: True to fill the index before the call returns, with a pass over all
    ///   documents of its collections. Otherwise ``DocumentStore/buildWantedIndexes(slice:)`` fills
    ///   the index.
    func declare(
        _ definition: IndexDefinition, fillsNow: Bool = true
    ) throws(StoreError) {
        try table.transaction.requireWriting()
        let id = try connection.catalog.database(table.database, connection, creating: true)!
        let group = try connection.catalog.group(definition.collectionID, in: id, connection)
        if let known = group.indexes.firstIndex(where: { $0.definition == definition }) {
            group.indexes[known].isDeclared = true
            try group.indexes[known].saveProgress(connection)
        } else {
            group.indexes.append(
                try FieldIndex.insert(
                    definition, database: id, isDeclared: true, connection))
        }
        guard fillsNow else {
            connection.indexing.mayBeUnfinished = true
            return
        }
        while group.indexes.contains(where: { !$0.isReady }) {
            var budget = Int.max
            try IndexFiller(connection: connection).fill(group, &budget)
        }
    }

    /// Deletes an index, declared or not. Does nothing if the index does not exist.
    func drop(_ definition: IndexDefinition) throws(StoreError) {
        try table.transaction.requireWriting()
        guard let id = try connection.catalog.database(table.database, connection) else { return }
        let group = try connection.catalog.group(definition.collectionID, in: id, connection)
        guard let known = group.indexes.firstIndex(where: { $0.definition == definition }) else {
            return
        }
        try group.indexes[known].delete(connection)
        connection.indexing.batch = nil
        group.indexes.remove(at: known)
    }

    /// Returns every index of the database, by collection id and then in the order of creation.
    func all() throws(StoreError) -> [IndexState] {
        guard let id = try connection.catalog.database(table.database, connection) else {
            return []
        }
        let statement = try connection.statement(.allIndexes)
        defer { statement.release() }
        statement.bind(1, id)
        var result: [IndexState] = []
        while try statement.step() {
            let group = try connection.catalog.group(statement.text(0), in: id, connection)
            result += group.indexes.map {
                IndexState(
                    definition: $0.definition, isDeclared: $0.isDeclared, isReady: $0.isReady)
            }
        }
        return result
    }

    /// Returns true if each alternative of the query is one range of an index, in the query's
    /// order.
    func serve(_ query: Query) throws(StoreError) -> Bool {
        guard try holds(query) else { return false }
        return try plans.plan(query).wishes.isEmpty
    }

    /// Declares the indexes that the query would request, as ``declare(_:fillsNow:)`` does. Creates
    /// a missing collection, so that its first documents are indexed when they are written.
    func declare(for query: Query) throws(StoreError) {
        try table.transaction.requireWriting()
        let id = try connection.catalog.database(table.database, connection, creating: true)!
        if let path = query.collection {
            _ = try connection.catalog.collection(path, in: id, connection, creating: true)
        }
        for definition in try plans.plan(query).wishes { try declare(definition) }
    }

    /// Returns true if the collections that the query reads exist. Without them, its plan has no
    /// meaning.
    private func holds(_ query: Query) throws(StoreError) -> Bool {
        guard let id = try connection.catalog.database(table.database, connection) else {
            return false
        }
        guard let path = query.collection else { return true }
        return try connection.catalog.collection(path, in: id, connection) != nil
    }
}

extension DocumentStore {
    /// Sets whether requested indexes are built from now on. By default they are.
    package func setMakesWishedIndexes(_ isAutomatic: Bool) throws(StoreError) {
        try withConnection { $0.indexing.isAutomatic = isAutomatic }
    }
}
