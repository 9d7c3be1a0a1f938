/// The named character sets of RE2's syntax.
enum NamedSets {
    static let digits = ScalarSet(ranges: [0x30...0x39])
    static let spaces = ScalarSet(ranges: [0x09...0x0A, 0x0C...0x0D, 0x20...0x20])
    static let words = ScalarSet(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])

    /// Returns the set of a Perl class such as `\d` or `\S`.
    static func perl(_ letter: Unicode.Scalar) -> ScalarSet? {
        var set: ScalarSet
        switch letter {
        case "d", "D": set = digits
        case "s", "S": set = spaces
        case "w", "W": set = words
        default: return nil
        }
        set.isNegated = letter.value < 0x61
        return set
    }

    /// Returns the set of a POSIX class such as `[:alpha:]`, for ASCII only.
    static func posix(_ name: String) -> ScalarSet? {
        let ranges: [ClosedRange<UInt32>]
        switch name {
        case "alnum": ranges = [0x30...0x39, 0x41...0x5A, 0x61...0x7A]
        case "alpha": ranges = [0x41...0x5A, 0x61...0x7A]
        case "ascii": ranges = [0...0x7F]
        case "blank": ranges = [0x09...0x09, 0x20...0x20]
        case "cntrl": ranges = [0...0x1F, 0x7F...0x7F]
        case "digit": ranges = [0x30...0x39]
        case "graph": ranges = [0x21...0x7E]
        case "lower": ranges = [0x61...0x7A]
        case "print": ranges = [0x20...0x7E]
        case "punct": ranges = [0x21...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0x7E]
        case "space": ranges = [0x09...0x0D, 0x20...0x20]
        case "upper": ranges = [0x41...0x5A]
        case "word": return words
        case "xdigit": ranges = [0x30...0x39, 0x41...0x46, 0x61...0x66]
        default: return nil
        }
        return ScalarSet(ranges: ranges)
    }

    private static let categories: Set<String> = [
        "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "Pc",
        "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl", "Zp", "C",
        "Cc", "Cf", "Cs", "Co",
    ]

    /// The blocks that contain most letters of a script. Other scripts are rejected.
    private static let scripts: [String: [ClosedRange<UInt32>]] = [
        "Latin": [
            0x41...0x5A, 0x61...0x7A, 0xAA...0xAA, 0xBA...0xBA, 0xC0...0xD6, 0xD8...0xF6,
            0xF8...0x2B8, 0x1E00...0x1EFF, 0x2C60...0x2C7F, 0xA722...0xA787, 0xFF21...0xFF3A,
            0xFF41...0xFF5A,
        ],
        "Greek": [
            0x370...0x373, 0x375...0x377, 0x37A...0x37D, 0x384...0x384, 0x386...0x386,
            0x388...0x3E1, 0x3F0...0x3FF, 0x1F00...0x1FFE,
        ],
        "Cyrillic": [
            0x400...0x484, 0x487...0x52F, 0x1C80...0x1C88, 0x2DE0...0x2DFF, 0xA640...0xA69F,
        ],
        "Armenian": [0x531...0x556, 0x559...0x58A, 0x58D...0x58F],
        "Hebrew": [0x591...0x5F4, 0xFB1D...0xFB4F],
        "Arabic": [
            0x600...0x604, 0x606...0x6FF, 0x750...0x77F, 0x8A0...0x8FF, 0xFB50...0xFDFF,
            0xFE70...0xFEFC,
        ],
        "Devanagari": [0x900...0x950, 0x955...0x963, 0x966...0x97F, 0xA8E0...0xA8FF],
        "Thai": [0xE01...0xE3A, 0xE40...0xE5B],
        "Hangul": [0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97C, 0xAC00...0xD7A3],
        "Hiragana": [0x3041...0x3096, 0x309D...0x309F],
        "Katakana": [0x30A1...0x30FA, 0x30FD...0x30FF, 0x31F0...0x31FF, 0xFF66...0xFF9D],
        "Han": [
            0x2E80...0x2FD5, 0x3005...0x3005, 0x3007...0x3007, 0x3021...0x3029, 0x3400...0x4DBF,
            0x4E00...0x9FFF, 0xF900...0xFAD9, 0x20000...0x323AF,
        ],
    ]

    /// Returns the set of `\p{name}`.
    static func unicode(_ name: String) -> ScalarSet? {
        if name == "Any" { return ScalarSet(ranges: [0...0x10FFFF]) }
        if categories.contains(name) { return ScalarSet(categories: [name]) }
        return scripts[name].map { ScalarSet(ranges: $0) }
    }
}
