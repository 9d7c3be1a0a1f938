package import Foundation
package import TidemarkModel

/// The reads of a suite, as a team commits them beside its tests.
///
/// The text has one line for each entry, in a fixed order. A review shows a change of reads as a
/// change of a line.
package struct ReadsFile: Hashable, Sendable {
    /// The newest format that this version reads and writes.
    package static let format = 2
    /// The format of a file of the Standard edition, which has no units.
    static let formatWithoutUnits = 1
    /// The maximum size of a file, in bytes.
    package static let maxBytes = 16 << 20
    /// The maximum number of lines.
    package static let maxLines = 50_000

    /// The lines by key, each key once.
    package let lines: [KeptLine]
    /// The edition of the databases of the recorded suite. Another edition has other bills.
    package let edition: DatabaseEdition

    /// - Precondition: Each key occurs once.
    package init(_ lines: [KeptLine], edition: DatabaseEdition = .standard) {
        let sorted = lines.sorted { $0.key < $1.key }
        precondition(zip(sorted, sorted.dropFirst()).allSatisfy { $0.key < $1.key })
        self.lines = sorted
        self.edition = edition
    }

    /// The file's bytes.
    package var data: Data {
        let entries = lines.map { "    " + $0.json }.joined(separator: ",\n")
        let body = entries.isEmpty ? "[]" : "[\n\(entries)\n  ]"
        var head = "  \"format\": \(Self.formatWithoutUnits),\n"
        if edition.isBilledByUnits {
            head = "  \"format\": \(Self.format),\n  \"edition\": \"\(edition.rawValue)\",\n"
        }
        return Data("{\n\(head)  \"lines\": \(body)\n}\n".utf8)
    }
}

extension KeptLine {
    /// The line as JSON, with its names in a fixed order.
    fileprivate var json: String {
        var parts = [
            "\"label\": \(Self.quoted(key.label))", "\"call\": \(Self.quoted(key.call))",
            "\"target\": \(Self.quoted(key.target))",
        ]
        if !key.query.isEmpty { parts.append("\"query\": \(Self.quoted(key.query))") }
        if let limit { parts.append("\"limit\": \(limit)") }
        parts.append("\"calls\": \(calls)")
        if resumed > 0 { parts.append("\"resumed\": \(resumed)") }
        parts.append(Self.member(.reads, least...most))
        if let readUnits { parts.append(Self.member(.readUnits, readUnits)) }
        if let updateUnits, updateUnits != 0...0 {
            parts.append(Self.member(.updateUnits, updateUnits))
        }
        if let reason { parts.append("\"reason\": \(Self.quoted(reason))") }
        return "{\(parts.joined(separator: ", "))}"
    }

    private static func member(_ measure: ReadMeasure, _ range: ClosedRange<Int>) -> String {
        let (least, most) = (range.lowerBound, range.upperBound)
        if least == most { return "\"\(measure.key)\": \(most)" }
        return "\"\(measure.key)\": {\"least\": \(least), \"most\": \(most)}"
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        // Every string has a form in JSON.
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
