package import Foundation
package import TidemarkModel
import TidemarkWire

/// Writes a document as one line of JSON, such as
/// `{"fields":{"seats":{"integerValue":"12"}},"path":"rooms/blue"}`. Values have REST's form. The
/// names in each object are sorted.
package enum DocumentLine {
    /// Returns the line without a line break. Equal documents produce equal bytes.
    package static func data(_ document: Document) -> Data {
        JSONOutput.object([
            .init("fields", .fields(document.contents)), .init("path", .text(document.path.text)),
        ]).data(isSorted: true)
    }

    /// Returns the write that stores the line's document.
    ///
    /// - Throws: The error in the line, as a sentence.
    package static func mutation(
        _ line: JSONObject, of database: DatabaseID
    ) throws(RPCStatus) -> Mutation {
        guard case .text(let path)? = line["path"] else {
            throw RPCStatus(.invalidArgument, "\"path\" is missing.")
        }
        for (name, _) in line where name != "path" && name != "fields" {
            throw RPCStatus(
                .invalidArgument, "\"\(name.prefix(100))\" is neither path nor fields.")
        }
        let update: JSONObject = [
            "name": .text("\(database.name)/documents/\(path)"),
            "fields": line["fields"] ?? .object([:]),
        ]
        var reader = ProtoJSONReader()
        let bytes = try reader.message(
            .commitRequest,
            [
                "database": .text(database.name),
                "writes": .list([.object(["update": .object(update)])]),
            ])
        guard case .commit(let commit) = try CallCoding.request(.commit, bytes).request,
            let mutation = commit.mutations.first
        else { throw RPCStatus(.invalidArgument, "It is not a document.") }
        return mutation
    }
}
