import Foundation

/// Text as a search compares it, for the field that documents are found by and for what is typed.
///
/// ```swift
/// try await user.setData(["name": name, "searchName": SearchText.normalized(name)])
/// ```
public enum SearchText {
    /// Without differences of case, of accents, of width (`ｆｕｌｌ` is `full`) and of white space, of
    /// which one space stays between words. The same in every locale; applying it again changes
    /// nothing.
    public static func normalized(_ text: String) -> String {
        // Apart from its accents, and in its plain width and form: what comes of a capital is a letter.
        var letters = String.UnicodeScalarView()
        for scalar in text.decomposedStringWithCompatibilityMapping.lowercased().unicodeScalars
        where !isAccent(scalar) {
            // One letter, whether it ends a word or not.
            letters.append(scalar == "\u{3C2}" ? "\u{3C3}" : scalar)
        }
        return String(letters).precomposedStringWithCompatibilityMapping
            .split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Marks that are put on letters of any script; signs that are part of a script stay.
    private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x300...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }

    /// What was typed, as a prefix: a space at its end says that a word is over, and stays.
    static func prefix(_ text: String) -> String {
        let normal = normalized(text)
        let endsWord = text.last?.isWhitespace ?? false
        return endsWord && !normal.isEmpty ? normal + " " : normal
    }

    /// Above every text that begins with a prefix.
    static func end(of prefix: String) -> String { prefix + "\u{10FFFF}" }
}

extension String {
    func hasBytePrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
}
