import Foundation
import SwiftProtobuf
package import TidemarkModel

/// A message `google.firestore.v1.Write` that another client stored.
package struct StoredWrite: Hashable, Sendable {
    /// The one that its document's name says.
    package let database: DatabaseID
    package let mutation: Mutation

    /// - Throws: Why it cannot be sent as it was meant: also where it has parts that are unknown
    ///   here.
    package init(_ bytes: [UInt8]) throws(RPCStatus) {
        let write = try PBWrite(wire: bytes)
        let name: String =
            switch write.operation {
            case nil: throw .invalidArgument("It is of a kind that is unknown here.")
            case .update(let document): try Names.decodeFields(document).name
            case .delete(let name), .verify(let name): name
            case .transform(let transform): transform.document
            }
        guard !write.hasUnknownParts else {
            throw .invalidArgument("It has parts that are unknown here.")
        }
        database = try Names.database(of: name)
        mutation = try WriteCoder(Names(database)).mutation(write)
    }
}

extension PBWrite {
    fileprivate var hasUnknownParts: Bool {
        var all = [unknownFields, updateMask.unknownFields, currentDocument.unknownFields]
        all += [transform.unknownFields]
        all += (updateTransforms + transform.fieldTransforms).map(\.unknownFields)
        return all.contains { !$0.data.isEmpty }
    }
}
