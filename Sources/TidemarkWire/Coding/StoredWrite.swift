import Foundation
import SwiftProtobuf
package import TidemarkModel

/// A `google.firestore.v1.Write` message that another client has stored.
package struct StoredWrite: Hashable, Sendable {
    /// The database in the name of the document.
    package let database: DatabaseID
    package let mutation: Mutation

    /// - Throws: The reason why the write cannot be sent as it was intended. Unknown parts are such
    ///   a reason.
    package init(_ bytes: [UInt8]) throws(RPCStatus) {
        let write = try PBWrite(wire: bytes)
        let name: String =
            switch write.operation {
            case nil: throw .invalidArgument("Its kind is unknown.")
            case .update(let document): try Names.decodeFields(document).name
            case .delete(let name), .verify(let name): name
            case .transform(let transform): transform.document
            }
        guard !write.hasUnknownParts else {
            throw .invalidArgument("It has unknown parts.")
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
