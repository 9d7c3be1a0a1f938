package import TidemarkModel

// Operations on many documents. Each is implemented by its own type.

// MARK: - Queries

extension DocumentTable {
    /// Returns the query's rows in order, with offset and limit but without projection.
    package func run(_ query: Query) throws(StoreError) -> QueryRun {
        try QueryRunner(table: self).run(query)
    }

    /// Passes the query's rows to `body` one by one until `body` returns false. Rows are passed as
    /// they are found, unless they must be sorted first or the limit is to the last rows.
    ///
    /// - Parameters:
    ///   - kept: A cached plan, for a query that runs repeatedly. Its offset and the number in its
    ///     limit may differ each time.
    ///   - most: The maximum number of rows to visit. If they are not enough, the result is
    ///     incomplete and ``QueryStats/isCut`` is true; a ``RowScan`` finds the rest.
    @discardableResult
    package func run(
        _ query: Query, kept: KeptPlan? = nil, lookingAt most: Int = .max,
        body: (consuming StoredDocument) -> Bool
    ) throws(StoreError) -> QueryStats {
        try QueryRunner(table: self).run(query, kept: kept, lookingAt: most, body: body)
    }

    /// Returns a sentence about what ``run(_:)`` would do, without running it.
    package func explain(_ query: Query) throws(StoreError) -> String {
        try QueryPlans(table: self).plan(query).sentence
    }

    /// Returns true if ``run(_:_:)`` finds the rows in the query's order. Then, continuing from a
    /// cursor costs only the rows after it; otherwise all rows are sorted first.
    package func readsInOrder(_ query: Query) throws(StoreError) -> Bool {
        try !QueryPlans(table: self).plan(query).isSorted
    }

    /// Counts the query's rows, at most up to `upTo`. If an index proves the filter, its entries
    /// are counted and no document is read.
    package func count(_ query: Query, upTo: Int64? = nil) throws(StoreError) -> QueryCount {
        try QueryCounter(table: self).count(query, upTo: upTo)
    }
}

// MARK: - Scans in slices

extension DocumentTable {
    /// Begins a scan for the first `capacity` rows of a query.
    ///
    /// - Parameters:
    ///   - inAnyOrder: True if the rows may come in any order, which saves a sort.
    ///   - fieldsOnly: True if each step passes only the fields of rows on.
    /// - Precondition: The query has no offset. Of its limit, only the side matters.
    package func scan(
        _ query: Query, capacity: Int, inAnyOrder: Bool = false, fieldsOnly: Bool = false
    ) throws(StoreError) -> RowScan {
        try RowScan.begin(
            query, capacity: capacity, inAnyOrder: inAnyOrder, fieldsOnly: fieldsOnly, self)
    }

    /// Continues a scan.
    ///
    /// - Parameter take: Receives the rows in the query's order, or in reverse order if the limit
    ///   is to the last rows.
    /// - Returns: True if the scan is complete. A scan that ``RowScan/isLost`` never completes.
    package func step(
        _ scan: RowScan, budget: ScanBudget, take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        try scan.step(self, budget: budget, take: take)
    }

    /// Continues a scan, and passes the fields of rows on without a copy.
    ///
    /// - Returns: True if the scan is complete. A scan that ``RowScan/isLost`` never completes.
    package func step(
        _ scan: RowScan, budget: ScanBudget, fieldsTo receiver: any FieldReceiver
    ) throws(StoreError) -> Bool {
        try scan.step(self, budget: budget, fieldsTo: receiver) { _ in }
    }

    /// Begins a scan for the figures of all rows of a query. Call ``end(_:)`` when it is no longer
    /// needed.
    ///
    /// - Precondition: The query has neither limit nor offset.
    package func scan(_ query: Query, for fields: [FieldPath]) throws(StoreError) -> FigureScan {
        try FigureScan.begin(query, fields: fields, table: self)
    }

    /// Continues a scan.
    ///
    /// - Returns: True if the scan is complete. A scan that ``FigureScan/isLost`` never completes.
    package func step(_ scan: FigureScan, _ budget: ScanBudget) throws(StoreError) -> Bool {
        try scan.step(self, budget)
    }

    /// Ends a scan, of which nothing is to be heard any more. What it has found is kept for the
    /// next time.
    ///
    /// - Precondition: It is at its end, in a transaction in which nothing was written since.
    package func end(_ scan: FigureScan) throws(StoreError) { try scan.end(self) }

