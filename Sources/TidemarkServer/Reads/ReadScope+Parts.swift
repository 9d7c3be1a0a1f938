import TidemarkModel
import TidemarkStore

/// The first rows of a query, as many as one part holds; they were handed out.
struct RowsPart {
    /// What it took, with all rows that it has found.
    var totals = ReadScope.Totals()
    /// What is left; nil when that were all.
    var rest: UnfinishedAnswer.Left?
    /// Every row, for an optimistic transaction to remember.
    var recorded: [(DocumentPath, Document)] = []
}

extension ReadScope {
    /// Hands out as many rows as one part holds.
    func readPart(
        of left: UnfinishedAnswer.Left, _ give: (Document) -> Void
    ) throws -> RowsPart {
        switch left {
        case .query(let query): return try readPart(of: query, give)
        case .rows(var paths):
            var part = AnswerPart()
            while !part.isFull, let path = paths.popFirst() {
                guard let document = try document(at: path) else { continue }
                part.add(document)
                give(document)
            }
            // They were counted when they were found.
            return RowsPart(rest: paths.isEmpty ? nil : .rows(paths))
        }
    }

    func readPart(of query: Query, _ give: (Document) -> Void) throws -> RowsPart {
        var part = AnswerPart()
        var last: Document?
        var left: PathList?
        var goesOnByCursor = false
        var result = RowsPart()
        result.totals = try run(query) { document in
            if recorder != nil { result.recorded.append((document.path, document)) }
            if part.isFull, query.findNearest == nil {
                if left == nil {
                    goesOnByCursor = canGoOnByCursor(query)
                    left = PathList()
                }
                if goesOnByCursor { return false }
                left?.append(document.path)
                return true
            }
            part.add(document)
            last = document
            give(document)
            return true
        }
        guard let left, let last else { return result }
        if !goesOnByCursor {
            result.rest = .rows(left)
            return result
        }
        // The row that did not fit is the next part's first.
        result.totals.returned -= 1
        result.rest = .query(query.continued(after: last, rows: result.totals.returned, self))
        return result
    }

    /// Whether the rest of a query's rows is best found by asking for those after the last one. Not
    /// where each time all would be sorted, nor where changes would be undone again; not in a
    /// transaction, which reads all at once; and the last rows have no cursor.
    private func canGoOnByCursor(_ query: Query) -> Bool {
        if isPast || recorder != nil { return false }
        if case .last? = query.limit { return false }
        return (try? table.readsInOrder(query)) ?? false
    }
}

extension Query {
    /// The rest of this query, from behind a row.
    fileprivate func continued(after row: Document, rows: Int, _ scope: ReadScope) -> Query {
        var rest = self
        rest.start = Cursor(values: cursorValues(of: row, in: scope.database), before: false)
        rest.offset = 0
        if case .first(let count)? = limit { rest.limit = .first(count - rows) }
        return rest
    }
}
