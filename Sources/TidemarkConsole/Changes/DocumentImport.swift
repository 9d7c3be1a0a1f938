import Foundation
import Tidemark
import TidemarkModel

/// Documents in a text that was pasted or dropped: JSON, JSON lines or CSV.
///
/// In JSON a number with a point or an exponent is a double, another an integer; `{"fields": {…}}` is a
/// document in Firestore's REST form, in which every type is kept. A member `__id__` is the document's
/// id, and is taken out; without it, an id is made.
struct DocumentImport {
    /// Documents of one text.
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

    /// Makes the id of a document that has none.
    let newID: () -> String

    /// - Throws: A sentence with the line of what cannot be read. Nothing is taken then.
    func entries(of text: String) throws(PageRefusal) -> [Entry] {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let first = trimmed.first else { throw PageRefusal(400, "There is nothing in it.") }
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

    private static let tooMany = PageRefusal(400, "More than \(maxDocuments) documents at once.")

    private func entries(ofJSON text: String) throws(PageRefusal) -> [Entry] {
        if let whole = try? JSONSerialization.jsonObject(with: Data(text.utf8)) {
            if let list = whole as? [Any] {
                if list.count > Self.maxDocuments { throw Self.tooMany }
                var entries: [Entry] = []
                for (index, element) in list.enumerated() {
                    entries.append(try entry(element, at: "Document \(index + 1)"))
                }
                return entries
            }
            return [try entry(whole, at: "The document")]
        }
        var entries: [Entry] = []
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false)
            .enumerated()
        where !line.allSatisfy(\.isWhitespace) {
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) else {
                throw PageRefusal(400, "Line \(index + 1) is no JSON.")
            }
            entries.append(try entry(object, at: "Line \(index + 1)"))
            if entries.count > Self.maxDocuments { break }
        }
        return entries
    }

    private func entry(_ object: Any, at place: String) throws(PageRefusal) -> Entry {
        guard var members = object as? [String: Any] else {
            throw PageRefusal(400, "\(place) is no JSON object.")
        }
        var id = members.removeValue(forKey: "__id__").map { "\($0)" }
        if members["fields"] is [String: Any], members.count == 1 || members["name"] is String {
            if let name = members["name"] as? String {
                id = id ?? name.split(separator: "/").last.map(String.init)
            }
            return Entry(id: try checked(id, place), fields: try Self.typed(members, place))
        }
        var fields = MapValue()
        for (key, member) in members { fields[key] = try Self.value(member, place) }
        return Entry(id: try checked(id, place), fields: fields)
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

    /// Fields in the REST form.
    private static func typed(
        _ members: [String: Any], _ place: String
    ) throws(PageRefusal) -> MapValue {
        do {
            let data = try JSONSerialization.data(withJSONObject: [
                "fields": members["fields"] ?? [:]
            ])
            return try JSONDecoder().decode(FieldsJSON.self, from: data).fields
        } catch { throw PageRefusal(400, "\(place): \(PageRefusal.sentence(error))") }
    }

    private static func value(_ json: Any, _ place: String) throws(PageRefusal) -> Value {
        switch json {
        case is NSNull: return .null
        case let text as String: return .string(text)
        case let list as [Any]:
            var values: [Value] = []
            for element in list { values.append(try value(element, place)) }
            return .array(values)
        case let members as [String: Any]:
            var fields = MapValue()
            for (key, member) in members { fields[key] = try value(member, place) }
            return .map(fields)
        case let number as NSNumber: return value(number)
        default: throw PageRefusal(400, "\(place) has a value of no known kind.")
        }
    }

    private static func value(_ number: NSNumber) -> Value {
        switch String(cString: number.objCType) {
        case "c", "B": .boolean(number.boolValue)
        case "d", "f": .double(number.doubleValue)
        // Beyond 64 bits with a sign there is only the double.
        case "Q" where number.uint64Value > UInt64(Int64.max): .double(number.doubleValue)
        default: .integer(number.int64Value)
        }
    }
}

/// Rows of comma-separated values (RFC 4180), the first of which names the fields.
enum CSVText {
    struct Row {
        let line: Int
        let fields: MapValue
    }

    private struct Cell {
        var text = ""
        var isQuoted = false
    }

    /// - Parameter most: Reading stops behind so many rows, with one more.
    static func rows(of text: String, atMost most: Int) throws(PageRefusal) -> [Row] {
        var lines = try cells(of: text, atMost: most + 2)
        guard !lines.isEmpty else { return [] }
        let names = lines.removeFirst().cells.map(\.text)
        guard Set(names).count == names.count, !names.contains("") else {
            throw PageRefusal(400, "Line 1 names the fields, each once.")
        }
        var rows: [Row] = []
        for (number, cells) in lines {
            guard cells.count == names.count else {
                throw PageRefusal(
                    400, "Line \(number) has \(cells.count) values, line 1 \(names.count) names.")
            }
            var fields = MapValue()
            for (name, cell) in zip(names, cells) { fields[name] = value(cell) }
            rows.append(Row(line: number, fields: fields))
        }
        return rows
    }

    /// Quoted text is text; an empty cell is no field.
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
        var rest = text.replacing("\r\n", with: "\n")[...]
        while let next = rest.popFirst() {
            if next == "\n" { line += 1 }
            if isOpen {
                guard next == "\"" else {
                    cell.text.append(next)
                    continue
                }
                if rest.first == "\"" {
                    cell.text.append(rest.removeFirst())
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
                cell.text.append(next)
            }
        }
        if isOpen { throw PageRefusal(400, "Line \(firstLine): a quoted value is not closed.") }
        endRow()
        return lines
    }
}
