import TidemarkModel

/// The faults of a listen stream. The value knows the client's request for each target, so it can
/// make the server send the whole target again.
struct ListenFaults: StreamFaults {
    private typealias Step = StreamStep<ListenRequest, ListenResponse>

    private struct Target {
        let request: ListenTarget
        var isCurrent = false
        /// The documents that the client has received; nil if the client had documents before.
        var members: Set<DocumentPath>?
    }

    private let effects: FaultEffects
    private var counter: CutCounter
    /// The targets whose id the client chose.
    private var targets: [Int32: Target] = [:]
    /// The server's expected answers to requests of this object, in order: they must not reach the
    /// client.
    private var answersToUs: [Int32: [TargetChange.Kind]] = [:]
    /// The number of boundaries at which a target was current.
    private var boundaries = 0
    private var isFilterSent = false

    init(_ effects: FaultEffects) {
        self.effects = effects
        counter = CutCounter(effects.losesResponse ? .before(1) : effects.cut)
    }

    mutating func sent(_ message: ListenRequest) -> [ListenRequest] {
        switch message {
        case .add(let request, _) where request.id > 0 && targets[request.id] == nil:
            var target = Target(request: request)
            if effects.filterError != nil, request.resume == .fromScratch { target.members = [] }
            targets[request.id] = target
        case .add, .unreadable: break
        case .remove(let id): targets[id] = nil
        }
        return [message]
    }

    mutating func received(
        _ response: ListenResponse
    ) -> StreamStep<ListenRequest, ListenResponse> {
        var step = Step()
        if let response = unlessToUs(response) { pass(response, &step) }
        if step.toClient.isEmpty { return step }
        switch counter.next() {
        case .none: break
        case .before: step = Step(isCut: true)
        case .after: step.isCut = true
        }
        return step
    }

    /// Replaces the server's answers to this object's requests. For a target that is sent again,
    /// the client receives RESET instead of REMOVE, and no ADD, because the client counts the
    /// answers to its own requests.
    private mutating func unlessToUs(_ response: ListenResponse) -> ListenResponse? {
        guard case .targetChange(let change) = response, change.targetIDs.count == 1,
            let id = change.targetIDs.first, answersToUs[id]?.first == change.kind
        else { return response }
        answersToUs[id]?.removeFirst()
        if answersToUs[id]?.isEmpty == true { answersToUs[id] = nil }
        // The target was refused and removed, which the client must know.
        if change.cause != nil {
            answersToUs[id] = nil
            return response
        }
        guard change.kind == .remove, targets[id] != nil else { return nil }
        if targets[id]?.members != nil { targets[id]?.members = [] }
        return .targetChange(TargetChange(.reset, targetIDs: [id]))
    }

    private mutating func pass(
        _ response: ListenResponse, _ step: inout StreamStep<ListenRequest, ListenResponse>
    ) {
        switch response {
        case .targetChange(let change): pass(change, &step)
        case .documentChange(let change):
            note(change.document.path, joined: change.targetIDs, left: change.removedTargetIDs)
            step.toClient = copies(of: response)
        case .documentDelete(let removal), .documentRemove(let removal):
            note(removal.path, joined: [], left: removal.removedTargetIDs)
            step.toClient = copies(of: response)
        case .existenceFilter(let filter): step.toClient = [.existenceFilter(falsified(filter))]
        }
    }

    private func copies(of response: ListenResponse) -> [ListenResponse] {
        effects.duplicates ? [response, response] : [response]
    }

    private mutating func pass(
        _ original: TargetChange, _ step: inout StreamStep<ListenRequest, ListenResponse>
    ) {
        var change = original
        if effects.dropsTokens { change.resumeToken = [] }
        switch change.kind {
        case .current:
            for id in change.targetIDs { targets[id]?.isCurrent = true }
            step.holding = effects.currentDelay ?? .zero
        case .remove: for id in change.targetIDs { targets[id] = nil }
        case .noChange where change.targetIDs.isEmpty && change.readTime != nil:
            if targets.values.contains(where: \.isCurrent) {
                boundaries += 1
                step.toClient = falseFilters()
                if boundaries == effects.resetAtBoundary { step.toServer = addAllAgain() }
            }
        case .noChange, .add, .reset: break
        }
        step.toClient.append(.targetChange(change))
    }

    private mutating func note(_ path: DocumentPath, joined: [Int32], left: [Int32]) {
        guard effects.filterError != nil else { return }
        for id in joined { targets[id]?.members?.insert(path) }
        for id in left { targets[id]?.members?.remove(path) }
    }

    private mutating func addAllAgain() -> [ListenRequest] {
        var requests: [ListenRequest] = []
        for id in targets.keys.sorted() {
            guard let target = targets[id], target.isCurrent, !target.request.once else { continue }
            targets[id]?.isCurrent = false
            var request = target.request
            request.resume = .fromScratch
            request.expectedCount = nil
            requests += [.remove(targetID: id), .add(request, labels: [:])]
            answersToUs[id, default: []] += [.remove, .add]
        }
        return requests
    }

    // MARK: Filters

    /// Returns a false filter, for the first filter of the stream.
    private mutating func falsified(_ filter: ExistenceFilter) -> ExistenceFilter {
        guard let error = effects.filterError, !isFilterSent else { return filter }
        isFilterSent = true
        return Self.falseFilter(filter.targetID, count: Int(filter.count), error)
    }

    private mutating func falseFilters() -> [ListenResponse] {
        guard let error = effects.filterError, !isFilterSent else { return [] }
        let filters = targets.sorted { $0.key < $1.key }.compactMap { id, target in
            target.isCurrent
                ? target.members.map { Self.falseFilter(id, count: $0.count, error) } : nil
        }
        if !filters.isEmpty { isFilterSent = true }
        return filters.map(ListenResponse.existenceFilter)
    }

    /// Every bit is set: each name seems to match, so a client cannot find out by the names which
    /// of its documents were removed.
    private static func falseFilter(_ id: Int32, count: Int, _ error: Int) -> ExistenceFilter {
        let count = min(count, Int(Int32.max) - 1)
        let bytes = max(1, count)
        return ExistenceFilter(
            targetID: id, count: Int32(clamping: count + error),
            unchangedNames: BloomFilterBits(
                bitmap: [UInt8](repeating: 0xFF, count: min(bytes, 1 << 16)), padding: 0,
                hashCount: 7))
    }

    static func size(of response: ListenResponse) -> Int {
        if case .documentChange(let change) = response { return 64 + change.document.estimatedSize }
        return 256
    }
}

extension Document {
    /// The approximate size on the wire, in bytes.
    var estimatedSize: Int { contents.bytes.count + 160 }
}

extension Reply {
    /// The approximate size on the wire, in bytes. Replies without documents are small.
    var estimatedSize: Int {
        switch self {
        case .document(let document): document.estimatedSize
        case .runQuery(let reply): 64 + (reply.document?.estimatedSize ?? 0)
        case .batchGetDocuments(let result):
            if case .found(let document)? = result.row { 64 + document.estimatedSize } else { 256 }
        case .listDocuments(let rows, _):
            rows.reduce(64) { $0 + ($1.document?.estimatedSize ?? 256) }
        default: 256
        }
    }
}
