/// The syntax tree of a pattern.
indirect enum PatternTree: Sendable {
    case nothing
    case set(ScalarSet)
    case sequence([PatternTree])
    case choice([PatternTree])
    /// A repetition. `most` is nil for no maximum.
    case repetition(PatternTree, least: Int, most: Int?, isGreedy: Bool)
    case group(PatternTree, number: Int)
    case boundary(Boundary)

    enum Boundary: Sendable {
        case textStart, textEnd, lineStart, lineEnd, word, noWord
    }
}

/// A set of characters.
struct ScalarSet: Sendable {
    var isNegated = false
    var ranges: [ClosedRange<UInt32>] = []
    /// Nested sets, such as `\pL`, `\W` or `[:^alpha:]`.
    var members: [ScalarSet] = []
    /// General categories, for example `Lu`. A single letter such as `L` means all categories that
    /// begin with it.
    var categories: [String] = []
    var ignoresCase = false
    /// True if the ranges are in order and apart from each other.
    private var isPrepared = false
    /// The number of steps that a look into the set takes.
    private(set) var steps = 1

    init(
        isNegated: Bool = false, ranges: [ClosedRange<UInt32>] = [], categories: [String] = [],
        ignoresCase: Bool = false
    ) {
        self.isNegated = isNegated
        self.ranges = ranges
        self.categories = categories
        self.ignoresCase = ignoresCase
    }

    /// The same set, with ranges that are found by a binary search. A pattern can have hundreds of
    /// thousands of them.
    var prepared: ScalarSet {
        var set = self
        set.ranges = []
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = set.ranges.last, range.lowerBound <= last.upperBound {
                let end = max(last.upperBound, range.upperBound)
                set.ranges[set.ranges.count - 1] = last.lowerBound...end
            } else {
                set.ranges.append(range)
            }
        }
        set.isPrepared = true
        set.steps = 1 + categories.count + members.reduce(0) { $0 + $1.steps }
        return set
    }

    static func one(_ scalar: Unicode.Scalar, ignoresCase: Bool = false) -> ScalarSet {
        ScalarSet(ranges: [scalar.value...scalar.value], ignoresCase: ignoresCase)
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        var found = has(scalar)
        if !found, ignoresCase {
            found = scalar.otherCases.contains { has($0) }
        }
        return found != isNegated
    }

    private func has(_ scalar: Unicode.Scalar) -> Bool {
        if isInRanges(scalar.value) { return true }
        for member in members where member.contains(scalar) { return true }
        if categories.isEmpty { return false }
        let category = scalar.properties.generalCategory.letters
        return categories.contains { category.hasPrefix($0) }
    }

    private func isInRanges(_ value: UInt32) -> Bool {
        guard isPrepared else { return ranges.contains { $0.contains(value) } }
        var (low, high) = (0, ranges.count)
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(value)
    }
}

extension Unicode.Scalar {
    /// The same letter in the other cases; empty if there is none.
    fileprivate var otherCases: [Unicode.Scalar] {
        if isASCII {
            let letter = value | 0x20
            return (0x61...0x7A).contains(letter) ? [Unicode.Scalar(value ^ 0x20)!] : []
        }
        return [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { text in
            let scalars = text.unicodeScalars
            return scalars.count == 1 && scalars.first != self ? scalars.first : nil
        }
    }

    var isWordCharacter: Bool {
        (0x61...0x7A).contains(value | 0x20) || (0x30...0x39).contains(value) || value == 0x5F
    }
}

extension Unicode.GeneralCategory {
    /// Unicode's abbreviation of the category.
    var letters: String {
        switch self {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }
}
