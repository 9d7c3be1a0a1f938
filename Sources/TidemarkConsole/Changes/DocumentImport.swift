import Foundation
import TidemarkModel

/// Parses documents in a pasted or dropped text: JSON, JSON lines or CSV.
///
/// In JSON, a number with a decimal point or an exponent is a double. Other numbers are integers.
/// `{"fields": {…}}` is a document in Firestore's REST form, which keeps every type. The member
/// `__id__` is the document's id and is not stored as a field. Documents without it get a new id.
struct DocumentImport {
    /// The maximum number of documents in a text.
    static let maxDocuments = 10_000

    struct Entry: Hashable, Encodable {
        let id: String
        let fields: MapValue

        private enum Key: String, CodingKey { case id }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(id, forKey: .id)
            try FieldsJSON(fields).encode(to: encoder)
        }
    }

    /// Returns an id for a document without one.
    let newID: () -> String

    /// - Throws: A sentence with the line of the error. No document is imported then.
    func entries(of text: String) throws(PageRefusal) -> [Entry] {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let first = trimmed.first else { throw PageRefusal(400, "The text is empty.") }
        let entries: [Entry]
        if first == "{" || first == "[" {
            entries = try self.entries(ofJSON: trimmed)
        } else {
            entries = try CSVText.rows(of: trimmed, atMost: Self.maxDocuments).map {
                row throws(PageRefusal) in
                try entry(row.fields, at: "Line \(row.line)")
            }
        }
        guard entries.count <= Self.maxDocuments else { throw Self.tooMany }
        return entries
    }

    private static let tooMany = PageRefusal(
        400,
        """
        One import can have at most \(maxDocuments) documents.
        """)

    private func entries(ofJSON text: String) throws(PageRefusal) -> [Entry] {
        if let whole = try? JSONValue(Array(text.utf8)) {
            guard case .list(let list) = whole else {
                return [try entry(whole, at: "The document")]
            }
            var entries: [Entry] = []
            for (index, element) in list.enumerated() {
                if index >= Self.maxDocuments { throw Self.tooMany }
                entries.append(try entry(element, at: "Document \(index + 1)"))
            }
            return entries
        }
        var entries: [Entry] = []
        let lines = text.utf8.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.allSatisfy({ $0 <= 0x20 }) {
            guard let value = try? JSONValue(Array(line)) else {
                throw PageRefusal(400, "Line \(index + 1) is not JSON.")
            }
            entries.append(try entry(value, at: "Line \(index + 1)"))
            if entries.count > Self.maxDocuments { break }
        }
        return entries
    }

    private func entry(_ value: JSONValue, at place: String) throws(PageRefusal) -> Entry {
        guard case .object(var members) = value else {
            throw PageRefusal(400, "\(place) is not a JSON object.")
        }
        var id = members["__id__"].map(Self.text)
        if id != nil { members["__id__"] = nil }
        let name = members["name"]?.text
        if case .object? = members["fields"], Array(members).count == 1 || name != nil {
            id = id ?? name?.split(separator: "/").last.map(String.init)
            return Entry(id: try checked(id, place), fields: try Self.typed(members, place))
        }
        return Entry(id: try checked(id, place), fields: try Self.map(members, place))
    }

    /// Returns a text unchanged, and any other value in JSON.
    private static func text(of value: JSONValue) -> String {
        value.text ?? String(decoding: JSONWriter.bytes(of: value), as: UTF8.self)
    }

    private func entry(_ cells: MapValue, at place: String) throws(PageRefusal) -> Entry {
        var fields = cells
        var id: String?
        switch cells["__id__"] {
        case .string(let text)?: id = text
        case .integer(let number)?: id = "\(number)"
        default: break
        }
        fields["__id__"] = nil
        return Entry(id: try checked(id, place), fields: fields)
    }

    private func checked(_ id: String?, _ place: String) throws(PageRefusal) -> String {
        let id = id ?? newID()
        do throws(InvalidPath) {
            return try CollectionPath("c").document(id).id
        } catch { throw PageRefusal(400, "\(place): \(error.message)") }
    }

    /// Decodes fields in the REST form.
    private static func typed(
        _ members: JSONObject, _ place: String
    ) throws(PageRefusal) -> MapValue {
        do {
            let fields: JSONValue = .object(["fields": members["fields"] ?? .object([:])])
            return try JSONValueDecoder().decode(FieldsJSON.self, from: fields).fields
        } catch { throw PageRefusal(400, "\(place): \(PageRefusal.sentence(error))") }
    }

    private static func map(
        _ members: JSONObject, _ place: String
    ) throws(PageRefusal) -> MapValue {
        var fields: [(String, Value)] = []
        for (name, member) in members { fields.append((name, try value(member, place))) }
        return MapValue(fields)
    }

    private static func value(_ json: JSONValue, _ place: String) throws(PageRefusal) -> Value {
        switch json {
        case .null: return .null
        case .bool(let flag): return .boolean(flag)
        case .integer(let number): return .integer(number)
        case .number(let number):
            guard number.isFinite else {
                throw PageRefusal(400, "\(place) has a number that is too large.")
            }
            return .double(number)
        case .text(let text): return .string(text)
        case .list(let list):
            var values: [Value] = []
            for element in list { values.append(try value(element, place)) }
            return .array(values)
        case .object(let members): return .map(try map(members, place))
        }
    }
}

