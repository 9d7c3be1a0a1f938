import ArgumentParser
import Foundation
import Tidemark
import TidemarkModel

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: """
            Print a document as JSON, in the format of Firestore's REST API.
            """)

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @OptionGroup var database: DatabaseOptions

    func validate() throws { _ = try DocumentPath(argument: path) }

    func run() async throws {
        let firestore = try database.firestore(label: "get")
        let snapshot: DocumentSnapshot
        do throws(FirestoreError) {
            snapshot = try await firestore.document(path).getDocument(source: .server)
        } catch { throw CommandFailure(error.message, of: firestore) }
        guard let fields = snapshot.fields, let update = snapshot.updateTime,
            let create = snapshot.createTime
        else { throw CommandFailure("There is no document \(path).") }
        let encoder = JSONValueEncoder(isPretty: true, isSorted: true)
        let document = DocumentJSON(
            name: path, fields: FieldsJSON(fields), createTime: create.rfc3339,
            updateTime: update.rfc3339)
        print(String(decoding: try encoder.encode(document), as: UTF8.self))
        await firestore.terminate()
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
