import ArgumentParser
import Tidemark

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: """
            Replace a document. Its fields are in the format of Firestore's REST API.
            """)

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @Argument(help: "The fields as JSON, as in '{\"fields\": {\"n\": {\"integerValue\": \"7\"}}}'.")
    var json: String

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let fields: FieldsJSON
        do {
            fields = try JSONValueDecoder().decode(FieldsJSON.self, from: json.utf8)
        } catch { throw ValidationError("This is not a document in REST format: \(error)") }
        let firestore = try database.firestore(label: "set")
        let mutation = Mutation(path: try DocumentPath(path), .set(fields.fields))
        try await firestore.enqueue([mutation]).acknowledged()
        await firestore.terminate()
    }
}
