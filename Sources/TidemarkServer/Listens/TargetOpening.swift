import TidemarkModel
import TidemarkStore

/// The first answer of one target: everything, or what its client has missed.
///
/// Production answers a resume in one of several ways, and which cannot be foretold; this is the one
/// that says every removal. A filter comes only where that is impossible, or where the count that the
/// client gave shows that it holds something else than it thinks.
struct TargetOpening {
    let core: ServerCore
    let target: LiveTarget
    let request: ListenTarget
    let stream: ListenStream
    let scope: ReadScope

    mutating func perform(
        from start: ServerCore.StartingPoint, _ outputs: inout [Output]
    ) throws {
        var reads: Int
        switch start {
        case .nothing: reads = try sendAll(&outputs).reads
        case .beforeLog(let token, let readTime):
            acknowledge(token: token, readTime, &outputs)
            let all = try sendAll(&outputs)
            sendFilter(all.paths, &outputs)
            reads = all.reads
        case .position(let token):
            acknowledge(token: token.bytes, token.readTime, &outputs)
            reads = try sendChanges(since: token, &outputs)
        }
        core.bill(reads, to: target)
        sendCurrent(&outputs)
    }

    /// A resume that is accepted begins with a boundary. It says nothing that the client does not
    /// know: its own token and time, so that a stream cut off here loses no changes. Clients take a
    /// boundary's token for all their targets, so beside others, which are further on, it has none.
    private func acknowledge(
        token: [UInt8], _ readTime: Timestamp, _ outputs: inout [Output]
    ) {
        var time = min(readTime, scope.readTime)
        if let last = stream.readTime { time = max(time, last) }
        outputs.append(
            target.streamID,
            .targetChange(
                TargetChange(
                    .noChange, resumeToken: stream.targets.isEmpty ? token : [], readTime: time)))
    }

    private func sendCurrent(_ outputs: inout [Output]) {
        let token = core.resumeToken(stream.database, readTime: scope.readTime)
        outputs.append(
            target.streamID,
            .targetChange(
                TargetChange(
                    .current, targetIDs: [target.id], resumeToken: token.bytes,
                    readTime: scope.readTime)))
        core.boundary(target.streamID, token, &outputs)
    }

    /// Sends every match as it is stored, in the query's order.
    ///
    /// - Returns: The matches, and what is billed for them: what a query would cost.
    private func sendAll(
        _ outputs: inout [Output]
    ) throws -> (paths: [DocumentPath], reads: Int) {
        var paths: [DocumentPath] = []
        var reads = 0
        func send(_ document: Document) {
            paths.append(document.path)
            outputs.append(
                target.streamID,
                .documentChange(
                    DocumentChange(
                        document.projected(to: target.projection), targetIDs: [target.id])))
        }
        switch target.kind {
        case .documents(let wanted):
            for path in Self.unique(wanted) {
                if let document = try scope.document(at: path) {
                    send(document)
                } else {
                    sendMissing(path, &outputs)
                }
            }
            reads = max(1, paths.count)
        case .query(let query):
            var window: [DocumentPath: Timestamp] = [:]
            let totals = try scope.run(query) { document in
                if query.isCutOff { window[document.path] = document.updateTime }
                send(document)
                return true
            }
            if query.isCutOff { target.window = window }
            reads = Billing.reads(
                of: query, returned: totals.returned, skipped: totals.skipped,
                entriesScanned: totals.scanned)
        }
        return (paths, reads)
    }

    private func sendMissing(_ path: DocumentPath, _ outputs: inout [Output]) {
        outputs.append(
            target.streamID,
            .documentDelete(
                DocumentRemoval(
                    path, removedTargetIDs: [target.id], readTime: scope.readTime)))
    }

    private static func unique(_ paths: [DocumentPath]) -> [DocumentPath] {
        var seen: Set<DocumentPath> = []
        return paths.filter { seen.insert($0).inserted }
    }

    /// The filter has the names too when the client said how many it holds, as in production.
    private func sendFilter(_ paths: [DocumentPath], _ outputs: inout [Output]) {
        var bits: BloomFilterBits?
        if request.expectedCount != nil {
            bits = BloomFilter(names: paths.map { $0.name(in: stream.database) }).bits
        }
        outputs.append(
            target.streamID,
            .existenceFilter(
                ExistenceFilter(
                    targetID: target.id, count: Int32(clamping: paths.count),
                    unchangedNames: bits)))
    }

    /// Sends what the client has missed since its token.
    ///
    /// - Returns: What is billed for it.
    private func sendChanges(since token: ResumeToken, _ outputs: inout [Output]) throws -> Int {
        let delta = try TargetDelta(
            of: target, since: Timestamp(microseconds: token.position), scope)
        for response in delta.snapshot.responses(readTime: scope.readTime) {
            outputs.append(target.streamID, response)
        }
        let isRecent = core.isBilledByChange(token, stream.database)
        if request.expectedCount == nil, isRecent { return bill(delta) }
        let count = try matchCount()
        if let expected = request.expectedCount, Int(expected) != count - delta.growth {
            sendFilter(try matches(), &outputs)
        }
        return isRecent ? bill(delta) : max(1, count)
    }

    private func bill(_ delta: TargetDelta) -> Int {
        if delta.snapshot.isEmpty { return core.configuration.billing.unchangedResumeReads }
        return delta.snapshot.readsByTarget.values.reduce(0, +)
    }

    private func matchCount() throws -> Int {
        switch target.kind {
        case .query(let query) where !query.isCutOff: Int(try scope.count(query).count)
        case .query, .documents: try matches().count
        }
    }

    /// The paths of all matches, in order.
    private func matches() throws -> [DocumentPath] {
        switch target.kind {
        case .documents(let wanted):
            return try Self.unique(wanted).filter { try scope.document(at: $0) != nil }
        case .query(let query):
            var paths: [DocumentPath] = []
            _ = try scope.run(query) {
                paths.append($0.path)
                return true
            }
            return paths
        }
    }
}
