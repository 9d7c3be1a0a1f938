import ArgumentParser
import Foundation
import TidemarkModel

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: """
            Print a document as JSON, in the format of Firestore's REST API.
            """,
        discussion: PlaceOptions.rights)

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @OptionGroup var place: PlaceOptions

    func validate() throws { _ = try DocumentPath(argument: path) }

    func run() async throws {
        let path = try DocumentPath(argument: path)
        let request = Request.batchGetDocuments(BatchGetDocumentsRequest(paths: [path]))
        let replies = try await place.call(label: "get", within: .seconds(15)) {
            try await $0.replies(to: request, $1)
        }
        guard case .batchGetDocuments(let result)? = replies.first,
            case .found(let document)? = result.row
        else { throw CommandFailure("There is no document \(path.text).") }
        let encoder = JSONValueEncoder(isPretty: true, isSorted: true)
        let shown = DocumentJSON(
            name: path.text, fields: FieldsJSON(document.fields),
            createTime: document.createTime.rfc3339, updateTime: document.updateTime.rfc3339)
        print(String(decoding: try encoder.encode(shown), as: UTF8.self))
    }
}

private struct DocumentJSON: Encodable {
    let name: String
    let fields: FieldsJSON
    let createTime: String
    let updateTime: String

    private enum Key: String, CodingKey { case name, fields, createTime, updateTime }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(createTime, forKey: .createTime)
        try container.encode(updateTime, forKey: .updateTime)
        try fields.encode(to: encoder)
    }
}
