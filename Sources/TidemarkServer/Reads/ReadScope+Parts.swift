import TidemarkModel
import TidemarkStore

/// The first rows of a query, as many as a part can contain; they were already passed on.
struct RowsPart {
    /// The totals of the query, with all found rows.
    var totals = ReadScope.Totals()
    /// The rest; nil if these were all rows.
    var rest: UnfinishedAnswer.Left?
    /// Every row, which an optimistic transaction must remember.
    var recorded: [(DocumentPath, Document)] = []
}

extension ReadScope {
    /// Passes on as many rows as a part can contain.
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
            // The rows were counted when they were found.
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
        // The row that did not fit is the first row of the next part.
        result.totals.returned -= 1
        result.rest = .query(query.continued(after: last, rows: result.totals.returned, self))
        return result
    }

    /// Returns true if a query for the rows after the last is the best way to find the rest.
    /// Returns false if each part would sort all rows or undo changes again, in a transaction,
    /// which reads everything together, and for a limit to the last rows, which allows no cursor.
    private func canGoOnByCursor(_ query: Query) -> Bool {
        if isPast || recorder != nil { return false }
        if case .last? = query.limit { return false }
        return (try? table.readsInOrder(query)) ?? false
    }
}

extension Query {
    /// Returns the rest of this query, after a row.
    fileprivate func continued(after row: Document, rows: Int, _ scope: ReadScope) -> Query {
        var rest = self
        rest.start = Cursor(values: cursorValues(of: row, in: scope.database), before: false)
        rest.offset = 0
        if case .first(let count)? = limit { rest.limit = .first(count - rows) }
        return rest
    }
}
