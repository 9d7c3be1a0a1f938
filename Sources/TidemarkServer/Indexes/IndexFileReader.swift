import Foundation
import TidemarkModel

/// Reads a `firestore.indexes.json`.
struct IndexFileReader {
    /// The maximum size of a file in bytes. A thousand indexes with a hundred fields each are
    /// smaller.
    static let maxBytes = 16 * 1_024 * 1_024

    private(set) var composites: [CompositeIndex] = []
    private(set) var overrides: [FieldOverride] = []
    private(set) var expiryPolicies: [ExpiryPolicy] = []
    private(set) var remarks: [String] = []

    /// - Returns: The contents of the file, with unknown keys.
    mutating func read(_ json: Data) throws(IndexFileError) -> [String: JSONTree] {
        guard case .object(let root) = try Self.tree(json) else {
            throw IndexFileError("The file must hold one JSON object.")
        }
        remark(on: root, known: ["indexes", "fieldOverrides"], at: "The file")
        let indexes = try Self.list(
            root["indexes"], at: "indexes", upTo: IndexConfiguration.maxComposites)
        for (number, tree) in indexes.enumerated() {
            try readComposite(tree, at: "indexes[\(number)]")
        }
        let fields = try Self.list(
            root["fieldOverrides"], at: "fieldOverrides", upTo: IndexConfiguration.maxOverrides)
        for (number, tree) in fields.enumerated() {
            try readOverride(tree, at: "fieldOverrides[\(number)]")
        }
        return root
    }

    /// Returns true if the JSON has no comments. A rewrite of the file would lose comments.
    static func isPlain(_ json: Data) -> Bool {
        (try? JSONDecoder().decode(JSONTree.self, from: json)) != nil
    }

    private static func tree(_ json: Data) throws(IndexFileError) -> JSONTree {
        if json.count > maxBytes {
            throw IndexFileError("The file is larger than \(maxBytes) bytes.")
        }
        // Foundation's JSON5 decoder crashes the process if the bytes are not UTF-8.
        guard String(data: json, encoding: .utf8) != nil else {
            throw IndexFileError("The file is not UTF-8 text.")
        }
        let decoder = JSONDecoder()
        decoder.allowsJSON5 = true
        do { return try decoder.decode(JSONTree.self, from: json) } catch {
            throw IndexFileError("The file is not JSON\(place(ofFaultIn: json)).")
        }
    }

    /// Returns the place as `: line 2, column 13`, or an empty text if it is unknown. Foundation's
    /// decoder does not report the place, and its other parser stops at comments.
    private static func place(ofFaultIn json: Data) -> String {
        do { _ = try JSONSerialization.jsonObject(with: json) } catch {
            let reason = (error as NSError).userInfo["NSDebugDescription"] as? String ?? ""
            let digits = reason.split { !$0.isNumber }.last ?? ""
            guard let offset = Int(digits), offset < json.count,
                json[json.startIndex + offset] != UInt8(ascii: "/")
            else { return "" }
            let lines = json.prefix(offset).split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            return ": line \(lines.count), column \(lines[lines.count - 1].count + 1)"
        }
        return ""
    }

    private static func list(
        _ tree: JSONTree?, at place: String, upTo limit: Int
    ) throws(IndexFileError) -> [JSONTree] {
        switch tree {
        case nil, .null?: return []
        case .list(let values)?:
            if values.count > limit {
                throw IndexFileError(
                    at: place, "There are \(values.count), but at most \(limit) are allowed.")
            }
            return values
        default: throw IndexFileError(at: place, "This must be a list.")
        }
    }

    private mutating func remark(
        on fields: [String: JSONTree], known: Set<String>, at place: String
    ) {
        for key in fields.keys.filter({ !known.contains($0) }).sorted() {
            remarks.append("\(place): \"\(key)\" is kept but has no effect.")
        }
    }
}

// MARK: - Declared indexes

extension IndexFileReader {
    /// The last four keys belong to other databases than Firestore's Standard edition.
    private static let known: Set<String> = [
        "collectionGroup", "queryScope", "fields", "apiScope", "density", "multikey", "unique",
    ]

