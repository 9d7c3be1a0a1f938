import ArgumentParser
import Tidemark

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Replace a document by one in Firestore's REST form.")

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @Argument(help: "As in '{\"fields\": {\"n\": {\"integerValue\": \"7\"}}}'.")
    var json: String

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let fields: FieldsJSON
        do {
            fields = try JSONValueDecoder().decode(FieldsJSON.self, from: json.utf8)
        } catch { throw ValidationError("This is no document in REST form: \(error)") }
        let firestore = try database.firestore(label: "set")
        let mutation = Mutation(path: try DocumentPath(path), .set(fields.fields))
        try await firestore.enqueue([mutation]).acknowledged()
        await firestore.terminate()
    }
}
