package import TidemarkModel

// What a transaction asks of many documents: each question has a type that answers it.

// MARK: - Queries

extension DocumentTable {
    /// The query's rows in its order, offset and limit applied, projection not.
    package func run(_ query: Query) throws(StoreError) -> QueryRun {
        try QueryRunner(table: self).run(query)
    }

    /// Hands out the query's rows one by one until `body` returns false. Rows come as they are
    /// found, except where they must be sorted first, or where the limit is to the last.
    ///
    /// - Parameters:
    ///   - kept: Of this query, if it is asked again and again; its offset and the number in its limit may be
    ///     others each time.
    ///   - most: How many rows it may look at. Where these are not enough the rest is missing, and
    ///     ``QueryStats/isCut``: a ``RowScan`` finds it.
    @discardableResult
    package func run(
        _ query: Query, _ kept: KeptPlan? = nil, lookingAt most: Int = .max,
        _ body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        try QueryRunner(table: self).run(query, kept, lookingAt: most, body)
    }

    /// What ``run(_:)`` would do, in a sentence, without doing it.
    package func explain(_ query: Query) throws(StoreError) -> String {
        try QueryPlans(table: self).plan(query).sentence
    }

    /// Whether ``run(_:_:)`` finds the rows in the query's order: then it goes on from a cursor at the
    /// cost of what follows, where otherwise all rows are sorted first.
    package func readsInOrder(_ query: Query) throws(StoreError) -> Bool {
        try !QueryPlans(table: self).plan(query).isSorted
    }

    /// How many rows the query has, counted no further than `upTo`. Where an index proves the
    /// filter, its entries are counted and no document is read.
    package func count(_ query: Query, upTo: Int64? = nil) throws(StoreError) -> QueryCount {
        try QueryCounter(table: self).count(query, upTo: upTo)
    }
}

// MARK: - Scans in slices

extension DocumentTable {
    /// Begins a scan for a query's rows, of which the first `capacity` are wanted.
    ///
    /// - Precondition: The query has no offset; of its limit only the side counts.
    package func scan(_ query: Query, capacity: Int) throws(StoreError) -> RowScan {
        try RowScan.begin(query, capacity: capacity, self)
    }

    /// Goes on with a scan.
    ///
    /// - Parameter take: Gets the rows in the query's order, backwards where its limit is to the last.
    /// - Returns: Whether it is at its end. Where it ``RowScan/isLost`` it is not, and never will be.
    package func step(
        _ scan: RowScan, _ budget: ScanBudget, _ take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        try scan.step(self, budget, take)
    }

    /// Begins a scan for the figures of all rows of a query. It is to be told when it is over.
    ///
    /// - Precondition: The query has neither limit nor offset.
    package func scan(_ query: Query, for fields: [FieldPath]) throws(StoreError) -> FigureScan {
        try FigureScan.begin(query, fields, self)
    }

    /// Goes on with a scan.
    ///
    /// - Returns: Whether it is at its end. Where it ``FigureScan/isLost`` it is not, and never will be.
    package func step(_ scan: FigureScan, _ budget: ScanBudget) throws(StoreError) -> Bool {
        try scan.step(self, budget)
    }

    /// Ends a scan, of which nothing is to be heard any more.
    package func end(_ scan: FigureScan) { scan.end(self) }

    /// The documents that change from now on.
    package func changes() -> ChangedDocuments {
        let changes = ChangedDocuments()
        connection.watches.add(changes)
        return changes
    }
}

// MARK: - Figures

extension DocumentTable {
    /// Whether ``knownFigures(_:_:)`` has an answer.
    package func knowsFigures(_ query: Query, _ fields: [FieldPath]) throws(StoreError) -> Bool {
        try KnownFigures(table: self).knows(query, fields)
    }

    /// The figures of a query's rows where it is one range of what blocks are kept of: by a look at its two
    /// ends. Nil where a scan has to find them.
    ///
    /// - Precondition: The query has neither limit nor offset.
    package func knownFigures(
        _ query: Query, _ fields: [FieldPath]
    ) throws(StoreError) -> Figures? {
        try KnownFigures(table: self).figures(of: query, fields)
    }
}

// MARK: - Names

extension DocumentTable {
    /// The ids of the collections directly below a document, or at the root, that hold documents at
    /// any depth; sorted by bytes.
    package func collectionIDs(below parent: DocumentPath?) throws(StoreError) -> [String] {
        try CollectionListing(table: self).collectionIDs(below: parent)
    }

    /// The ids directly inside a collection, those of missing documents with descendants too, in
    /// name order, after `after`, at most `limit`.
    package func documentIDs(
        in collection: CollectionPath, includingMissing: Bool, after: String?, limit: Int
    ) throws(StoreError) -> [String] {
        try CollectionListing(table: self).documentIDs(
            in: collection, includingMissing: includingMissing, after: after, limit: limit)
    }
}

// MARK: - Indexes

extension DocumentTable {
    /// Makes an index. One that is there already is kept.
    ///
    /// - Parameter fillsNow: Before this returns: a pass over all documents of its collections. Else
    ///   ``DocumentStore/buildWantedIndexes(slice:)`` does it.
    package func declareIndex(
        _ definition: IndexDefinition, fillsNow: Bool = true
    ) throws(StoreError) {
        try DeclaredIndexes(table: self).declare(definition, fillsNow: fillsNow)
    }

    /// Declares the indexes that the query would wish for, as ``declareIndex(_:fillsNow:)``. Where the
    /// collection is not there yet it is made, so that its first documents are indexed as they come.
    package func declareIndexes(for query: Query) throws(StoreError) {
        try DeclaredIndexes(table: self).declare(for: query)
    }

    /// Deletes an index, declared or not. Deleting one that is not there does nothing.
    package func dropIndex(_ definition: IndexDefinition) throws(StoreError) {
        try DeclaredIndexes(table: self).drop(definition)
    }

    /// Every index of the database, by collection id and then in the order they were made.
    package func indexes() throws(StoreError) -> [IndexState] {
        try DeclaredIndexes(table: self).all()
    }

    /// Whether each alternative of the query is one range of an index, in its order.
    package func isIndexed(_ query: Query) throws(StoreError) -> Bool {
        try DeclaredIndexes(table: self).serve(query)
    }
}
