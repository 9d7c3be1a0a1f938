import SwiftSyntax

/// The comments `// tidemark:ignore ID reason` in a file, on the line of a finding or on the line
/// before.
struct Directives {
    struct Directive: Hashable {
        let line: Int
        let ids: Set<String>
        let reason: String
        let isOfFile: Bool
    }

    private(set) var all: [Directive] = []

    init(_ file: SourceFile) {
        // Most files have none, and a search through lines is slow.
        guard file.text.hasBytes("tidemark:ignore") else { return }
        for (index, line) in file.lines.enumerated() {
            guard let start = line.firstRange(of: "// tidemark:ignore") else { continue }
            // The text is in a string, or is quoted.
            if let before = line[..<start.lowerBound].last, "`\"/".contains(before) { continue }
            var rest = line[start.upperBound...]
            let isOfFile = rest.hasPrefix("-file")
            if isOfFile { rest = rest.dropFirst("-file".count) }
            var words = rest.split(separator: " ", omittingEmptySubsequences: true)
            guard !words.isEmpty else {
                all.append(Directive(line: index + 1, ids: [], reason: "", isOfFile: isOfFile))
                continue
            }
            let ids = Set(words.removeFirst().split(separator: ",").map(String.init))
            all.append(
                Directive(
                    line: index + 1, ids: ids, reason: words.joined(separator: " "),
                    isOfFile: isOfFile))
        }
    }

    func covers(_ finding: Finding) -> Bool {
        all.contains { directive in
            directive.ids.contains(finding.id.rawValue)
                && (directive.isOfFile || directive.line == finding.place.line
                    || directive.line == finding.place.line - 1)
        }
    }

    /// Returns findings for directives that name no existing finding, or have no reason.
    func faults(in file: SourceFile) -> [Finding] {
        all.compactMap { directive in
            let unknown = directive.ids.filter { FindingID(rawValue: $0) == nil }.sorted()
            let message: String
            if directive.ids.isEmpty {
                message = "This comment names no finding to ignore."
            } else if let first = unknown.first {
                message = "There is no finding `\(first)`."
            } else if directive.reason.isEmpty {
                message = "This ignores a finding without a reason."
            } else {
                return nil
            }
            let line = file.line(directive.line)
            let column =
                (line.utf8.firstIndex(of: UInt8(ascii: "/")).map {
                    line.utf8.distance(from: line.utf8.startIndex, to: $0)
                } ?? 0) + 1
            return Finding(
                id: .ignoredWithoutReason, severity: FindingID.ignoredWithoutReason.severity,
                place: Place(path: file.path, line: directive.line, column: column),
                length: 18, message: message,
                reason: "A later reader cannot tell if the reason still applies.",
                mending: "Write `// tidemark:ignore ID reason`.", estimate: nil, fix: nil,
                line: line.trimmed)
        }
    }
}

extension String {
    /// Returns true if the text contains these bytes.
    fileprivate func hasBytes(_ word: StaticString) -> Bool {
        var copy = self
        let length = word.utf8CodeUnitCount
        return copy.withUTF8 { bytes in
            guard bytes.count >= length else { return false }
            return (0...bytes.count - length).contains { start in
                bytes[start] == word.utf8Start[0]
                    && bytes[start..<start + length].elementsEqual(
                        UnsafeBufferPointer(start: word.utf8Start, count: length))
            }
        }
    }
}
