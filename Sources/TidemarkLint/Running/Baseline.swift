package import Foundation

/// The findings from before the linter was introduced, which are not reported again. A finding is
/// identified by its id, its file and the text of its line, so lines can move.
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

    /// - Throws: The error of `JSONDecoder` for an invalid file.
    package init(json: Data) throws {
        self = try JSONDecoder().decode(Baseline.self, from: json)
    }

    package var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)) ?? Data()
    }

    /// Removes known findings from a report. A repeated finding must be in the file as often.
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