    /// Returns the declared index of an entry in the file; nil if the entry is not an index that is
    /// used here.
    static func composite(_ tree: JSONTree) -> CompositeIndex? {
        var reader = IndexFileReader()
        do throws(IndexFileError) { try reader.readComposite(tree, at: "indexes") } catch {
            return nil
        }
        return reader.composites.first
    }

    private mutating func readComposite(
        _ tree: JSONTree, at place: String
    ) throws(IndexFileError) {
        let entry = try Self.object(tree, at: place)
        let group = try Self.text(entry, "collectionGroup", at: place)
        let scope = try Self.scope(entry, at: place)
        let parts = try Self.list(
            entry["fields"], at: "\(place).fields", upTo: IndexConfiguration.maxFields)
        if parts.isEmpty { throw IndexFileError(at: "\(place).fields", "This must not be empty.") }
        var fields: [IndexedField] = []
        for (number, part) in parts.enumerated() {
            fields.append(try field(part, at: "\(place).fields[\(number)]"))
        }
        try Self.check(fields, at: "\(place).fields")
        remark(on: entry, known: Self.known, at: place)
        if let api = entry["apiScope"].text, api != "ANY_API" {
            remarks.append("\(place): \"apiScope\" is \(api), so no query uses this index.")
            return
        }
        composites.append(CompositeIndex(group: group, scope: scope, fields: fields))
    }

    private mutating func field(
        _ tree: JSONTree, at place: String
    ) throws(IndexFileError) -> IndexedField {
        let entry = try Self.object(tree, at: place)
        let path = try Self.path(entry, at: place)
        remark(
            on: entry, known: ["fieldPath", "order", "arrayConfig", "mode", "vectorConfig"],
            at: place)
        guard let vector = entry["vectorConfig"] else {
            return IndexedField(path, try Self.mode(entry, at: place))
        }
        if entry["order"] != nil || entry["arrayConfig"] != nil {
            throw IndexFileError(at: place, "A field can be indexed in one way only.")
        }
        let config = try Self.object(vector, at: "\(place).vectorConfig")
        var dimension: Int64?
        if case .integer(let number)? = config["dimension"] { dimension = number }
        if let text = config["dimension"].text { dimension = Int64(text) }
        let range = 1...Int64(DocumentLimits.vectorDimensions)
        guard let dimension, range.contains(dimension) else {
            throw IndexFileError(
                at: "\(place).vectorConfig.dimension",
                "This must be a number from 1 to \(DocumentLimits.vectorDimensions).")
        }
        return IndexedField(path, .vector(dimension: Int(dimension)))
    }

    /// Checks the fields of one index.
    private static func check(
        _ fields: [IndexedField], at place: String
    ) throws(IndexFileError) {
        if fields.count(where: { $0.mode == .contains }) > 1 {
            throw IndexFileError(at: place, "An index can have one array field at most.")
        }
        // An index can contain a field and also the field's elements: an aggregation over a search
        // needs both.
        let values = fields.filter { $0.mode != .contains }
        if Set(values.map(\.path)).count < values.count {
            throw IndexFileError(at: place, "A field is named twice.")
        }
        if let vector = fields.firstIndex(where: \.isVector), vector + 1 < fields.count {
            throw IndexFileError(at: place, "A vector must be the last field.")
        }
        let others = fields.filter { !$0.isVector }
        if let name = others.firstIndex(where: \.path.isDocumentID), name + 1 < others.count {
            throw IndexFileError(at: place, "Only a vector can follow __name__.")
        }
    }
}

// MARK: - Single fields

