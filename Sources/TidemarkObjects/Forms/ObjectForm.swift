package import TidemarkModel

/// The metadata in the body of an upload or a change, as JSON.
package struct ObjectForm: Sendable {
    /// The maximum size of a body with metadata, in bytes.
    package static let maxBytes = 131_072
    private static let maxValues = 10_000
    /// The reserved key of custom metadata that holds the download tokens.
    package static let tokensKey = "firebaseStorageDownloadTokens"

    private let object: JSONObject

    /// - Parameter bytes: The JSON; empty for no metadata.
    /// - Throws: ``ObjectRefusal`` with status 400 if the text is not a JSON object.
    package init(_ bytes: [UInt8]) throws(ObjectRefusal) {
        if bytes.allSatisfy({ [0x20, 0x09, 0x0A, 0x0D].contains($0) }) {
            object = [:]
            return
        }
        let value: JSONValue
        do throws(JSONFault) {
            value = try JSONValue(bytes, maxValues: Self.maxValues)
        } catch { throw .invalid("The metadata is not JSON: \(error.message)") }
        guard let object = value.object else { throw .invalid("The metadata is not an object.") }
        self.object = object
    }

    package subscript(name: String) -> JSONValue? { object[name] }

    /// Returns a text; nil for a missing or null field.
    ///
    /// - Throws: ``ObjectRefusal`` with status 400 for another type.
    package func text(_ name: String) throws(ObjectRefusal) -> String? {
        switch object[name] {
        case nil, .null?: return nil
        case .text(let text)?: return text
        default: throw .invalid("\(name) must be a text.")
        }
    }

    /// True if the body has a field that is stored.
    package var hasFields: Bool {
        object.contains { member in
            [
                "contentType", "contentEncoding", "contentDisposition", "contentLanguage",
                "cacheControl", "customTime", "metadata",
            ].contains(member.name)
        }
    }

    /// Returns the metadata of a new object. Unknown fields are ignored.
    package func fields() throws(ObjectRefusal) -> (fields: ObjectFields, tokens: [String]) {
        var fields = ObjectFields()
        fields.contentType = try filled("contentType")
        fields.contentEncoding = try filled("contentEncoding")
        fields.contentDisposition = try filled("contentDisposition")
        fields.contentLanguage = try filled("contentLanguage")
        fields.cacheControl = try filled("cacheControl")
        fields.customTime = try filled("customTime")
        for (key, value) in try custom() {
            if let value { fields.custom[key] = value }
        }
        let tokens = Self.takeTokens(&fields.custom)
        try fields.check()
        return (fields, tokens)
    }

    private func filled(_ name: String) throws(ObjectRefusal) -> String? {
        let text = try text(name)
        return text?.isEmpty == true ? nil : text
    }

    private static func takeTokens(_ custom: inout CustomMetadata) -> [String] {
        guard let list = custom[tokensKey] else { return [] }
        custom[tokensKey] = nil
        return list.split(separator: ",").map(String.init)
    }

    /// Returns the custom metadata. Values that are not texts become texts.
    private func custom() throws(ObjectRefusal) -> [(key: String, value: String?)] {
        guard let value = object["metadata"] else { return [] }
        if case .null = value { return [] }
        guard let members = value.object else { throw .invalid("metadata must be an object.") }
        return members.map { member in
            switch member.value {
            case .null: (member.name, nil)
            case .text(let text): (member.name, text)
            case let other:
                (member.name, String(decoding: JSONWriter.bytes(of: other), as: UTF8.self))
            }
        }
    }

    /// Returns a change of an object's metadata: null removes a field, a missing field stays.
    ///
    /// - Parameter replaces: True if missing fields are removed too.
    package func patch(replaces: Bool = false) throws(ObjectRefusal) -> ObjectPatch {
        var patch = ObjectPatch()
        patch.contentType = try change("contentType", replaces: replaces)
        patch.contentEncoding = try change("contentEncoding", replaces: replaces)
        patch.contentDisposition = try change("contentDisposition", replaces: replaces)
        patch.contentLanguage = try change("contentLanguage", replaces: replaces)
        patch.cacheControl = try change("cacheControl", replaces: replaces)
        patch.customTime = try change("customTime", replaces: replaces)
        patch.replacesCustom = replaces
        switch object["metadata"] {
        case nil: break
        case .null?: patch.replacesCustom = true
        default:
            for (key, value) in try custom() { patch.custom[ByteString(key)] = .some(value) }
        }
        if let tokens = patch.custom.removeValue(forKey: ByteString(Self.tokensKey)) {
            patch.tokens = (tokens ?? "").split(separator: ",").map(String.init)
        }
        return patch
    }

    private func change(
        _ name: String, replaces: Bool
    ) throws(ObjectRefusal) -> ObjectPatch.Change<String> {
        if let text = try text(name) { return .set(text) }
        return object[name] == nil && !replaces ? .keep : .remove
    }

    /// Returns the digests that the caller expects.
    package func expected() throws(ObjectRefusal) -> ExpectedDigests {
        ExpectedDigests(
            md5: try digest("md5Hash", length: 16), crc32c: try digest("crc32c", length: 4))
    }

    private func digest(_ name: String, length: Int) throws(ObjectRefusal) -> [UInt8]? {
        guard let text = try text(name), !text.isEmpty else { return nil }
        return try Self.digest(text, name: name, length: length)
    }

    /// Decodes a digest in base64.
    package static func digest(
        _ text: String, name: String, length: Int
    ) throws(ObjectRefusal) -> [UInt8] {
        guard let bytes = Base64Form.bytes(in: text), bytes.count == length else {
            throw .invalid("\(name) must be \(length) bytes in base64.")
        }
        return bytes
    }
}

extension ExpectedDigests {
    /// Adds the digests of a header such as `crc32c=AAAAAA==,md5=…`.
    package mutating func add(header: String?) throws(ObjectRefusal) {
        for part in (header ?? "").split(separator: ",") {
            let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard sides.count == 2 else { continue }
            switch sides[0].filter({ $0 != " " }) {
            case "md5": md5 = try ObjectForm.digest(sides[1], name: "md5", length: 16)
            case "crc32c": crc32c = try ObjectForm.digest(sides[1], name: "crc32c", length: 4)
            default: break
            }
        }
    }
}
