import TidemarkModel

/// The word indexes of one database.
struct DeclaredWords {
    let table: DocumentTable

    private var connection: Connection { table.connection }

    /// Makes these the word indexes of the database: equal ones stay, others are deleted, and new
    /// ones are filled by ``DocumentStore/buildWantedIndexes(slice:isOver:)``.
    ///
    /// A deleted index leaves words that only its documents could name. All words are then deleted,
    /// and the other indexes are filled again.
    ///
    /// - Throws: ``StoreError``, for example `noFullText`.
    /// - Precondition: At most ``WordIndex/maxPerDatabase``, one for each collection id.
    func set(_ definitions: [WordIndexDefinition]) throws(StoreError) {
        precondition(definitions.count <= WordIndex.maxPerDatabase)
        try table.transaction.requireWriting()
        let id = try connection.catalog.database(table.database, connection, creating: true)!
        let known = try all()
        let old = known.filter { !definitions.contains($0.definition) }
        let new = definitions.filter { wanted in !known.contains { $0.definition == wanted } }
        if old.isEmpty, new.isEmpty { return }
        try makeTable()
        for state in old {
            let group = try group(state.definition.collectionID, id)
            try connection.run(.deleteWordIndexFields, group.words!.id)
            try connection.run(.deleteWordIndex, group.words!.id)
        }
        if !old.isEmpty {
            try connection.run(.clearWords)
            try connection.run(.refillWords)
        }
        for definition in new {
            _ = try WordIndex.insert(definition, database: id, connection)
        }
        // The groups read their word indexes again.
        connection.catalog.forget()
        connection.indexing.mayBeUnfinished = true
    }

    func all() throws(StoreError) -> [WordIndexState] {
        guard let id = try connection.catalog.database(table.database, connection) else {
            return []
        }
        let statement = try connection.statement(.allWordIndexes)
        defer { statement.release() }
        statement.bind(1, id)
        var result: [WordIndexState] = []
        while try statement.step() {
            if let words = try group(statement.text(0), id).words { result.append(words.state) }
        }
        return result
    }

    /// Removes the words of all documents of the database, which are being removed.
    func clear(_ database: Int64) throws(StoreError) {
        guard try !all().isEmpty else { return }
        try connection.run(.clearWords)
        try connection.run(.refillWordsOfOthers, database)
        connection.indexing.mayBeUnfinished = true
    }

    private func group(_ id: String, _ database: Int64) throws(StoreError) -> CollectionGroup {
        try connection.catalog.group(id, in: database, connection)
    }

    /// The table of words is made by the first word index, because not every SQLite has it.
    ///
    /// It keeps no texts and no positions, and splits only at spaces: words are made by
    /// ``SearchWords``.
    ///
    /// - Parameter module: The module of SQLite that keeps the words.
    func makeTable(by module: String = "fts5") throws(StoreError) {
        let text = """
            CREATE VIRTUAL TABLE IF NOT EXISTS word USING \(module)
            (words, content = '', columnsize = 0, detail = none, tokenize = 'ascii')
            """
        do throws(StoreError) {
            let statement = try connection.statement(text: text)
            defer { statement.release() }
            try statement.run()
        } catch {
            if case .invalidStatement(let detail) = error, detail.contains("no such module") {
                throw .noFullText
            }
            throw error
        }
    }
}

/// Fills word indexes with the documents that existed before them, in the order of rows.
struct WordFiller {
    let connection: Connection

    /// The number of steps of one document: to find and write its words takes about as long as
    /// these steps of another index.
    private static let stepsPerDocument = 10

    /// The first unfinished word index and its collections; nil if all are ready.
    func unfinished() throws(StoreError) -> CollectionGroup? {
        let statement = try connection.statement(.unfinishedWordIndex)
        defer { statement.release() }
        guard try statement.step() else { return nil }
        return try connection.catalog.group(
            statement.text(1), in: statement.integer(0), connection)
    }

    /// Continues with the word index of the group.
    ///
    /// - Parameter budget: The remaining steps. Any budget makes progress.
    func fill(_ group: CollectionGroup, _ budget: inout Int) throws(StoreError) {
        guard var index = group.words, !index.isReady else {
            throw .corrupt(detail: "the word index of \(group.id)")
        }
        let count = max(1, budget / Self.stepsPerDocument)
        let statement = try connection.statement(.documentsForWords)
        defer { statement.release() }
        statement.bind(1, index.builtRow)
        statement.bind(2, count)
        var found = 0
        while try statement.step() {
            found += 1
            let id = statement.integer(0)
            index.builtRow = id
            let collection = try connection.catalog.collection(
                id: statement.integer(1), connection)
            guard statement.integer(2) == StoredDocument.Kind.found.rawValue,
                collection.group.database == group.database,
                collection.group.id.hasSameBytes(as: group.id)
            else {
                budget -= 1
                continue
            }
            budget -= Self.stepsPerDocument
            let text = index.text(of: FieldsInPlace(statement.bytes(3)), in: collection)
            try WordEntries(connection: connection).insert(text, row: id)
        }
        if found < count { index.isReady = true }
        budget -= 1
        try index.saveProgress(connection)
        group.words = index
    }
}
