import TidemarkModel
import TidemarkStore

/// The first answer of a target: everything, or the changes that its client has missed.
///
/// Production answers a resume in one of several ways, and the choice cannot be predicted; this
/// server always sends every removal. A filter is sent only if removals are unknown, or if the
/// client's count shows that the client has other documents.
struct TargetOpening {
    let listens: Listens
    let target: LiveTarget
    let request: ListenTarget
    let stream: ListenStream
    let scope: ReadScope

    /// The client's knowledge at the start of a listen.
    enum Start {
        case nothing
        /// The client knows everything up to a position in the log.
        case position(ResumeToken)
        /// The client's knowledge is older than the log, or of other data. `token` is the client's
        /// token.
        case beforeLog(token: [UInt8], readTime: Timestamp)
    }

    /// - Returns: The rest of the first answer, if it does not fit into a single part.
    mutating func perform(
        from start: Start, _ outputs: inout [Output]
    ) throws -> PartialOpening? {
        let usage: Usage
        var part = ReadSubject.Part.start
        let units = listens.units(of: target, in: stream.database)
        switch start {
        case .nothing:
            var all = PartialOpening(
                of: target, request, scope, isFiltered: false, units: units)
            try all.sendPart(scope, &outputs)
            listens.note(all.units, stream.context)
            if !all.isWhole { return all }
            usage = all.usage
        case .beforeLog(let token, let readTime):
            acknowledge(token: token, readTime, &outputs)
            var all = PartialOpening(
                of: target, request, scope, isFiltered: true, units: units)
            try all.sendPart(scope, &outputs)
            listens.note(all.units, stream.context)
            if !all.isWhole { return all }
            all.sendFilter(stream.database, &outputs)
            usage = all.usage
        case .position(let token):
            acknowledge(token: token.bytes, token.readTime, &outputs)
            usage = try sendChanges(since: token, &outputs)
            if listens.isBilledByChange(token, stream.database) { part = .resume }
        }
        listens.bill(usage, to: target, part: part)
        listens.sendCurrent(target, scope: scope, outputs: &outputs)
        return nil
    }

    /// Sends the boundary with which an accepted resume begins. The boundary has only the client's
    /// own token and time, so a stream that is cut here loses no changes. Clients use a boundary's
    /// token for all their targets. If the stream has other targets, which are further, the
    /// boundary has no token.
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

    /// Sends the changes that the client has missed since its token.
    ///
    /// - Returns: The bill.
    private func sendChanges(since token: ResumeToken, _ outputs: inout [Output]) throws -> Usage {
        let delta = try TargetDelta(
            of: target, since: Timestamp(microseconds: token.position), scope,
            isBilledByUnits: listens.isBilledByUnits(stream.database))
        for response in delta.snapshot.responses(readTime: scope.readTime) {
            outputs.append(target.streamID, response)
        }
        let isRecent = listens.isBilledByChange(token, stream.database)
        if request.expectedCount == nil, isRecent { return bill(delta) }
        let count = try matchCount()
        if let expected = request.expectedCount, Int(expected) != count - delta.growth {
            PartialOpening.sendFilter(
                try target.matches(in: scope), of: target, request: request,
                database: stream.database, outputs: &outputs)
        }
        return isRecent ? bill(delta) : try billWhole(count)
    }

    private func bill(_ delta: TargetDelta) -> Usage {
        guard delta.snapshot.isEmpty else { return delta.usage }
        return Usage(
            reads: listens.billing.unchangedResumeReads,
            units: BilledUnits(read: listens.billing.units.unchangedResumeUnits))
    }

    /// Returns the bill of a whole result, whose rows were not all sent.
    private func billWhole(_ count: Int) throws -> Usage {
        var usage = Usage(reads: max(1, count), units: BilledUnits(read: max(1, count)))
        guard var units = listens.units(of: target, in: stream.database),
            case .query(let query) = target.kind
        else { return usage }
        let totals = try scope.run(query) { document in
            units.add(document)
            return true
        }
        try units.addRest(totals, in: scope)
        usage.units.read = units.total
        return usage
    }

    private func matchCount() throws -> Int {
        switch target.kind {
        case .query(let query) where !query.isCutOff: Int(try scope.count(query).count)
        case .query, .documents: try target.matches(in: scope).count
        }
    }
}

extension LiveTarget {
    /// Returns the sorted paths of the matching documents, from a read and not from the client's
    /// messages.
    func matches(in scope: ReadScope) throws -> [DocumentPath] {
        switch kind {
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

    static func unique(_ paths: [DocumentPath]) -> [DocumentPath] {
        var seen: Set<DocumentPath> = []
        return paths.filter { seen.insert($0).inserted }
    }
}
