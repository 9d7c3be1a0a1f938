import Foundation

/// The normal form of texts for a search, for the searched field of documents and for the user's
/// input.
///
/// ```swift
/// try await user.setData(["name": name, "searchName": SearchText.normalized(name)])
/// ```
public enum SearchText {
    /// Removes differences of case, of accents, of width (`ｆｕｌｌ` becomes `full`) and of white
    /// space, of which one space stays between words. The result is the same in every locale; a
    /// second application changes nothing.
    public static func normalized(_ text: String) -> String {
        // The decomposition separates accents and makes width and form plain before the lowercase
        // conversion, so the result of a capital is a letter.
        var letters = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars
        where !isAccent(scalar) {
            // The final form of sigma becomes the ordinary form, so both forms are equal.
            letters.append(scalar == "\u{3C2}" ? "\u{3C3}" : scalar)
        }
        return String(letters).precomposedStringWithCompatibilityMapping
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Returns true for marks that are added to letters of any script; signs that are part of a
    /// script stay.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }

    /// Returns the input as a prefix. A space at its end means that a word is complete, and stays.
    static func prefix(_ text: String) -> String {
        let normal = normalized(text)
        let endsWord = text.last?.isWhitespace ?? false
        return endsWord && !normal.isEmpty ? normal + " " : normal
    }

    /// Returns a text above every text that begins with the prefix.
    static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }
}

extension String {
    func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
