import Foundation

/// The fields of a row, as texts.
struct RowFields: Hashable {
    var kind: String?
    var start: String?
    var end: String?
    var value: String?
    var unit: String?
    var source: String?
}

/// The format of rows, which the first line determines.
enum RowFormat: Hashable {
    case jsonLines
    /// The index of each column.
    case csv([String: Int])

    /// Returns nil for another format.
    init?(firstLine: String) {
        let line = firstLine.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        if line.first == "{" {
            self = .jsonLines
            return
        }
        guard let names = Self.cells(String(line)) else { return nil }
        var places: [String: Int] = [:]
        for (place, name) in names.enumerated() {
            let name = name.trimmingCharacters(in: .whitespaces).lowercased()
            if places[name] == nil { places[name] = place }
        }
        guard ["kind", "start", "value"].allSatisfy({ places[$0] != nil }) else { return nil }
        self = .csv(places)
    }

    /// Returns nil for a line that does not have this format.
    func fields(_ line: String) -> RowFields? {
        switch self {
        case .jsonLines: return Self.json(line)
        case .csv(let places):
            guard let cells = Self.cells(line) else { return nil }
            func cell(_ name: String) -> String? {
                guard let place = places[name], place < cells.count else { return nil }
                let text = cells[place].trimmingCharacters(in: .whitespaces)
                return text.isEmpty ? nil : text
            }
            return RowFields(
                kind: cell("kind"), start: cell("start"), end: cell("end"), value: cell("value"),
                unit: cell("unit"), source: cell("source"))
        }
    }

    /// Splits a line by RFC 4180: a cell in quotes can contain commas, and doubled quotes. Returns
    /// nil if a quote is not closed.
    static func cells(_ line: String) -> [String]? {
        var cells: [String] = []
        var cell = ""
        var isQuoted = false
        var rest = Substring(line)
        while let character = rest.popFirst() {
            switch character {
            case "\"" where isQuoted && rest.first == "\"":
                cell.append("\"")
                rest.removeFirst()
            case "\"" where isQuoted || cell.isEmpty: isQuoted.toggle()
            case "," where !isQuoted:
                cells.append(cell)
                cell = ""
            default: cell.append(character)
            }
        }
        return isQuoted ? nil : cells + [cell]
    }

    private static func json(_ line: String) -> RowFields? {
        guard let row = try? JSONDecoder().decode(JSONRow.self, from: Data(line.utf8)) else {
            return nil
        }
        return RowFields(
            kind: row.kind?.text, start: row.start?.text, end: row.end?.text,
            value: row.value?.text, unit: row.unit?.text, source: row.source?.text)
    }

    private struct JSONRow: Decodable {
        let kind, start, end, value, unit, source: TextOrNumber?
    }

    private struct TextOrNumber: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Int64.self) {
                text = "\(number)"
            } else if let number = try? container.decode(Double.self) {
                text = "\(number)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }
}

/// The lines of a file, of which at most one is in memory.
struct LineReader {
    private let file: ReadOnlyFile
    private var place: Int64 = 0
    private var buffer: [UInt8] = []
    private var start = 0
    private var number = 0
    private var isSkipping = false

    private static let chunk = 262_144
    static let longest = 65_536

    init(_ file: ReadOnlyFile) { self.file = file }

    /// Returns the next line, without its end, and its number from 1. The text is nil for a line
    /// that is too long.
    mutating func next() throws(HealthExportError) -> (number: Int, text: String?)? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                let line = buffer[start..<end]
                start = end + 1
                return taken(line)
            }
            if buffer.count - start > Self.longest {
                // The rest of a line that is too long is skipped.
                isSkipping = true
                start = buffer.count
            }
            buffer.removeFirst(start)
            start = 0
            let more = try file.bytes(at: place, count: Self.chunk)
            if more.isEmpty {
                if buffer.isEmpty, !isSkipping { return nil }
                let line = buffer[...]
                buffer = []
                return taken(line)
            }
            place += Int64(more.count)
            buffer += more
        }
    }

    private mutating func taken(_ line: ArraySlice<UInt8>) -> (number: Int, text: String?) {
        number += 1
        defer { isSkipping = false }
        if isSkipping || line.count > Self.longest { return (number, nil) }
        let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
        return (number, String(decoding: line, as: UTF8.self))
    }
}
