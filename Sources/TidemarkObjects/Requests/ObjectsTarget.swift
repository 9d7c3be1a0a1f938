import Foundation

/// The resource that a path names.
package enum ObjectsTarget: Hashable, Sendable {
    /// The server itself.
    case server
    /// An object, or the objects of a bucket, in Firebase's API.
    case firebase(bucket: String, name: String?)
    /// The buckets of Cloud Storage's API.
    case buckets
    case bucket(String)
    case objects(bucket: String)
    case object(bucket: String, name: String)
    /// The copy of an object. A rewrite is a copy that can be made in steps.
    case copy(from: NamedObject, to: NamedObject, isRewrite: Bool)
    case compose(NamedObject)
    /// The uploads to a bucket in Cloud Storage's API.
    case upload(bucket: String)
    case batch
    /// An object by its plain address `/BUCKET/NAME`, as signed URLs have it.
    case plain(bucket: String, name: String)

    package struct NamedObject: Hashable, Sendable {
        package let bucket: String
        package let name: String
    }

    /// Returns nil if no path of this server has this form.
    ///
    /// - Parameter path: The path with its escapes. Each segment is decoded exactly once.
    package init?(path: String) {
        guard path.utf8.count <= 8_192, path.hasPrefix("/") else { return nil }
        var parts: [String] = []
        for part in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let plain = String(part).removingPercentEncoding else { return nil }
            parts.append(plain)
        }
        if parts == [""] || parts == ["v0"] || parts == ["v0", ""] {
            self = .server
            return
        }
        if parts.first == "v0" {
            self.init(firebase: Array(parts.dropFirst()))
        } else if parts.starts(with: ["batch"]) {
            self = .batch
        } else if parts.starts(with: ["storage", "v1"]) {
            self.init(cloud: Array(parts.dropFirst(2)))
        } else if parts.first == "b" {
            self.init(cloud: parts)
        } else if parts.starts(with: ["upload", "storage", "v1"]) {
            self.init(upload: Array(parts.dropFirst(3)))
        } else if parts.starts(with: ["upload", "b"]) {
            self.init(upload: Array(parts.dropFirst()))
        } else if parts.starts(with: ["download", "storage", "v1"]) {
            self.init(cloud: Array(parts.dropFirst(3)))
        } else if parts.starts(with: ["download", "b"]) {
            self.init(cloud: Array(parts.dropFirst()))
        } else if parts.count >= 2, parts[1] != "" {
            self = .plain(bucket: parts[0], name: parts.dropFirst().joined(separator: "/"))
        } else {
            return nil
        }
    }

    private init?(firebase parts: [String]) {
        guard parts.count >= 3, parts[0] == "b", parts[2] == "o" else { return nil }
        let name = parts.dropFirst(3).joined(separator: "/")
        self = .firebase(bucket: parts[1], name: name.isEmpty ? nil : name)
    }

    private init?(upload parts: [String]) {
        guard parts.count >= 3, parts[0] == "b", parts[2] == "o" else { return nil }
        self = .upload(bucket: parts[1])
    }

    private init?(cloud parts: [String]) {
        guard parts.first == "b" else { return nil }
        if parts.count == 1 || parts.count == 2 && parts[1].isEmpty {
            self = .buckets
            return
        }
        if parts.count == 2 {
            self = .bucket(parts[1])
            return
        }
        guard parts[2] == "o" else { return nil }
        if parts.count == 3 || parts.count == 4 && parts[3].isEmpty {
            self = .objects(bucket: parts[1])
            return
        }
        let own = NamedObject(bucket: parts[1], name: parts[3])
        if parts.count == 5, parts[4] == "compose" {
            self = .compose(own)
        } else if parts.count == 9, ["copyTo", "rewriteTo"].contains(parts[4]), parts[5] == "b",
            parts[7] == "o"
        {
            let target = NamedObject(bucket: parts[6], name: parts[8])
            self = .copy(from: own, to: target, isRewrite: parts[4] == "rewriteTo")
        } else {
            self = .object(bucket: parts[1], name: parts.dropFirst(3).joined(separator: "/"))
        }
    }
}

/// The query of a request. A plus sign is a space, and names are compared in lower case.
package struct ObjectsQuery: Sendable {
    /// The maximum number of parameters. Further parameters are ignored.
    private static let maxParameters = 100

    private var values: [String: String] = [:]

    package init(_ text: String?) {
        for pair in (text ?? "").split(separator: "&").prefix(Self.maxParameters) {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let plain = sides.map { $0.replacing("+", with: " ").removingPercentEncoding ?? "" }
            values[plain[0].lowercased()] = plain.count > 1 ? plain[1] : ""
        }
    }

    /// Returns the last value of a parameter; nil if it is missing.
    package subscript(name: String) -> String? { values[name.lowercased()] }

    /// Returns a whole number; nil if it is missing.
    ///
    /// - Throws: ``ObjectRefusal`` with status 400 for another text.
    package func number(_ name: String) throws(ObjectRefusal) -> Int64? {
        guard let text = self[name], !text.isEmpty else { return nil }
        guard let number = Int64(text) else {
            throw .invalid("\(name) must be a whole number.")
        }
        return number
    }

    /// Returns the preconditions, such as `ifGenerationMatch`.
    ///
    /// - Parameter prefix: `ifSource` for the conditions of the source of a copy.
    package func conditions(prefix: String = "if") throws(ObjectRefusal) -> ObjectConditions {
        var conditions = ObjectConditions()
        conditions.ifGenerationMatch = try number(prefix + "GenerationMatch")
        conditions.ifGenerationNotMatch = try number(prefix + "GenerationNotMatch")
        conditions.ifMetagenerationMatch = try number(prefix + "MetagenerationMatch")
        conditions.ifMetagenerationNotMatch = try number(prefix + "MetagenerationNotMatch")
        return conditions
    }
}
