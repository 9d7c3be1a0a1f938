package import Foundation
package import TidemarkModel
import TidemarkWire

/// A document as one line of JSON, as in
/// `{"fields":{"seats":{"integerValue":"12"}},"path":"rooms/blue"}`: REST's form of values, with each
/// object's names in the order of their text.
package enum DocumentLine {
    /// The line, without its end. The same document makes the same bytes.
    package static func data(_ document: Document) -> Data {
        JSONOutput.object([
            .init("fields", .fields(document.contents)), .init("path", .text(document.path.text)),
        ]).data(isSorted: true)
    }

    /// What the line says is to be there.
    ///
    /// - Throws: What is wrong with it, in a sentence.
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
        else { throw RPCStatus(.invalidArgument, "It is no document.") }
        return mutation
    }
}
