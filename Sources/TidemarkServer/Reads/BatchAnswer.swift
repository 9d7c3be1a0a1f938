import TidemarkModel

/// Answers batch gets, a part at a time.
struct BatchAnswer {
    let access: ReadAccess

    /// Begins an answer. Found documents come first, then missing documents; a repeated path is
    /// answered once.
    ///
    /// - Returns: The rest for the next part.
    func begin(
        _ id: CallID, _ request: BatchGetDocumentsRequest, _ scope: ReadScope,
        _ context: CallContext, _ outputs: inout [Output]
    ) throws -> UnfinishedAnswer.Batch? {
        var seen: Set<DocumentPath> = []
        var paths: [DocumentPath] = []
        var lookups = Lookups()
        for path in request.paths {
            if seen.insert(path).inserted { paths.append(path) } else { lookups.repeated(path) }
        }
        access.bill(lookups, context, part: .more)
        if scope.recorder != nil {
            // All documents are read now, even if they are sent later.
            for path in paths {
                access.record(scope, path: path, document: try scope.document(at: path))
            }
        }
        var rest = UnfinishedAnswer.Batch(paths: paths[...], mask: request.mask)
        let start = outputs.count
        let isWhole = try sendPart(
            of: &rest, scope: scope, id: id, context: context, outputs: &outputs, part: .start)
        if outputs.count == start, scope.begun != nil {
            outputs.append(
                id, .batchGetDocuments(BatchGetResult(row: nil, readTime: scope.readTime)))
        }
        if let begun = scope.begun,
            case .reply(.batchGetDocuments(var first)) = outputs[start].event
        {
            first.transaction = begun
            outputs[start] = Output(id: id, event: .reply(.batchGetDocuments(first)))
        }
        return isWhole ? nil : rest
    }

    /// - Returns: True if this part was the last.
    func sendPart(
        of batch: inout UnfinishedAnswer.Batch, scope: ReadScope, id: CallID,
        context: CallContext, outputs: inout [Output], part billed: ReadSubject.Part = .more
    ) throws -> Bool {
        var part = AnswerPart()
        var lookups = Lookups()
        while !part.isFull, let path = batch.paths.popFirst() {
            guard let document = try scope.document(at: path) else {
                lookups.missed(path)
                batch.missing.append(path)
                continue
            }
            lookups.found(path, units: access.pointUnits(document, in: context.database))
            part.add(document)
            let row = BatchGetResult.Row.found(document.projected(to: batch.mask))
            outputs.append(
                id, .batchGetDocuments(BatchGetResult(row: row, readTime: scope.readTime)))
        }
        access.bill(lookups, context, part: billed)
        guard batch.paths.isEmpty else { return false }
        while !part.isFull, let path = batch.missing.popFirst() {
            part.add(bytes: path.text.utf8.count)
            outputs.append(
                id,
                .batchGetDocuments(BatchGetResult(row: .missing(path), readTime: scope.readTime)))
        }
        return batch.missing.isEmpty
    }
}

/// The numbers of lookups by collection, for the bill.
struct Lookups {
    struct Counts {
        var found = 0
        var missing = 0
        var repeated = 0
        /// The read units of the found documents, in the Enterprise edition.
        var units = 0
        /// The first of the documents.
        var first: DocumentPath?
    }

    private(set) var counts: [CollectionPath: Counts] = [:]

    mutating func found(_ path: DocumentPath, units: Int?) {
        count(path, \.found)
        counts[path.parent]?.units += units ?? 0
    }

    mutating func missed(_ path: DocumentPath) { count(path, \.missing) }
    mutating func repeated(_ path: DocumentPath) { count(path, \.repeated) }

    private mutating func count(_ path: DocumentPath, _ kind: WritableKeyPath<Counts, Int>) {
        counts[path.parent, default: Counts(first: path)][keyPath: kind] += 1
    }
}
