import TidemarkModel

/// The rest of a long answer while its reader takes the sent part.
///
/// The rest contains no documents. It is read as of the same time, which the change log makes
/// possible despite later commits (Decisions/0010). Only the rest of a pipeline has its rows, which
/// no read could find again (Decisions/0086).
struct UnfinishedAnswer {
    enum Rest {
        case query(Rows, Left)
        case batch(Batch)
        case pipeline(PipelineAnswer.Rest)
    }

    /// The remaining rows of a query.
    enum Left {
        /// The rest of a query is another query: the rows after the last sent row.
        case query(Query)
        /// The names of the rows, if a query after a row would find them all again or would not
        /// find them: after a sort, in a transaction, and after a change of the data.
        case rows(PathList)
    }

    /// A query and its results so far.
    struct Rows {
        let query: Query
        let explanation: Explanation?
        private(set) var totals = ReadScope.Totals()
        /// The number of reads that the meter has counted.
        var billed = 0
        /// The counter of read units; nil for a database of the Standard edition.
        var units: QueryUnits?
        /// The number of read units that the meter has counted.
        var billedUnits = 0

        init(query: Query, explanation: Explanation?, units: QueryUnits?) {
            self.query = query
            self.explanation = explanation
            self.units = units
        }

        mutating func add(_ part: ReadScope.Totals) {
            totals.returned += part.returned
            totals.skipped += part.skipped
            totals.scanned += part.scanned
            totals.vectorEntries += part.vectorEntries
        }
    }

    /// The rest of a batch get. Missing documents follow after all found documents.
    struct Batch {
        var paths: ArraySlice<DocumentPath>
        var missing = PathList()
        let mask: [FieldPath]?
    }

    let context: CallContext
    let readTime: Timestamp
    var rest: Rest
    /// The bill of the call so far.
    var usage = Usage()

    /// The bytes of the names and rows that the rest keeps, in addition to those in its request.
    var size: Int {
        switch rest {
        case .query(_, .query): 0
        case .query(_, .rows(let paths)): paths.size
        case .batch(let batch): batch.missing.size
        case .pipeline(let rest): rest.size
        }
    }
}

/// Stores the unfinished answers, with their total memory.
struct UnfinishedAnswers {
    /// The maximum bytes of waiting names and rows, for all calls together.
    static let maxSize = 64 << 20

    private var byID: [CallID: UnfinishedAnswer] = [:]
    private var size = 0

    var ids: [CallID] { Array(byID.keys) }

    func contains(_ id: CallID) -> Bool { byID[id] != nil }

    /// - Throws: `resourceExhausted` if too much data waits already.
    mutating func add(_ answer: UnfinishedAnswer, _ id: CallID) throws(RPCStatus) {
        precondition(byID[id] == nil, "a call has one answer")
        if size + answer.size > Self.maxSize {
            throw RPCStatus(.resourceExhausted, "Too many long responses are waiting to be read.")
        }
        size += answer.size
        byID[id] = answer
    }

    mutating func addUsage(_ usage: Usage, _ id: CallID) { byID[id]?.usage += usage }

    mutating func remove(_ id: CallID) -> UnfinishedAnswer? {
        guard let answer = byID.removeValue(forKey: id) else { return nil }
        size -= answer.size
        return answer
    }
}

/// The limits of a part of an answer.
struct AnswerPart {
    static let maxRows = 1_000
    static let maxBytes = 1 << 19

    private var rows = 0
    private var bytes = 0

    var isFull: Bool { rows >= Self.maxRows || bytes >= Self.maxBytes }

    mutating func add(_ document: Document) { add(bytes: document.contents.bytes.count) }

    mutating func add(bytes count: Int) {
        rows += 1
        bytes += count
    }
}
