import Foundation
import SwiftProtobuf
import TidemarkModel

/// The messages of a listen stream, in both directions.
struct ListenCoder {
    let names: Names

    init(_ names: Names) { self.names = names }

    func encode(_ request: ListenRequest) -> [UInt8] {
        var wire = PBListenRequest()
        wire.database = names.database.name
        switch request {
        case .remove(let id): wire.removeTarget = id
        case .add(let target, let labels):
            wire.addTarget = encode(target)
            wire.labels = labels
        case .unreadable(let id, _): wire.addTarget.targetID = id
        }
        return wire.wireBytes
    }

    private func encode(_ target: ListenTarget) -> PBTarget {
        var wire = PBTarget()
        wire.targetID = target.id
        wire.once = target.once
        switch target.kind {
        case .documents(let paths):
            wire.documents = .with { $0.documents = paths.map(names.name) }
        case .query(let query):
            wire.query = .with {
                $0.parent = names.name(parent: query.parent)
                $0.structuredQuery = PBStructuredQuery(query)
            }
        }
        switch target.resume {
        case .fromScratch: break
        case .token(let token): wire.resumeToken = Data(token)
        case .readTime(let time): wire.readTime = time.wire
        }
        if let count = target.expectedCount {
            wire.expectedCount = Google_Protobuf_Int32Value(count)
        }
        return wire
    }

    /// - Throws: An error that ends the stream. An invalid target does not throw.
    func request(_ wire: PBListenRequest) throws(RPCStatus) -> ListenRequest {
        switch wire.targetChange {
        case nil: throw .invalidArgument("A listen request neither adds nor removes a target.")
        case .removeTarget(let id): return .remove(targetID: id)
        case .addTarget(let target):
            do throws(RPCStatus) {
                return .add(try decode(target), labels: wire.labels)
            } catch {
                return .unreadable(targetID: target.targetID, error)
            }
        }
    }

    private func decode(_ wire: PBTarget) throws(RPCStatus) -> ListenTarget {
        let kind: ListenTarget.Kind
        switch wire.targetType {
        case nil: throw .invalidArgument("A target watches neither a query nor documents.")
        case .query(let target):
            guard case .structuredQuery(let query)? = target.queryType else {
                throw .invalidArgument("only structured queries are supported")
            }
            kind = .query(try Query(parent: target.parent, query, names))
        case .documents(let target):
            var paths: [DocumentPath] = []
            for name in target.documents { paths.append(try names.document(name)) }
            kind = .documents(paths)
        }
        let resume: ListenTarget.Resume =
            switch wire.resumeType {
            case nil: .fromScratch
            case .resumeToken(let token): token.isEmpty ? .fromScratch : .token(token.array)
            case .readTime(let time): .readTime(try Timestamp(wire: time))
            }
        return ListenTarget(
            id: wire.targetID, kind, resume: resume,
            expectedCount: wire.hasExpectedCount ? wire.expectedCount.value : nil,
            once: wire.once)
    }
}

extension ListenCoder {
    func encode(_ response: ListenResponse) -> [UInt8] {
        var wire = PBListenResponse()
        switch response {
        case .targetChange(let change): wire.targetChange = PBTargetChange(change)
        case .documentChange(let change):
            wire.documentChange = .with {
                $0.document = names.encode(change.document)
                $0.targetIds = change.targetIDs
                $0.removedTargetIds = change.removedTargetIDs
            }
        case .documentDelete(let removal):
            wire.documentDelete = .with {
                $0.document = names.name(removal.path)
                $0.removedTargetIds = removal.removedTargetIDs
                if let time = removal.readTime { $0.readTime = time.wire }
            }
        case .documentRemove(let removal):
            wire.documentRemove = .with {
                $0.document = names.name(removal.path)
                $0.removedTargetIds = removal.removedTargetIDs
                if let time = removal.readTime { $0.readTime = time.wire }
            }
        case .existenceFilter(let filter): wire.filter = PBExistenceFilter(filter)
        }
        return wire.wireBytes
    }

    func response(_ bytes: [UInt8]) throws(RPCStatus) -> ListenResponse {
        switch try PBListenResponse(wire: bytes).responseType {
        case nil: throw .malformed
        case .targetChange(let change): .targetChange(try change.decoded())
        case .documentChange(let change):
            .documentChange(
                DocumentChange(
                    try names.document(change.document), targetIDs: change.targetIds,
                    removedTargetIDs: change.removedTargetIds))
        case .documentDelete(let delete):
            .documentDelete(
                DocumentRemoval(
                    try names.document(delete.document), removedTargetIDs: delete.removedTargetIds,
                    readTime: delete.hasReadTime ? try Timestamp(wire: delete.readTime) : nil))
        case .documentRemove(let remove):
            .documentRemove(
                DocumentRemoval(
                    try names.document(remove.document), removedTargetIDs: remove.removedTargetIds,
                    readTime: remove.hasReadTime ? try Timestamp(wire: remove.readTime) : nil))
        case .filter(let filter): .existenceFilter(filter.decoded)
        }
    }
}

extension PBTargetChange {
    init(_ change: TargetChange) {
        self.init()
        targetChangeType = TargetChangeType(rawValue: Int(change.kind.rawValue)) ?? .noChange
        targetIds = change.targetIDs
        if let cause = change.cause { self.cause = PBStatus(cause) }
        resumeToken = Data(change.resumeToken)
        if let time = change.readTime { readTime = time.wire }
    }

    func decoded() throws(RPCStatus) -> TargetChange {
        let kind = TargetChange.Kind(rawValue: Int32(clamping: targetChangeType.rawValue))
        guard let kind else { throw .malformed }
        return TargetChange(
            kind, targetIDs: targetIds, cause: hasCause ? cause.decoded : nil,
            resumeToken: resumeToken.array,
            readTime: hasReadTime ? try Timestamp(wire: readTime) : nil)
    }
}

extension PBExistenceFilter {
    init(_ filter: ExistenceFilter) {
        self.init()
        targetID = filter.targetID
        count = filter.count
        guard let names = filter.unchangedNames else { return }
        unchangedNames = .with {
            $0.bits = .with {
                $0.bitmap = Data(names.bitmap)
                $0.padding = names.padding
            }
            $0.hashCount = names.hashCount
        }
    }

    var decoded: ExistenceFilter {
        let bits = unchangedNames.bits
        return ExistenceFilter(
            targetID: targetID, count: count,
            unchangedNames: hasUnchangedNames
                ? BloomFilterBits(
                    bitmap: bits.bitmap.array, padding: bits.padding,
                    hashCount: unchangedNames.hashCount) : nil)
    }
}
