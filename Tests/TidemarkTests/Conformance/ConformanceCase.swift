import Foundation
import TestSupport
import TidemarkServer

@testable import Tidemark

/// Translates the language of the shared cases: an app's data, and the expected request.
enum ConformanceCase {
    /// The folder in `TIDEMARK_CONFORMANCE`, or the folder next to the repository.
    static let corpus = SharedCorpus.conformance(
        tests: "shared writes and queries of TidemarkTests")

    static func named(_ prefix: String) throws -> [(name: String, json: JSON)] {
        try corpus.files().filter { $0.hasPrefix(prefix) }.flatMap { file in
            let data = try Data(contentsOf: corpus.folder.appendingPathComponent(file))
            let json = try JSONDecoder().decode(JSON.self, from: data)
            return (json["tests"]?.array ?? []).map { (file, $0) }
        }
    }

    /// Returns the value that an app passes. The cases write sentinels as texts, or as arrays that
    /// begin with such a text.
    static func any(_ json: JSON) -> Any {
        switch json {
        case .null: return NSNull()
        case .bool(let value): return value
        case .integer(let value): return Int(value)
        case .number(let value): return value
        case .text("Delete"): return FieldValue.delete()
        case .text("ServerTimestamp"): return FieldValue.serverTimestamp()
        case .text("NaN"): return Double.nan
        case .text(let value): return value
        case .list(let values):
            switch values.first {
            case .text("ArrayUnion")?: return FieldValue.arrayUnion(values.dropFirst().map(any))
            case .text("ArrayRemove")?: return FieldValue.arrayRemove(values.dropFirst().map(any))
            default: return values.map(any)
            }
        case .object(let object): return object.mapValues(any)
        }
    }

    static func data(_ json: JSON) throws -> [String: Any] {
        any(try JSON(json["jsonData"]?.text ?? "{}")) as? [String: Any] ?? [:]
    }

    static func fieldPath(_ json: JSON) -> FieldPath {
        FieldPath((json["field"]?.array ?? []).compactMap(\.text))
    }

    static func document(_ name: String) throws -> DocumentPath {
        try DocumentPath(name.components(separatedBy: "/documents/")[1])
    }
}

/// Reads the expected requests of the cases, in protobuf's JSON.
extension ConformanceCase {
    static func value(_ json: JSON) throws -> Value {
        guard case .object(let object) = json, let (kind, value) = object.first else {
            return .null
        }
        switch kind {
        case "integerValue": return .integer(Int64(value.integer ?? 0))
        case "doubleValue":
            if case .number(let number) = value { return .double(number) }
            return .double(value.integer.map(Double.init) ?? .nan)
        case "stringValue": return .string(value.text ?? "")
        case "booleanValue": return .boolean(value.isTrue)
        case "referenceValue": return .reference(try ReferenceValue(name: value.text ?? ""))
        case "mapValue": return .map(try fields(value["fields"]))
        case "arrayValue": return .array(try (value["values"]?.array ?? []).map(self.value))
        default: return .null
        }
    }

    static func fields(_ json: JSON?) throws -> MapValue {
        guard case .object(let object)? = json else { return MapValue() }
        return MapValue(try object.map { ($0.key, try value($0.value)) })
    }

    static func mutation(_ request: JSON) throws -> Mutation? {
        guard let write = request["writes"]?.array.first, let update = write["update"],
            let name = update["name"]?.text
        else { return nil }
        let fields = try fields(update["fields"])
        let mask = try write["updateMask"].map { mask in
            try (mask["fieldPaths"]?.array ?? []).compactMap(\.text).map(FieldPath.init(encoded:))
        }
        return Mutation(
            path: try document(name), mask.map { .patch(fields, mask: $0) } ?? .set(fields),
            transforms: try (write["updateTransforms"]?.array ?? []).map(transform),
            precondition: try precondition(write["currentDocument"]))
    }

    private static func transform(_ json: JSON) throws -> FieldTransform {
        let field = try FieldPath(encoded: json["fieldPath"]?.text ?? "")
        if let union = json["appendMissingElements"] {
            return FieldTransform(
                field, .arrayUnion(try (union["values"]?.array ?? []).map(value)))
        }
        if let remove = json["removeAllFromArray"] {
            return FieldTransform(
                field, .arrayRemove(try (remove["values"]?.array ?? []).map(value)))
        }
        return FieldTransform(field, .serverTimestamp)
    }

    private static func precondition(_ json: JSON?) throws -> Precondition {
        json?["exists"].map { .exists($0.isTrue) } ?? .none
    }
}
