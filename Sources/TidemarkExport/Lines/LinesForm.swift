/// The second form of an export: JSON lines, which are readable in an editor and in a review.
///
/// The first line is `{"database":"projects/P/databases/D"}`. A line per document follows, in the
/// order of their names. The last line is `{"documents":N}`, which shows if a file was cut off.
package enum LinesForm {
    /// The maximum length of a line in bytes: the largest document, with every character escaped.
    static let maxLineBytes = 32 << 20

    /// Returns true if a place has this form, by its name.
    package static func isFile(_ place: String) -> Bool { place.hasSuffix(".jsonl") }
}
