package import Foundation

/// Findings that were there when the linter came, and are not told again. A finding is known again by
/// its id, its file and the text of its line, so that lines may move.
package struct Baseline: Codable, Sendable {
    struct Entry: Codable, Hashable, Sendable {
        let id: FindingID
        let path: String
        let line: String
    }

    private var entries: [Entry]

    package init(_ report: Report) {
        entries = report.findings.map {
            Entry(id: $0.id, path: $0.place.path, line: $0.line)
        }
    }

    /// - Throws: What `JSONDecoder` says of a file that is none.
    package init(json: Data) throws {
        self = try JSONDecoder().decode(Baseline.self, from: json)
    }

    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Takes what is known out of a report. What comes twice must be in the file twice.
    package func applied(to report: Report) -> Report {
        var left: [Entry: Int] = [:]
        for entry in entries { left[entry, default: 0] += 1 }
        var result = report
        result.findings = report.findings.filter { finding in
            let entry = Entry(id: finding.id, path: finding.place.path, line: finding.line)
            guard let count = left[entry], count > 0 else { return true }
            left[entry] = count - 1
            result.known += 1
            return false
        }
        return result
    }
}
