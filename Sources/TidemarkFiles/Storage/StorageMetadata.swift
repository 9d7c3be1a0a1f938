public import Foundation

/// The facts of an object in Storage, and the fields that an upload or an update sets.
public struct StorageMetadata: Hashable, Sendable {
    /// The fields that an app sets.
    struct Fields: Hashable, Sendable {
        var cacheControl: String?
        var contentDisposition: String?
        var contentEncoding: String?
        var contentLanguage: String?
        var contentType: String?
        var custom: [String: String] = [:]

        var texts: [(name: String, value: String?)] {
            [
                ("cacheControl", cacheControl), ("contentDisposition", contentDisposition),
                ("contentEncoding", contentEncoding), ("contentLanguage", contentLanguage),
                ("contentType", contentType),
            ]
        }
    }

    public internal(set) var bucket = ""
    /// The name of the object in its bucket.
    public internal(set) var path: String?
    /// The size in bytes.
    public internal(set) var size: Int64 = 0
    public internal(set) var generation: Int64 = 0
    public internal(set) var metageneration: Int64 = 0
    /// The MD5 digest in base64.
    public internal(set) var md5Hash: String?
    public internal(set) var timeCreated: Date?
    public internal(set) var updated: Date?
    /// The tokens of addresses that need no sign-in.
    var downloadTokens: [String] = []
    private(set) var fields = Fields()
    /// The fields as Storage has them; empty ones for metadata that an app made.
    private var stored = Fields()

    public init() {}

    public var cacheControl: String? {
        get { fields.cacheControl }
        set { fields.cacheControl = newValue }
    }

    public var contentDisposition: String? {
        get { fields.contentDisposition }
        set { fields.contentDisposition = newValue }
    }

    public var contentEncoding: String? {
        get { fields.contentEncoding }
        set { fields.contentEncoding = newValue }
    }

    public var contentLanguage: String? {
        get { fields.contentLanguage }
        set { fields.contentLanguage = newValue }
    }

    public var contentType: String? {
        get { fields.contentType }
        set { fields.contentType = newValue }
    }

    /// The custom metadata. An update with nil removes all of them.
    public var customMetadata: [String: String]? {
        get { fields.custom.isEmpty ? nil : fields.custom }
        set { fields.custom = newValue ?? [:] }
    }

    /// The last part of the object's name.
    public var name: String? { path.map { String($0.split(separator: "/").last ?? "") } }

    /// Reads Storage's answer; nil for something else.
    init?(json: [UInt8]) {
        struct Object: Decodable {
            var name: String
            var bucket, size, generation, metageneration, md5Hash: String?
            var cacheControl, contentDisposition, contentEncoding, contentLanguage: String?
            var contentType, timeCreated, updated, downloadTokens: String?
            var metadata: [String: String]?
        }
        guard let object = try? JSONDecoder().decode(Object.self, from: Data(json)) else {
            return nil
        }
        path = object.name
        bucket = object.bucket ?? ""
        size = object.size.flatMap { Int64($0) } ?? 0
        generation = object.generation.flatMap { Int64($0) } ?? 0
        metageneration = object.metageneration.flatMap { Int64($0) } ?? 0
        md5Hash = object.md5Hash
        fields = Fields(
            cacheControl: object.cacheControl, contentDisposition: object.contentDisposition,
            contentEncoding: object.contentEncoding, contentLanguage: object.contentLanguage,
            contentType: object.contentType, custom: object.metadata ?? [:])
        stored = fields
        timeCreated = object.timeCreated.flatMap(Self.date)
        updated = object.updated.flatMap(Self.date)
        downloadTokens = (object.downloadTokens ?? "").split(separator: ",").map(String.init)
    }

    /// The fields of a new object, except its type and its custom metadata.
    var uploadFields: [String: String] {
        var result: [String: String] = [:]
        for text in fields.texts where text.name != "contentType" {
            result[text.name] = text.value
        }
        return result
    }

    /// Returns the update that turns the stored fields into the present ones: JSON, in which null
    /// removes a field.
    var update: [UInt8] {
        var changes: [String: Any] = [:]
        for (now, before) in zip(fields.texts, stored.texts) where now.value != before.value {
            changes[now.name] = now.value as Any? ?? NSNull()
        }
        var custom: [String: Any] = [:]
        for (key, value) in fields.custom where stored.custom[key] != value { custom[key] = value }
        for key in stored.custom.keys where fields.custom[key] == nil { custom[key] = NSNull() }
        if !custom.isEmpty { changes["metadata"] = custom }
        // Strings and nulls can always be encoded.
        return [UInt8](
            try! JSONSerialization.data(withJSONObject: changes, options: [.sortedKeys]))
    }

    private static func date(_ text: String) -> Date? {
        try? Date.ISO8601FormatStyle(includingFractionalSeconds: true).parse(text)
    }
}

/// A part of a list of objects.
public struct StorageListResult: Hashable, Sendable {
    /// The folders below the reference.
    public internal(set) var prefixes: [StorageReference]
    public internal(set) var items: [StorageReference]
    /// The argument of ``StorageReference/list(maxResults:pageToken:)`` for the next part; nil at
    /// the end.
    public internal(set) var pageToken: String?
}