    /// Returns an object that collects the documents that change from now on.
    package func changes() -> ChangedDocuments {
        let changes = ChangedDocuments()
        connection.watches.add(changes)
        return changes
    }
}

// MARK: - Figures

extension DocumentTable {
    /// Returns true if ``knownFigures(_:_:)`` returns a result.
    package func knowsFigures(_ query: Query, _ fields: [FieldPath]) throws(StoreError) -> Bool {
        try KnownFigures(table: self).knows(query, fields)
    }

    /// Returns the figures of a query's rows if they are one range of an index with block figures,
    /// by reading only the two ends of the range. Returns nil if a scan is needed.
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
    /// Returns the ids of the collections directly below a document, or at the root, that contain
    /// documents at any depth. Sorted by bytes.
    package func collectionIDs(below parent: DocumentPath?) throws(StoreError) -> [String] {
        try CollectionListing(table: self).collectionIDs(below: parent)
    }

    /// Returns at most `limit` ids directly inside a collection after `after`, in name order;
    /// optionally with missing documents that have descendants.
    package func documentIDs(
        in collection: CollectionPath, includingMissing: Bool, after: String?, limit: Int
    ) throws(StoreError) -> [String] {
        try CollectionListing(table: self).documentIDs(
            in: collection, includingMissing: includingMissing, after: after, limit: limit)
    }
}

// MARK: - Indexes

extension DocumentTable {
    /// Creates an index. An existing index is kept.
    ///
    /// - Parameter fillsNow: True to fill the index before the call returns, with a pass over all
    ///   documents of its collections. Otherwise ``DocumentStore/buildWantedIndexes(slice:)`` fills
    ///   the index.
    package func declareIndex(
        _ definition: IndexDefinition, fillsNow: Bool = true
    ) throws(StoreError) {
        try DeclaredIndexes(table: self).declare(definition, fillsNow: fillsNow)
    }

    /// Declares the indexes that the query would request, as ``declareIndex(_:fillsNow:)`` does.
    /// Creates a missing collection, so that its first documents are indexed when they are written.
    package func declareIndexes(for query: Query) throws(StoreError) {
        try DeclaredIndexes(table: self).declare(for: query)
    }

    /// Deletes an index, declared or not. Does nothing if the index does not exist.
    package func dropIndex(_ definition: IndexDefinition) throws(StoreError) {
        try DeclaredIndexes(table: self).drop(definition)
    }

    /// Returns every index of the database, by collection id and then in the order of creation.
    package func indexes() throws(StoreError) -> [IndexState] {
        try DeclaredIndexes(table: self).all()
    }

    /// Returns true if each alternative of the query is one range of an index, in the query's
    /// order.
    package func isIndexed(_ query: Query) throws(StoreError) -> Bool {
        try DeclaredIndexes(table: self).serve(query)
    }
}

// MARK: - Words

extension DocumentTable {
    /// Makes these the word indexes of the database. Equal ones stay; the others are deleted; new
    /// ones are filled by ``DocumentStore/buildWantedIndexes(slice:isOver:)``.
    ///
    /// - Throws: ``StoreError/noFullText`` if the system's SQLite has no full-text search.
    package func setWordIndexes(_ definitions: [WordIndexDefinition]) throws(StoreError) {
        try DeclaredWords(table: self).set(definitions)
    }

    /// Returns the word indexes of the database, in the order of their creation.
    package func wordIndexes() throws(StoreError) -> [WordIndexState] {
        try DeclaredWords(table: self).all()
    }

    /// Begins a search for documents that contain all terms, and perhaps a few others: words longer
    /// than 64 bytes are compared by their beginnings.
    ///
    /// - Parameters:
    ///   - query: Names the collections. Its filter, orders and limit have no effect.
    ///   - definition: The word index of the collections.
    /// - Returns: Nil if there are no terms, or if the word index does not exist or is not ready.
    package func scan(
        for terms: [SearchTerm], in query: Query, by definition: WordIndexDefinition
    ) throws(StoreError) -> WordScan? {
        try WordScan.begin(terms, in: query, by: definition, self)
    }

    /// Continues a search.
    ///
    /// - Returns: True if the scan is complete. A scan that ``WordScan/isLost`` never completes.
    package func step(
        _ scan: WordScan, budget: ScanBudget, take: (consuming StoredDocument) -> Void
    ) throws(StoreError) -> Bool {
        try scan.step(self, budget: budget, take: take)
    }
}
