/// The second form of an export: JSON lines, which a person can read and a review can show.
///
/// The first line is `{"database":"projects/P/databases/D"}`, then comes one document a line in the order
/// of their names, and last `{"documents":N}`, so that a file that was cut is noticed.
package enum LinesForm {
    /// The longest line that is read, in bytes: the largest document, when everything in it is escaped.
    static let maxLineBytes = 32 << 20

    /// Whether a place is of this form, by its name.
    package static func isFile(_ place: String) -> Bool { place.hasSuffix(".jsonl") }
}
