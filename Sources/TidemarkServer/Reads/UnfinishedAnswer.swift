import TidemarkModel

/// What is left of a long answer while its reader takes the part that it was sent.
///
/// It holds no documents. The rest is read as of the same time, which the change log makes possible
/// whatever is committed meanwhile (Decisions/0010).
struct UnfinishedAnswer {
    enum Rest {
        case query(Rows, Left)
        case batch(Batch)
    }

    /// Where the rows of a query go on.
    enum Left {
        /// The rest of a query is a query: from behind the last row that was sent.
        case query(Query)
        /// The rows themselves, where going on from a row would find them all again or would not
        /// find them: after a sort, in a transaction, and once what was read has changed.
        case rows(PathList)
    }

    /// A query and what has come of it so far.
    struct Rows {
        let query: Query
        let explanation: Explanation?
        private(set) var totals = ReadScope.Totals()
        /// Reads that are on the meter.
        var billed = 0

        init(query: Query, explanation: Explanation?) {
            self.query = query
            self.explanation = explanation
        }

        mutating func add(_ part: ReadScope.Totals) {
            totals.returned += part.returned
            totals.skipped += part.skipped
            totals.scanned += part.scanned
            totals.vectorEntries += part.vectorEntries
        }
    }

    /// What is left of a batch get. The missing are told after all that were found.
    struct Batch {
        var paths: ArraySlice<DocumentPath>
        var missing = PathList()
        let mask: [FieldPath]?
    }

    let context: CallContext
    let readTime: Timestamp
    var rest: Rest
    /// What the call was billed so far.
    var usage = Usage()

    /// The bytes of names that it keeps beside those of its request.
    var size: Int {
        switch rest {
        case .query(_, .query): 0
        case .query(_, .rows(let paths)): paths.size
        case .batch(let batch): batch.missing.size
        }
    }
}

/// All of them, and what they hold together.
struct UnfinishedAnswers {
    /// Names that may wait, in bytes, of all calls together.
    static let maxSize = 64 << 20

    private var byID: [CallID: UnfinishedAnswer] = [:]
    private var size = 0

    var ids: [CallID] { Array(byID.keys) }

    func contains(_ id: CallID) -> Bool { byID[id] != nil }

    /// - Throws: `resourceExhausted` when too much waits already.
    mutating func add(_ answer: UnfinishedAnswer, _ id: CallID) throws(RPCStatus) {
        precondition(byID[id] == nil, "a call has one answer")
        if size + answer.size > Self.maxSize {
            throw RPCStatus(.resourceExhausted, "Too many long answers wait to be read.")
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

/// How much of an answer goes out at once.
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
