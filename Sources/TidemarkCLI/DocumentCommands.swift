import ArgumentParser
import Foundation
import Tidemark

/// Where a command finds its database.
struct DatabaseOptions: ParsableArguments {
    @Option(help: "The project.")
    var project = "demo"

    @Option(help: "The database of the project.")
    var database = "(default)"

    @Option(
        help: "HOST:PORT of a server without TLS; FIRESTORE_EMULATOR_HOST when it is not given.")
    var host: String?

    func firestore(cache: FirestoreSettings.Cache = .memory, label: String) throws -> Firestore {
        var settings = FirestoreSettings(cache: cache, label: label)
        if let host {
            settings.host = host
            settings.isSSLEnabled = false
        }
        return try Firestore(projectID: project, databaseID: database, settings: settings)
    }
}

struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print a document, as Firestore's REST interface writes it.")

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let firestore = try database.firestore(label: "get")
        let snapshot = try await firestore.document(path).getDocument(source: .server)
        guard let fields = snapshot.fields, let update = snapshot.updateTime,
            let create = snapshot.createTime
        else { throw ValidationError("There is no document \(path).") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let document = DocumentJSON(
            name: path, fields: FieldsJSON(fields), createTime: create.rfc3339,
            updateTime: update.rfc3339)
        print(String(decoding: try encoder.encode(document), as: UTF8.self))
        await firestore.terminate()
    }
}

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
            fields = try JSONDecoder().decode(FieldsJSON.self, from: Data(json.utf8))
        } catch { throw ValidationError("This is no document in REST form: \(error)") }
        let firestore = try database.firestore(label: "set")
        let mutation = Mutation(path: try DocumentPath(path), .set(fields.fields))
        try await firestore.enqueue([mutation]).acknowledged()
        await firestore.terminate()
    }
}

/// Writes numbered documents through the durable queue, counts them in the same batches, and says
/// how far it is: what the crash tests kill.
struct PumpCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pump", abstract: "Write numbered documents until it is stopped.",
        shouldDisplay: false)

    @Argument(help: "The collection.")
    var collection: String

    @Option(help: "How many documents; 0 only sends what an earlier run left in the queue.")
    var count: Int

    @Option(help: "The folder of the cache and the queue.")
    var cache: String

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let firestore = try database.firestore(cache: .directory(cache), label: "pump")
        let documents = firestore.collection(collection)
        let counter = firestore.document("\(collection)-state/counter")
        for number in 0..<count {
            let batch = firestore.batch()
            batch.setData(["number": number], forDocument: documents.document("n\(number)"))
            batch.setData(
                ["n": FieldValue.increment(Int64(1))], forDocument: counter, merge: true)
            _ = try await batch.enqueue()
            FileHandle.standardOutput.write(Data("journalled \(number)\n".utf8))
        }
        try await firestore.waitForPendingWrites()
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
