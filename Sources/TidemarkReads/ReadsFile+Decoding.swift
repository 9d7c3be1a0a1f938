package import Foundation
import TidemarkModel

/// The reason for which a file of reads cannot be used. The sentence begins with the file's name.
package struct ReadsFileError: Error, Hashable, Sendable {
    package let message: String

    package init(_ message: String) { self.message = message }
}

extension ReadsFile {
    /// Reads a file that this type has written, also after an edit by hand.
    ///
    /// - Parameter name: The file's name for the sentence of an error.
    /// - Throws: ``ReadsFileError`` for a damaged file and for a file of a newer version.
    package init(_ data: Data, name: String) throws(ReadsFileError) {
        if data.count > Self.maxBytes {
            throw ReadsFileError("\(name) has more than \(Self.maxBytes >> 20) MiB.")
        }
        guard case .object(let object)? = try? JSONDecoder().decode(FilePart.self, from: data)
        else {
            throw ReadsFileError(
                """
                \(name) is not valid JSON. Restore it, or remove it and write it again with \
                'tidemark reads record'.
                """)
        }
        guard let format = object["format"]?.count else {
            throw ReadsFileError("\(name) has no \"format\": it is not a file of reads.")
        }
        if format > Self.format {
            throw ReadsFileError(
                """
                \(name) has format \(format), and this version of tidemark reads formats up to \
                \(Self.format). Install the version that wrote it, or a newer one.
                """)
        }
        guard format > 0, case .list(let entries)? = object["lines"] else {
            throw ReadsFileError(
                "\(name) is damaged: it needs a format from 1 to \(Self.format) and \"lines\".")
        }
        let edition = try Self.edition(object["edition"], name: name)
        if entries.count > Self.maxLines {
            throw ReadsFileError("\(name) has more than \(Self.maxLines) lines.")
        }
        var lines: [KeptLine] = []
        var seen: Set<ReadKey> = []
        for (index, entry) in entries.enumerated() {
            let place = "\(name), line \(index + 1) of \"lines\""
            let line = try EntryReader(entry, place: place).line(edition)
            if !seen.insert(line.key).inserted {
                throw ReadsFileError("\(place): \(line.key.summary) occurs twice.")
            }
            lines.append(line)
        }
        self.init(lines, edition: edition)
    }

    private static func edition(
        _ value: FilePart?, name: String
    ) throws(ReadsFileError) -> DatabaseEdition {
        guard let value else { return .standard }
        guard case .text(let text) = value, let edition = DatabaseEdition(rawValue: text) else {
            throw ReadsFileError(
                "\(name) is damaged: its \"edition\" is neither standard nor enterprise.")
        }
        return edition
    }
}

/// A part of a file, before it is known to be valid.
private enum FilePart: Decodable {
    case object([String: FilePart])
    case list([FilePart])
    case text(String)
    case number(Double)
    case other

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let object = try? value.decode([String: FilePart].self) {
            self = .object(object)
        } else if let list = try? value.decode([FilePart].self) {
            self = .list(list)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .other
        }
    }

    /// The maximum number in a file. Every sum of a file's numbers is an `Int`.
    private static let maxCount = 1_000_000_000_000.0

    /// The value as a whole number from zero; nil for any other value.
    var count: Int? {
        guard case .number(let number) = self, (0...Self.maxCount).contains(number) else {
            return nil
        }
        return Int(exactly: number)
    }
}

/// Reads one entry of a file, and names the place of a fault.
private struct EntryReader {
    let object: [String: FilePart]
    let place: String

    private static let names: Set<String> = [
        "label", "call", "target", "query", "limit", "calls", "resumed", "reads", "reason",
        "readUnits", "updateUnits",
    ]

    init(_ value: FilePart, place: String) throws(ReadsFileError) {
        guard case .object(let object) = value else {
            throw ReadsFileError("\(place) is not an object.")
        }
        self.object = object
        self.place = place
    }

    func line(_ edition: DatabaseEdition) throws(ReadsFileError) -> KeptLine {
        if let unknown = object.keys.sorted().first(where: { !Self.names.contains($0) }) {
            throw ReadsFileError("\(place) has an unknown name \"\(unknown)\".")
        }
        let key = ReadKey(
            label: try text("label"), call: try text("call"), target: try text("target"),
            query: object["query"] == nil ? "" : try text("query"))
        guard let reads = try range("reads") else {
            throw ReadsFileError("\(place) has no \"reads\".")
        }
        var line = KeptLine(
            key, least: reads.lowerBound, most: reads.upperBound, calls: try count("calls") ?? 0,
            resumed: try count("resumed") ?? 0, limit: try count("limit"))
        if edition.isBilledByUnits {
            guard let units = try range("readUnits") else {
                throw ReadsFileError(
                    "\(place) has no \"readUnits\", which the Enterprise edition is billed by.")
            }
            line.readUnits = units
            line.updateUnits = try range("updateUnits") ?? 0...0
        }
        let reason = object["reason"] == nil ? nil : try text("reason")
        line.reason = line.varies ? reason : nil
        return line
    }

    /// Returns a number, or a range with its ends; nil if there is none.
    private func range(_ name: String) throws(ReadsFileError) -> ClosedRange<Int>? {
        if case .object(let range)? = object[name] {
            guard range.count == 2, let least = range["least"]?.count,
                let most = range["most"]?.count, least <= most
            else {
                throw ReadsFileError(
                    "\(place): \"\(name)\" needs \"least\" and \"most\", which is not less.")
            }
            return least...most
        }
        return try count(name).map { $0...$0 }
    }

    private func text(_ name: String) throws(ReadsFileError) -> String {
        guard case .text(let text)? = object[name] else {
            throw ReadsFileError("\(place) has no \"\(name)\" that is a text.")
        }
        return text
    }

    /// Returns a number; nil if there is none.
    private func count(_ name: String) throws(ReadsFileError) -> Int? {
        guard let value = object[name] else { return nil }
        guard let number = value.count else {
            throw ReadsFileError("\(place): \"\(name)\" is not a whole number from 0.")
        }
        return number
    }
}
