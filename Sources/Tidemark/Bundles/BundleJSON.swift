import Foundation

/// An element of a bundle. Exactly one of its members is present.
struct BundleElementJSON: Decodable {
    let metadata: BundleMetadataJSON?
    let namedQuery: NamedQueryJSON?
    let documentMetadata: DocumentMetadataJSON?
    let document: BundledDocumentJSON?
}

struct BundleMetadataJSON: Decodable {
    let id: String
    let createTime: TimeJSON
    let version: Int
    let totalDocuments: Int?
    let totalBytes: IntegerJSON?
}

struct DocumentMetadataJSON: Decodable {
    let name: String
    let readTime: TimeJSON
    let exists: Bool?
    let queries: [String]?
}

struct BundledDocumentJSON: Decodable {
    let name: String
    let createTime: TimeJSON
    let updateTime: TimeJSON
    let fields: FieldsJSON?

    private enum Key: String, CodingKey { case name, createTime, updateTime }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String.self, forKey: .name)
        createTime = try container.decode(TimeJSON.self, forKey: .createTime)
        updateTime = try container.decode(TimeJSON.self, forKey: .updateTime)
        // The fields stand next to the name, in the form of a map's fields.
        fields = try FieldsJSON(from: decoder)
    }
}

struct NamedQueryJSON: Decodable {
    let name: String
    let readTime: TimeJSON
    let bundledQuery: BundledQueryJSON
}

/// A time as `2017-04-22T00:26:51.000001Z`, or as seconds and nanoseconds.
struct TimeJSON: Decodable {
    let time: Timestamp

    private struct Parts: Decodable {
        let seconds: IntegerJSON?
        let nanos: Int32?
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let time = Timestamp(rfc3339: text) else {
                throw DecodingError.dataCorruptedError(
                    in: container, debugDescription: "no RFC 3339 time")
            }
            self.time = time
            return
        }
        let parts = try container.decode(Parts.self)
        let (seconds, nanoseconds) = (parts.seconds?.value ?? 0, parts.nanos ?? 0)
        guard Timestamp.isValid(seconds: seconds, nanoseconds: nanoseconds) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "a time outside the years 1 to 9999")
        }
        time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }
}
