import ArgumentParser
import TidemarkModel

struct SetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: """
            Replace a document. Its fields are in the format of Firestore's REST API.
            """,
        discussion: PlaceOptions.rights)

    /// The parts of a document that `tidemark get` prints.
    private static let parts = ["fields", "name", "createTime", "updateTime"]

    @Argument(help: "The document's path, as in rooms/blue.")
    var path: String

    @Argument(help: "The fields as JSON, as in '{\"fields\": {\"n\": {\"integerValue\": \"7\"}}}'.")
    var json: String

    @OptionGroup var place: PlaceOptions

    func validate() throws {
        _ = try DocumentPath(argument: path)
        _ = try fields()
    }

    func run() async throws {
        let mutation = Mutation(path: try DocumentPath(argument: path), .set(try fields()))
        // The command replaces the whole document, so a repeated write changes nothing.
        _ = try await place.call(label: "set", within: .seconds(15)) {
            try await $0.commit([mutation], $1)
        }
    }

    /// Parses the JSON.
    ///
    /// - Throws: `ValidationError` with the wrong part.
    private func fields() throws -> MapValue {
        do {
            let names = try JSONValueDecoder().decode(TopNames.self, from: json.utf8).names
            if let other = names.first(where: { !Self.parts.contains($0) }) {
                throw ValidationError(
                    """
                    "\(other)" is no part of a document. Its fields are inside "fields", as in \
                    '{"fields": {"\(other)": {"stringValue": "a"}}}'.
                    """)
            }
            return try JSONValueDecoder().decode(FieldsJSON.self, from: json.utf8).fields
        } catch let error as DecodingError {
            throw ValidationError("This is not a document in REST format. \(Self.sentence(error))")
        }
    }

    private static func sentence(_ error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found),
            .dataCorrupted(let found):
            context = found
        @unknown default: return "\(error)"
        }
        let place = context.codingPath.map(\.stringValue).joined(separator: ".")
        return place.isEmpty
            ? context.debugDescription : "At \(place): \(context.debugDescription)"
    }
}

/// The names of a JSON object.
private struct TopNames: Decodable {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let names: [String]

    init(from decoder: any Decoder) throws {
        names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue).sorted()
    }
}