extension IndexFileReader {
    private mutating func readOverride(
        _ tree: JSONTree, at place: String
    ) throws(IndexFileError) {
        let entry = try Self.object(tree, at: place)
        let group = try Self.text(entry, "collectionGroup", at: place)
        let isEveryField = entry["fieldPath"].text == "*"
        let path = isEveryField ? nil : try Self.path(entry, at: place)
        remark(
            on: entry, known: ["collectionGroup", "fieldPath", "indexes", "ttl"], at: place)
        try readExpiry(entry, group: group, field: path, at: place)
        // A setting with only a time to live contains no indexes.
        guard entry["indexes"] != nil else { return }
        let list = try Self.list(
            entry["indexes"], at: "\(place).indexes", upTo: IndexConfiguration.maxFields)
        var indexes: [FieldOverride.Index] = []
        for (number, tree) in list.enumerated() {
            let place = "\(place).indexes[\(number)]"
            let index = try Self.object(tree, at: place)
            remark(on: index, known: ["queryScope", "order", "arrayConfig"], at: place)
            indexes.append(
                FieldOverride.Index(
                    try Self.scope(index, at: place), try Self.mode(index, at: place)))
        }
        overrides.append(FieldOverride(group: group, field: path, indexes: indexes))
    }

    private mutating func readExpiry(
        _ entry: [String: JSONTree], group: String, field: FieldPath?, at place: String
    ) throws(IndexFileError) {
        switch entry["ttl"] {
        case nil, .null?, .bool(false)?: return
        case .bool(true)?: break
        default: throw IndexFileError(at: "\(place).ttl", "This must be true or false.")
        }
        guard let field else {
            throw IndexFileError(at: "\(place).ttl", "A time to live needs the name of a field.")
        }
        if expiryPolicies.contains(where: { ByteString($0.group) == ByteString(group) }) {
            throw IndexFileError(
                at: "\(place).ttl", "\(group) has a time to live in another field already.")
        }
        expiryPolicies.append(ExpiryPolicy(group: group, field: field))
    }

    private static func mode(
        _ entry: [String: JSONTree], at place: String
    ) throws(IndexFileError) -> IndexedField.Mode {
        // Older tools wrote the key `mode`.
        if entry["order"] == nil, entry["arrayConfig"] == nil, let mode = entry["mode"] {
            switch mode {
            case .text("ASCENDING"): return .ordered(.ascending)
            case .text("DESCENDING"): return .ordered(.descending)
            case .text("ARRAY_CONTAINS"): return .contains
            default:
                throw IndexFileError(
                    at: "\(place).mode", "This must be ASCENDING, DESCENDING or ARRAY_CONTAINS.")
            }
        }
        switch (entry["order"], entry["arrayConfig"]) {
        case (.text("ASCENDING")?, nil): return .ordered(.ascending)
        case (.text("DESCENDING")?, nil): return .ordered(.descending)
        case (nil, .text("CONTAINS")?): return .contains
        case (nil, nil):
            throw IndexFileError(at: place, "There must be an \"order\" or an \"arrayConfig\".")
        case (_?, nil):
            throw IndexFileError(at: "\(place).order", "This must be ASCENDING or DESCENDING.")
        case (nil, _?): throw IndexFileError(at: "\(place).arrayConfig", "This must be CONTAINS.")
        case (_?, _?): throw IndexFileError(at: place, "A field can be indexed in one way only.")
        }
    }

    private static func scope(
        _ entry: [String: JSONTree], at place: String
    ) throws(IndexFileError) -> IndexScope {
        guard let value = entry["queryScope"] else { return .collection }
        if case .text(let text) = value, let scope = IndexScope(rawValue: text) { return scope }
        throw IndexFileError(
            at: "\(place).queryScope", "This must be COLLECTION or COLLECTION_GROUP.")
    }

    private static func path(
        _ entry: [String: JSONTree], at place: String
    ) throws(IndexFileError) -> FieldPath {
        let text = try text(entry, "fieldPath", at: place)
        do throws(InvalidPath) { return try FieldPath(encoded: text) } catch {
            throw IndexFileError(at: "\(place).fieldPath", error.message)
        }
    }

    private static func text(
        _ entry: [String: JSONTree], _ key: String, at place: String
    ) throws(IndexFileError) -> String {
        guard let text = entry[key].text, !text.isEmpty else {
            throw IndexFileError(at: "\(place).\(key)", "This must be a text.")
        }
        return text
    }

    private static func object(
        _ tree: JSONTree, at place: String
    ) throws(IndexFileError) -> [String: JSONTree] {
        guard let fields = tree.fields else {
            throw IndexFileError(at: place, "This must be an object.")
        }
        return fields
    }
}
