import Foundation
package import TidemarkModel

/// An object's metadata in the forms of the two APIs. Numbers of 64 bits are texts.
package enum ObjectJSON {
    package static let defaultType = "application/octet-stream"

    /// Returns the form of Firebase's API. Source: storage A5.
    package static func firebase(_ object: StoredObject) -> JSONValue {
        var members = common(object)
        members.append(("contentEncoding", .text(object.fields.contentEncoding ?? "identity")))
        members.append(("contentDisposition", .text(disposition(object))))
        members.append(("downloadTokens", .text(object.tokens.joined(separator: ","))))
        if !object.fields.custom.isEmpty {
            members.append(("metadata", texts(object.fields.custom)))
        }
        return .object(JSONObject(members))
    }

    /// Returns the form of Cloud Storage's API.
    ///
    /// - Parameter origin: The origin of links to this server.
    package static func cloud(_ object: StoredObject, origin: String) -> JSONValue {
        let escaped = escape(object.path.name)
        let place = "/b/\(object.path.bucket)/o/\(escaped)"
        let generation = "\(object.version.generation)"
        var members = common(object)
        members += [
            ("kind", .text("storage#object")),
            ("id", .text("\(object.path.bucket)/\(object.path.name)/\(generation)")),
            ("selfLink", .text("\(origin)/storage/v1\(place)")),
            (
                "mediaLink",
                .text("\(origin)/download/storage/v1\(place)?generation=\(generation)&alt=media")
            ),
            ("timeStorageClassUpdated", .text(time(object.createdAt))),
        ]
        if let encoding = object.fields.contentEncoding {
            members.append(("contentEncoding", .text(encoding)))
        }
        if let disposition = object.fields.contentDisposition {
            members.append(("contentDisposition", .text(disposition)))
        }
        if let customTime = object.fields.customTime {
            members.append(("customTime", .text(customTime)))
        }
        if let components = object.contents.components {
            members.append(("componentCount", .integer(components)))
        }
        var custom = object.fields.custom
        if !object.tokens.isEmpty {
            custom[ObjectForm.tokensKey] = object.tokens.joined(separator: ",")
        }
        if !custom.isEmpty { members.append(("metadata", texts(custom))) }
        return .object(JSONObject(members))
    }

    private static func common(_ object: StoredObject) -> [JSONObject.Element] {
        var members: [JSONObject.Element] = [
            ("name", .text(object.path.name)), ("bucket", .text(object.path.bucket)),
            ("generation", .text("\(object.version.generation)")),
            ("metageneration", .text("\(object.version.metageneration)")),
            ("contentType", .text(object.fields.contentType ?? defaultType)),
            ("timeCreated", .text(time(object.createdAt))),
            ("updated", .text(time(object.updatedAt))), ("storageClass", .text("STANDARD")),
            ("size", .text("\(object.contents.size)")),
            ("crc32c", .text(Base64Form.text(of: object.contents.crcBytes))),
            ("etag", .text(object.etag)),
        ]
        if let md5 = object.contents.md5 {
            members.append(("md5Hash", .text(Base64Form.text(of: md5))))
        }
        if let cacheControl = object.fields.cacheControl {
            members.append(("cacheControl", .text(cacheControl)))
        }
        if let language = object.fields.contentLanguage {
            members.append(("contentLanguage", .text(language)))
        }
        return members
    }

    private static func texts(_ custom: CustomMetadata) -> JSONValue {
        .object(JSONObject(custom.inOrder.map { ($0.name, .text($0.text)) }))
    }

    /// Returns the disposition that is stored, or one with the object's name.
    package static func disposition(_ object: StoredObject) -> String {
        if let stored = object.fields.contentDisposition { return stored }
        let name = object.path.name
        let last = name.lastIndex(of: "/").map { name[name.index(after: $0)...] } ?? name[...]
        return "inline; filename*=utf-8''\(escape(String(last)))"
    }

    /// Escapes everything but letters, digits and the signs `-_.~`.
    package static func escape(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    /// Returns a time with three digits after the second, as iOS's client requires.
    package static func time(_ microseconds: Int64) -> String {
        let date = Date(timeIntervalSince1970: Double(microseconds / 1_000_000))
        let digits = String(microseconds / 1_000 % 1_000 + 1_000).dropFirst()
        return date.formatted(.iso8601).dropLast() + ".\(digits)Z"
    }

    /// Returns the microseconds of a time with or without a fraction; nil for another text.
    package static func microseconds(_ text: String?) -> Int64? {
        guard let text else { return nil }
        let plain = text.replacing(/\.[0-9]+Z$/, with: "Z")
        guard let date = try? Date(plain, strategy: .iso8601) else { return nil }
        var fraction: Int64 = 0
        if let dot = text.lastIndex(of: ".") {
            let digits = text[text.index(after: dot)...].prefix { $0.isNumber }
            fraction = Int64((digits + "000000").prefix(6)) ?? 0
        }
        return Int64(date.timeIntervalSince1970) * 1_000_000 + fraction
    }

    /// Returns the form of an export of Firebase's emulator. Source: storage E.
    package static func exported(_ object: StoredObject) -> JSONValue {
        var members: [JSONObject.Element] = [
            ("name", .text(object.path.name)), ("bucket", .text(object.path.bucket)),
            ("contentType", .text(object.fields.contentType ?? defaultType)),
            ("generation", .integer(object.version.generation)),
            ("metageneration", .integer(object.version.metageneration)),
            ("storageClass", .text("STANDARD")), ("etag", .text(object.etag)),
            ("timeCreated", .text(time(object.createdAt))),
            ("updated", .text(time(object.updatedAt))), ("size", .integer(object.contents.size)),
            ("crc32c", .text("\(object.contents.crc32c)")),
            ("downloadTokens", .list(JSONList(object.tokens.map { .text($0) }))),
            ("contentEncoding", .text(object.fields.contentEncoding ?? "identity")),
            ("customMetadata", texts(object.fields.custom)),
        ]
        let optional: [(String, String?)] = [
            ("md5Hash", object.contents.md5.map { Base64Form.text(of: $0) }),
            ("contentDisposition", object.fields.contentDisposition),
            ("contentLanguage", object.fields.contentLanguage),
            ("cacheControl", object.fields.cacheControl), ("customTime", object.fields.customTime),
        ]
        for (name, value) in optional {
            if let value { members.append((name, .text(value))) }
        }
        return .object(JSONObject(members))
    }

    // MARK: Lists

    /// Returns a page in Firebase's form. Items have texts alone. Names with an empty segment are
    /// hidden. Source: storage A7.
    package static func firebase(_ page: ObjectPage, token: String?) -> JSONValue {
        let items = page.objects.filter { !$0.path.hasEmptySegment }.map { object in
            JSONValue.object([
                "name": .text(object.path.name), "bucket": .text(object.path.bucket),
            ])
        }
        let prefixes = page.prefixes.filter { prefix in
            let parts = prefix.utf8.split(
                separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            return !parts.dropLast().contains { $0.isEmpty }
        }
        var members: [JSONObject.Element] = [
            ("prefixes", .list(JSONList(prefixes.map { .text($0) }))),
            ("items", .list(JSONList(items))),
        ]
        if let token { members.append(("nextPageToken", .text(token))) }
        return .object(JSONObject(members))
    }

    /// Returns a page in Cloud Storage's form.
    package static func cloud(
        _ page: ObjectPage, token: String?, origin: String
    ) -> JSONValue {
        var members: [JSONObject.Element] = [("kind", .text("storage#objects"))]
        if !page.objects.isEmpty {
            let items = page.objects.map { cloud($0, origin: origin) }
            members.append(("items", .list(JSONList(items))))
        }
        if !page.prefixes.isEmpty {
            let prefixes = page.prefixes.map { JSONValue.text($0) }
            members.append(("prefixes", .list(JSONList(prefixes))))
        }
        if let token { members.append(("nextPageToken", .text(token))) }
        return .object(JSONObject(members))
    }

    package static func bucket(_ name: String, createdAt: Int64, origin: String) -> JSONValue {
        .object([
            "kind": .text("storage#bucket"), "id": .text(name), "name": .text(name),
            "selfLink": .text("\(origin)/storage/v1/b/\(name)"), "location": .text("US"),
            "storageClass": .text("STANDARD"), "metageneration": .text("1"),
            "projectNumber": .text("0"), "etag": .text("1"),
            "timeCreated": .text(time(createdAt)), "updated": .text(time(createdAt)),
        ])
    }
}

extension ListPosition {
    /// The position as the token of a page. Clients take it as opaque.
    package var token: String {
        Base64Form.text(of: bytes).replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Returns nil if the text is not such a token.
    package init?(token: String) {
        let plain = token.replacing("-", with: "+").replacing("_", with: "/")
        guard token.utf8.count <= 4_096, let bytes = Base64Form.bytes(in: plain) else { return nil }
        self.init(bytes)
    }
}
