import TidemarkModel

/// An index of a database.
package struct IndexState: Hashable, Sendable {
    package let definition: IndexDefinition
    /// False for one that was made on demand.
    package let isDeclared: Bool
    /// Whether queries use it: every document is in it.
    package let isReady: Bool
}

/// The indexes of one database: those that were declared, and those made on demand.
struct DeclaredIndexes {
    let table: DocumentTable

    private var connection: Connection { table.connection }
    private var plans: QueryPlans { QueryPlans(table: table) }

    /// Makes an index. One that is there already is kept.
    ///
    /// - Parameter fillsNow: Before this returns: a pass over all documents of its collections. Else
    ///   ``DocumentStore/buildWantedIndexes(slice:)`` does it.
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

    /// Deletes an index, declared or not. Deleting one that is not there does nothing.
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

    /// Every index of the database, by collection id and then in the order they were made.
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

    /// Whether each alternative of the query is one range of an index, in its order.
    func serve(_ query: Query) throws(StoreError) -> Bool {
        guard try holds(query) else { return false }
        return try plans.plan(query).wishes.isEmpty
    }

    /// Declares the indexes that the query would wish for, as ``declare(_:fillsNow:)``. Where the
    /// collection is not there yet it is made, so that its first documents are indexed as they come.
    func declare(for query: Query) throws(StoreError) {
        try table.transaction.requireWriting()
        let id = try connection.catalog.database(table.database, connection, creating: true)!
        if let path = query.collection {
            _ = try connection.catalog.collection(path, in: id, connection, creating: true)
        }
        for definition in try plans.plan(query).wishes { try declare(definition) }
    }

    /// Whether there is what the query reads; without it, its plan says nothing.
    private func holds(_ query: Query) throws(StoreError) -> Bool {
        guard let id = try connection.catalog.database(table.database, connection) else {
            return false
        }
        guard let path = query.collection else { return true }
        return try connection.catalog.collection(path, in: id, connection) != nil
    }
}

extension DocumentStore {
    /// Whether indexes that queries wish for are made from now on; they are unless this says otherwise.
    package func setMakesWishedIndexes(_ isAutomatic: Bool) throws(StoreError) {
        try withConnection { $0.indexing.isAutomatic = isAutomatic }
    }
}
