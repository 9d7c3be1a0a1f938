import Foundation
import SwiftProtobuf
import TidemarkModel

/// Absolute names of one database to and from the model's paths inside it.
struct Names {
    let database: DatabaseID
    /// `projects/P/databases/D/documents`
    let root: String

    init(_ database: DatabaseID) {
        self.database = database
        root = database.documentsRoot
    }

    func name(_ path: DocumentPath) -> String { root + "/" + path.text }

    /// The root, where there is no parent document.
    func name(parent: DocumentPath?) -> String { parent.map(name) ?? root }

    /// - Throws: `INVALID_ARGUMENT` for what is no document name, or one of another database.
    func document(_ name: String) throws(RPCStatus) -> DocumentPath {
        guard let rest = try Self.rest(of: name, below: root, kind: "Document name"), !rest.isEmpty
        else { throw .invalidArgument("Document name \"\(name)\" names no document.") }
        return try naming { () throws(InvalidPath) in try DocumentPath(rest) }
    }

    /// Nil for the root.
    func parent(_ name: String) throws(RPCStatus) -> DocumentPath? {
        let kind = "Document parent name"
        guard let rest = try Self.rest(of: name, below: root, kind: kind) else { return nil }
        do throws(InvalidPath) { return try DocumentPath(rest) } catch {
            if case .namesCollection = error {
                throw .invalidArgument(
                    "\(kind) \"\(name)\" lacks \"/\" at index \(name.utf8.count).")
            }
            throw RPCStatus(error)
        }
    }

    /// What follows `root/`; nil for the root itself.
    private static func rest(
        of name: String, below root: String, kind: String
    ) throws(RPCStatus) -> String? {
        let bytes = name.utf8
        let slash = UInt8(ascii: "/")
        guard bytes.starts(with: root.utf8) else { throw foreign(name, kind) }
        let rest = bytes.dropFirst(root.utf8.count)
        guard let first = rest.first else { return nil }
        guard first == slash else { throw foreign(name, kind) }
        return String(Substring(rest.dropFirst()))
    }

    /// Another database's name, or none at all.
    private static func foreign(_ name: String, _ kind: String) -> RPCStatus {
        if (try? ResourceName(name)) != nil { return RPCStatus(InvalidPath.otherDatabase(name)) }
        if !name.utf8.starts(with: "projects".utf8) {
            return .invalidArgument("\(kind) \"\(name)\" lacks \"projects\" at index 0.")
        }
        return .invalidArgument("\(kind) \"\(name)\" is not valid.")
    }

    /// Of `projects/P/databases/D`.
    static func database(_ name: String) throws(RPCStatus) -> DatabaseID {
        try naming { () throws(InvalidPath) in try DatabaseID(name: name) }
    }

    /// Of any document's or parent's name.
    static func database(of name: String) throws(RPCStatus) -> DatabaseID {
        var slashes = 0
        let head = name.utf8.prefix { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes < 4
        }
        guard let database = try? DatabaseID(name: String(Substring(head))) else {
            throw foreign(name, "Document name")
        }
        return database
    }
}

extension DocumentPath {
    /// - Throws: `INVALID_ARGUMENT` in production's words, for an id that a collection cannot have.
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
            throw .invalidArgument(
                """
                Invalid property path "\(text)". Unquoted property paths must match regex \
                ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex \
                (`(?:[^`\\\\]|(?:\\\\.))+`)
                """)
        }
    }
}
