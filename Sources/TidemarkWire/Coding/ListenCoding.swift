import TidemarkModel

/// The messages of a listen stream, in both directions.
struct ListenCoder {
    let names: Names

    init(_ names: Names) { self.names = names }

    func encode(_ request: ListenRequest) -> [UInt8] {
        var wire = ListenRequestMessage(database: names.database.name)
        switch request {
        case .remove(let id): wire.removeTarget = id
        case .add(let target, let labels):
            wire.addTarget = encode(target)
            wire.labels = labels
        case .unreadable(let id, _): wire.addTarget = TargetMessage(targetID: id)
        }
        return wire.wireBytes
    }

    private func encode(_ target: ListenTarget) -> TargetMessage {
        var wire = TargetMessage(targetID: target.id, once: target.once)
        switch target.kind {
        case .documents(let paths):
            wire.documents = TargetMessage.Documents(documents: paths.map(names.name))
        case .query(let query):
            wire.query = TargetMessage.Query(
                parent: names.name(parent: query.parent),
                structuredQuery: StructuredQueryMessage(query))
        }
        switch target.resume {
        case .fromScratch: break
        case .token(let token): wire.resumeToken = MessageBytes(token)
        case .readTime(let time): wire.readTime = time.wire
        }
        wire.expectedCount = target.expectedCount.map { WrappedMessage(value: $0) }
        return wire
    }

    /// - Throws: An error that ends the stream. An invalid target does not throw.
    func request(_ wire: ListenRequestMessage) throws(RPCStatus) -> ListenRequest {
        if let id = wire.removeTarget { return .remove(targetID: id) }
        guard let target = wire.addTarget else {
            throw .invalidArgument("A listen request neither adds nor removes a target.")
        }
        do throws(RPCStatus) {
            return .add(try decode(target), labels: wire.labels)
        } catch {
            return .unreadable(targetID: target.targetID, error)
        }
    }

    private func decode(_ wire: TargetMessage) throws(RPCStatus) -> ListenTarget {
        ListenTarget(
            id: wire.targetID, try kind(of: wire), resume: try resume(of: wire),
            expectedCount: wire.expectedCount?.value, once: wire.once)
    }

    private func kind(of wire: TargetMessage) throws(RPCStatus) -> ListenTarget.Kind {
        if let target = wire.query {
            guard let query = target.structuredQuery else {
                throw .invalidArgument("only structured queries are supported")
            }
            return .query(try Query(parent: target.parent, query, names))
        }
        guard let target = wire.documents else {
            throw .invalidArgument("A target watches neither a query nor documents.")
        }
        var paths: [DocumentPath] = []
        for name in target.documents { paths.append(try names.document(name)) }
        return .documents(paths)
    }

    private func resume(of wire: TargetMessage) throws(RPCStatus) -> ListenTarget.Resume {
        if let token = wire.resumeToken?.nonEmptyArray { return .token(token) }
        guard let time = wire.readTime else { return .fromScratch }
        return .readTime(try Timestamp(wire: time))
    }
}

extension ListenCoder {
    func encode(_ response: ListenResponse) -> [UInt8] {
        var wire = ListenResponseMessage()
        switch response {
        case .targetChange(let change): wire.targetChange = TargetChangeMessage(change)
        case .documentChange(let change):
            wire.documentChange = DocumentChangeMessage(
                document: names.encode(change.document), targetIDs: change.targetIDs,
                removedTargetIDs: change.removedTargetIDs)
        case .documentDelete(let removal):
            wire.documentDelete = DocumentDeleteMessage(
                document: names.name(removal.path), readTime: removal.readTime?.wire,
                removedTargetIDs: removal.removedTargetIDs)
        case .documentRemove(let removal):
            wire.documentRemove = DocumentRemoveMessage(
                document: names.name(removal.path), removedTargetIDs: removal.removedTargetIDs,
                readTime: removal.readTime?.wire)
        case .existenceFilter(let filter): wire.filter = ExistenceFilterMessage(filter)
        }
        return wire.wireBytes
    }

    func response(_ bytes: [UInt8]) throws(RPCStatus) -> ListenResponse {
        let wire = try ListenResponseMessage(wire: bytes)
        if let change = wire.documentChange {
            return .documentChange(
                DocumentChange(
                    try names.document(change.document), targetIDs: change.targetIDs,
                    removedTargetIDs: change.removedTargetIDs))
        }
        if let change = wire.targetChange { return .targetChange(try change.decoded()) }
        if let delete = wire.documentDelete {
            return .documentDelete(
                DocumentRemoval(
                    try names.document(delete.document), removedTargetIDs: delete.removedTargetIDs,
                    readTime: try delete.readTime.decoded()))
        }
        if let remove = wire.documentRemove {
            return .documentRemove(
                DocumentRemoval(
                    try names.document(remove.document), removedTargetIDs: remove.removedTargetIDs,
                    readTime: try remove.readTime.decoded()))
        }
        guard let filter = wire.filter else { throw .malformed }
        return .existenceFilter(filter.decoded)
    }
}

extension TargetChangeMessage {
    init(_ change: TargetChange) {
        self.init()
        targetChangeType = change.kind.rawValue
        targetIDs = change.targetIDs
        cause = change.cause.map(StatusMessage.init)
        resumeToken = MessageBytes(change.resumeToken)
        readTime = change.readTime?.wire
    }

    func decoded() throws(RPCStatus) -> TargetChange {
        guard let kind = TargetChange.Kind(rawValue: targetChangeType) else { throw .malformed }
        return TargetChange(
            kind, targetIDs: targetIDs, cause: cause?.decoded, resumeToken: resumeToken.array,
            readTime: try readTime.decoded())
    }
}

extension ExistenceFilterMessage {
    init(_ filter: ExistenceFilter) {
        self.init(targetID: filter.targetID, count: filter.count)
        unchangedNames = filter.unchangedNames.map { names in
            BloomFilterMessage(
                bits: BitSequenceMessage(
                    bitmap: MessageBytes(names.bitmap), padding: names.padding),
                hashCount: names.hashCount)
        }
    }

    var decoded: ExistenceFilter {
        ExistenceFilter(
            targetID: targetID, count: count,
            unchangedNames: unchangedNames.map { names in
                BloomFilterBits(
                    bitmap: names.bits?.bitmap.array ?? [], padding: names.bits?.padding ?? 0,
                    hashCount: names.hashCount)
            })
    }
}
