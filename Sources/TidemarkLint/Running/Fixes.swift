/// The safe changes, file by file.
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
            let fixes = Self.compatible(findings.compactMap(\.fix))
            var bytes = Array(text.utf8)
            // The edits run from the end, so earlier positions stay valid.
            for edit in fixes.flatMap(\.edits).sorted(by: { $0.start > $1.start }) {
                bytes.replaceSubrange(edit.start..<edit.end, with: Array(edit.text.utf8))
            }
            let count = fixes.count
            changes.append(
                FileChange(
                    path: path, before: text, after: String(decoding: bytes, as: UTF8.self),
                    count: count))
        }
        self.changes = changes
    }

    /// Returns the fixes that do not overlap an earlier fix; the others wait for the next run.
    private static func compatible(_ fixes: [Finding.Fix]) -> [Finding.Fix] {
        var taken: [Finding.Edit] = []
        return fixes.filter { fix in
            let isFree = fix.edits.allSatisfy { edit in
                !taken.contains { $0.start < edit.end && edit.start < $0.end }
            }
            if isFree { taken += fix.edits }
            return isFree
        }
    }

    /// The changes in the format of `diff -u`, without context lines. Fixes change lines, and
    /// neither add nor remove any.
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
