import TidemarkModel

/// Converts between the absolute names of one database and the model's relative paths.
struct Names {
    let database: DatabaseID
    /// The prefix `projects/P/databases/D/documents`.
    let root: String

    init(_ database: DatabaseID) {
        self.database = database
        root = database.documentsRoot
    }

    func name(_ path: DocumentPath) -> String { root + "/" + path.text }

    /// Returns the name of the parent, or the root if there is no parent document.
    func name(parent: DocumentPath?) -> String { parent.map(name) ?? root }

    /// - Throws: `INVALID_ARGUMENT` if the name is not a document name or belongs to another
    ///   database.
    func document(_ name: String) throws(RPCStatus) -> DocumentPath {
        guard let rest = try rest(of: name, .document) else { throw NameKind.document.fault(name) }
        do throws(InvalidPath) { return try DocumentPath(rest) } catch {
            if case .namesCollection = error { throw NameKind.document.fault(name) }
            throw RPCStatus(error)
        }
    }

    /// Returns the parent document; nil for the root.
    func parent(_ name: String) throws(RPCStatus) -> DocumentPath? {
        guard let rest = try rest(of: name, .parent) else { return nil }
        do throws(InvalidPath) { return try DocumentPath(rest) } catch {
            if case .namesCollection = error { throw NameKind.parent.fault(name) }
            throw RPCStatus(error)
        }
    }

    /// Returns the part after `root/`; nil for the root itself.
    private func rest(of name: String, _ kind: NameKind) throws(RPCStatus) -> String? {
        let rest: String?? = name.withBytes { name in
            root.withBytes { root in
                let head = UnsafeBufferPointer(rebasing: name.prefix(root.count))
                guard Comparison.bytes(head, root) == .equal else { return nil }
                if name.count == root.count { return .some(nil) }
                guard name[root.count] == UInt8(ascii: "/") else { return nil }
                return String(decoding: name[(root.count + 1)...], as: UTF8.self)
            }
        }
        guard let rest else { throw kind.fault(name) }
        return rest
    }

    /// Parses `projects/P/databases/D`.
    static func database(_ name: String) throws(RPCStatus) -> DatabaseID {
        try naming { () throws(InvalidPath) in try DatabaseID(name: name) }
    }

    /// Returns the database of a document's or parent's name.
    static func database(
        of name: String, _ kind: NameKind = .document
    ) throws(RPCStatus) -> DatabaseID {
        var slashes = 0
        let head = name.utf8.prefix { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes < 4
        }
        guard let database = try? DatabaseID(name: String(Substring(head))) else {
            throw kind.fault(name)
        }
        return database
    }
}

/// The role of a name in a request, in production's words.
enum NameKind: String {
    case document = "Document name"
    case parent = "Document parent name"

    /// Production calls a reference that names a collection a parent, as was recorded.
    init(ofReference name: String) {
        let lack = Self.document.lack(in: name)
        self = lack?.index == name.utf8.count ? .parent : .document
    }

    /// Returns the error for an unusable name, in production's words: the missing part and its
    /// index, or that the name belongs to another database.
    func fault(_ name: String) -> RPCStatus {
        if let lack = lack(in: name) {
            return .invalidArgument(
                "\(rawValue) \"\(name)\" lacks \"\(lack.part)\" at index \(lack.index).")
        }
        if (try? ResourceName(name)) != nil { return RPCStatus(InvalidPath.otherDatabase(name)) }
        return .invalidArgument("\(rawValue) \"\(name)\" is not valid.")
    }

    /// Returns the first missing part of the name, and the byte index where it should begin.
    private func lack(in name: String) -> (part: String, index: Int)? {
        let bytes = Array(name.utf8)
        var index = 0
        func take(_ part: String) -> Bool {
            guard bytes[index...].starts(with: part.utf8) else { return false }
            index += part.utf8.count
            return true
        }
        func takeID() {
            while index < bytes.count, bytes[index] != UInt8(ascii: "/") { index += 1 }
        }
        for part in ["projects", "/", "", "/", "databases", "/", "", "/", "documents"] {
            if part.isEmpty { takeID() } else if !take(part) { return (part, index) }
        }
        if self == .parent, index == bytes.count { return nil }
        repeat {
            for part in ["/", "", "/", ""] {
                if part.isEmpty { takeID() } else if !take(part) { return (part, index) }
            }
        } while index < bytes.count
        return nil
    }
}

extension DocumentPath {
    /// - Throws: `INVALID_ARGUMENT` in production's words if a collection cannot have this id.
    static func checkCollectionID(_ id: String) throws(RPCStatus) {
        do throws(InvalidPath) { _ = try CollectionPath(id) } catch {
            switch error {
            case .reservedID:
                throw .invalidArgument("Collection id \"\(id)\" is invalid because it is reserved.")
            case .tooLong: throw .invalidArgument("The query kind is longer than 1500 bytes.")
            default:
                throw .invalidArgument(
                    "Collection id \"\(id)\" is invalid because it contains \"/\".")
            }
        }
        if id.utf8.contains(UInt8(ascii: "/")) {
            throw .invalidArgument("Collection id \"\(id)\" is invalid because it contains \"/\".")
        }
    }
}

extension FieldPath {
    /// - Throws: `INVALID_ARGUMENT` in production's words.
    init(wire text: String) throws(RPCStatus) {
        do throws(InvalidPath) { try self.init(encoded: text) } catch {
            if text.isEmpty { throw .invalidArgument("Invalid empty property path string.") }
            if case .tooLong = error {
                throw .invalidArgument("property path is longer than 1500 bytes.")
            }
            if Self.isElement(text) { throw .invalidArgument("Invalid property path") }
            throw .invalidArgument(
                """
                Invalid property path "\(text)". Unquoted property paths must match regex \
                ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex \
                (`(?:[^`\\\\]|(?:\\\\.))+`)
                """)
        }
    }

    /// Returns true for a form like `a[0]`, for which production has a shorter error.
    private static func isElement(_ text: String) -> Bool {
        guard text.utf8.last == UInt8(ascii: "]"),
            let bracket = text.utf8.firstIndex(of: UInt8(ascii: "[")),
            (try? FieldPath(encoded: String(text[..<bracket]))) != nil
        else { return false }
        let digits = text.utf8[bracket...].dropFirst().dropLast()
        return !digits.isEmpty
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
