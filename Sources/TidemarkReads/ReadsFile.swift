package import Foundation

/// The reads of a suite, as a team commits them beside its tests.
///
/// The text has one line for each entry, in a fixed order. A review shows a change of reads as a
/// change of a line.
package struct ReadsFile: Hashable, Sendable {
    /// The newest format that this version reads and writes.
    package static let format = 1
    /// The maximum size of a file, in bytes.
    package static let maxBytes = 16 << 20
    /// The maximum number of lines.
    package static let maxLines = 50_000

    /// The lines by key, each key once.
    package let lines: [KeptLine]

    /// - Precondition: Each key occurs once.
    package init(_ lines: [KeptLine]) {
        let sorted = lines.sorted { $0.key < $1.key }
        precondition(zip(sorted, sorted.dropFirst()).allSatisfy { $0.key < $1.key })
        self.lines = sorted
    }

    /// The file's bytes.
    package var data: Data {
        let entries = lines.map { "    " + $0.json }.joined(separator: ",\n")
        let body = entries.isEmpty ? "[]" : "[\n\(entries)\n  ]"
        return Data("{\n  \"format\": \(Self.format),\n  \"lines\": \(body)\n}\n".utf8)
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
        if least == most {
            parts.append("\"reads\": \(most)")
        } else {
            parts.append("\"reads\": {\"least\": \(least), \"most\": \(most)}")
        }
        if let reason { parts.append("\"reason\": \(Self.quoted(reason))") }
        return "{\(parts.joined(separator: ", "))}"
    }

    private static func quoted(_ text: String) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        // Every string has a form in JSON.
        return (try? encoder.encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
}
