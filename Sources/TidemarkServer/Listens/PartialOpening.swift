import TidemarkModel
import TidemarkStore

/// A target whose matches are sent in parts, all as of the time of the first part.
struct PartialOpening {
    private enum Left {
        case rows(UnfinishedAnswer.Left)
        case documents(ArraySlice<DocumentPath>)
    }

    let target: LiveTarget
    let request: ListenTarget
    let readTime: Timestamp
    private var left: Left?
    /// The names of the sent documents, if a filter follows.
    private var names: PathList?
    private var sent = 0
    private var totals = ReadScope.Totals()
    private var window: [DocumentPath: Timestamp] = [:]
    /// The counter of read units; nil for the Standard edition, and for named documents.
    private(set) var units: QueryUnits?
    /// The read units of named documents.
    private var namedUnits = 0

    init(
        of target: LiveTarget, _ request: ListenTarget, _ scope: ReadScope, isFiltered: Bool,
        units: QueryUnits?
    ) {
        self.units = units
        self.target = target
        self.request = request
        readTime = scope.readTime
        names = isFiltered ? PathList() : nil
        switch target.kind {
        case .query(let query): left = .rows(.query(query))
        case .documents(let paths): left = .documents(LiveTarget.unique(paths)[...])
        }
    }

    var isWhole: Bool { left == nil }

    /// The number of billed reads for the sent matches: the cost of a query.
    var reads: Int {
        switch target.kind {
        case .documents: max(1, sent)
        case .query(let query):
            Billing.reads(
                of: query, returned: totals.returned, skipped: totals.skipped,
                entriesScanned: totals.scanned)
        }
    }

    /// The bill for the sent matches.
    var usage: Usage {
        Usage(reads: reads, units: BilledUnits(read: units?.total ?? max(1, namedUnits)))
    }

    /// Sends the next matches in their stored form, in the query's order.
    mutating func sendPart(_ scope: ReadScope, _ outputs: inout [Output]) throws {
        switch left {
        case .documents(let paths): try sendDocuments(paths, scope: scope, outputs: &outputs)
        case .rows(let rows): try sendRows(rows, scope: scope, outputs: &outputs)
        case nil: break
        }
    }

    private mutating func sendRows(
        _ rows: UnfinishedAnswer.Left, scope: ReadScope, outputs: inout [Output]
    ) throws {
        guard case .query(let query) = target.kind else { return }
        let isFirst = sent == 0
        let part = try scope.readPart(of: rows) { document in
            units?.add(document)
            if query.isCutOff { window[document.path] = document.updateTime }
            send(document, &outputs)
        }
        if isFirst { try units?.addRest(part.totals, in: scope) }
        totals.returned += part.totals.returned
        totals.skipped += part.totals.skipped
        totals.scanned += part.totals.scanned
        left = part.rest.map { .rows($0) }
        if isWhole, query.isCutOff { target.window = window }
    }

    private mutating func sendDocuments(
        _ paths: ArraySlice<DocumentPath>, scope: ReadScope, outputs: inout [Output]
    ) throws {
        var rest = paths
        var part = AnswerPart()
        while !part.isFull, let path = rest.popFirst() {
            if let document = try scope.document(at: path) {
                part.add(document)
                namedUnits += UnitBilling.pointRead(
                    bytes: Document.storageSize(of: document.fields, at: document.path))
                send(document, &outputs)
            } else {
                part.add(bytes: path.text.utf8.count)
                let removal = DocumentRemoval(
                    path, removedTargetIDs: [target.id], readTime: scope.readTime)
                outputs.append(target.streamID, .documentDelete(removal))
            }
        }
        left = rest.isEmpty ? nil : .documents(rest)
    }

    private mutating func send(_ document: Document, _ outputs: inout [Output]) {
        sent += 1
        names?.append(document.path)
        outputs.append(
            target.streamID,
            .documentChange(
                DocumentChange(
                    document.projected(to: target.projection), targetIDs: [target.id])))
    }

    /// Sends the number of matches, because the client may have other documents.
    func sendFilter(_ database: DatabaseID, _ outputs: inout [Output]) {
        guard var names else { return }
        var paths: [DocumentPath] = []
        paths.reserveCapacity(names.count)
        while let path = names.popFirst() { paths.append(path) }
        Self.sendFilter(paths, of: target, request: request, database: database, outputs: &outputs)
    }

    /// Sends a filter. It also contains the names if the client stated its number of documents, as
    /// in production.
    static func sendFilter(
        _ paths: [DocumentPath], of target: LiveTarget, request: ListenTarget,
        database: DatabaseID, outputs: inout [Output]
    ) {
        var bits: BloomFilterBits?
        if request.expectedCount != nil {
            bits = BloomFilter(names: paths.map { $0.name(in: database) }).bits
        }
        outputs.append(
            target.streamID,
            .existenceFilter(
                ExistenceFilter(
                    targetID: target.id, count: Int32(clamping: paths.count),
                    unchangedNames: bits)))
    }
}
