package import TidemarkModel

/// A `google.firestore.v1.Write` message that another client has stored.
package struct StoredWrite: Hashable, Sendable {
    /// The database in the name of the document.
    package let database: DatabaseID
    package let mutation: Mutation

    /// - Throws: The reason why the write cannot be sent as it was intended. Unknown parts are such
    ///   a reason.
    package init(_ bytes: [UInt8]) throws(RPCStatus) {
        let write = try WriteMessage(wire: bytes)
        guard let name = try write.documentName else {
            throw .invalidArgument("Its kind is unknown.")
        }
        guard !write.hasUnknownParts else {
            throw .invalidArgument("It has unknown parts.")
        }
        database = try Names.database(of: name)
        mutation = try WriteCoder(Names(database)).mutation(write)
    }
}

extension WriteMessage {
    /// The absolute name of the document; nil if the write has no operation.
    fileprivate var documentName: String? {
        get throws(RPCStatus) {
            if let update { return try Names.decodeFields(update).name }
            return delete ?? verify ?? transform?.document
        }
    }

    var hasUnknownParts: Bool {
        let transforms = updateTransforms + (transform?.fieldTransforms ?? [])
        return hasUnknownFields || updateMask?.hasUnknownFields == true
            || currentDocument?.hasUnknownFields == true || transform?.hasUnknownFields == true
            || transforms.contains(where: \.hasUnknownFields)
    }
}