/// Parses rows of comma-separated values (RFC 4180). The first row contains the names of the
/// fields.
enum CSVText {
    struct Row {
        let line: Int
        let fields: MapValue
    }

    private struct Cell {
        var text = ""
        var isQuoted = false
    }

    /// - Parameter most: The maximum number of rows. One more row is read.
    static func rows(of text: String, atMost most: Int) throws(PageRefusal) -> [Row] {
        var lines = try cells(of: text, atMost: most + 2)
        guard !lines.isEmpty else { return [] }
        let names = lines.removeFirst().cells.map(\.text)
        guard Set(names.map(ByteString.init)).count == names.count, !names.contains("") else {
            throw PageRefusal(400, "Line 1 must name each field once.")
        }
        var rows: [Row] = []
        for (number, cells) in lines {
            guard cells.count == names.count else {
                throw PageRefusal(
                    400,
                    """
                    Line \(number) has \(cells.count) values, but line 1 has \(names.count) \
                    names.
                    """)
            }
            var fields = MapValue()
            for (name, cell) in zip(names, cells) { fields[name] = value(cell) }
            rows.append(Row(line: number, fields: fields))
        }
        return rows
    }

    /// Returns the value of a cell. A quoted cell is a text; an empty cell has no value.
    private static func value(_ cell: Cell) -> Value? {
        if cell.isQuoted { return .string(cell.text) }
        switch cell.text {
        case "": return nil
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "null": return .null
        default: break
        }
        if let integer = Int64(cell.text) { return .integer(integer) }
        let isPlain = cell.text.utf8.allSatisfy { "0123456789.eE+-".utf8.contains($0) }
        if isPlain, let double = Double(cell.text) { return .double(double) }
        let isTime = cell.text.utf8.count >= 20 && cell.text.contains("T")
        if isTime, let time = Timestamp(rfc3339: cell.text) { return .timestamp(time) }
        return .string(cell.text)
    }

    private static func cells(
        of text: String, atMost most: Int
    ) throws(PageRefusal) -> [(line: Int, cells: [Cell])] {
        var lines: [(line: Int, cells: [Cell])] = []
        var row: [Cell] = []
        var cell = Cell()
        var isOpen = false
        var (line, firstLine) = (1, 1)
        func endRow() {
            row.append(cell)
            if row.count > 1 || !cell.text.isEmpty || cell.isQuoted {
                lines.append((firstLine, row))
            }
            (row, cell, firstLine) = ([], Cell(), line)
        }
        // The text is read by Unicode scalars: a comma and a following combining mark are a single
        // character.
        var rest = text.replacing("\r\n", with: "\n").unicodeScalars[...]
        while let next = rest.popFirst() {
            if next == "\n" { line += 1 }
            if isOpen {
                guard next == "\"" else {
                    cell.text.unicodeScalars.append(next)
                    continue
                }
                if rest.first == "\"" {
                    cell.text.unicodeScalars.append(rest.removeFirst())
                } else {
                    isOpen = false
                }
            } else if next == "\"", cell.text.isEmpty {
                (isOpen, cell.isQuoted) = (true, true)
            } else if next == "," {
                row.append(cell)
                cell = Cell()
            } else if next == "\n" {
                endRow()
                if lines.count >= most { return lines }
            } else {
                cell.text.unicodeScalars.append(next)
            }
        }
        if isOpen { throw PageRefusal(400, "Line \(firstLine): a closing quote is missing.") }
        endRow()
        return lines
    }
}
