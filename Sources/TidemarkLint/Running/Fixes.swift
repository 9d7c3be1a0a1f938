/// The changes that are safe to make, file by file.
package struct Fixes {
    package struct FileChange {
        package let path: String
        package let before: String
        package let after: String
        package let count: Int
    }

    package let changes: [FileChange]

    package init(_ report: Report, texts: [String: String]) {
        var changes: [FileChange] = []
        let byPath = Dictionary(
            grouping: report.findings.filter { $0.fix != nil }, by: \.place.path)
        for (path, findings) in byPath.sorted(by: { $0.key < $1.key }) {
            guard let text = texts[path] else { continue }
            var bytes = Array(text.utf8)
            var last = bytes.count
            var count = 0
            // From the end, so that the places before stay.
            for fix in findings.compactMap(\.fix).sorted(by: { $0.start > $1.start })
            where fix.end <= last && fix.start <= fix.end {
                bytes.replaceSubrange(fix.start..<fix.end, with: Array(fix.text.utf8))
                last = fix.start
                count += 1
            }
            changes.append(
                FileChange(
                    path: path, before: text, after: String(decoding: bytes, as: UTF8.self),
                    count: count))
        }
        self.changes = changes
    }

    /// As `diff -u` shows it, with no lines around. Fixes change lines, and add or remove none.
    package var difference: String {
        var text = ""
        for change in changes {
            text += "--- \(change.path)\n+++ \(change.path)\n"
            let before = change.before.split(separator: "\n", omittingEmptySubsequences: false)
            let after = change.after.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, (old, new)) in zip(before, after).enumerated() where old != new {
                text += "@@ -\(index + 1) +\(index + 1) @@\n-\(old)\n+\(new)\n"
            }
        }
        return text
    }
}
