/// Parses a pattern: https://github.com/google/re2/wiki/Syntax.
struct PatternParser {
    private var rest: Substring.UnicodeScalarView
    /// The number of capturing groups so far.
    private(set) var groups = 0
    private var flags = Flags()
    private var depth = 0

    private struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotIsAll = false
        var isUngreedy = false
    }

    /// The limit of RE2.
    private static let mostRepeats = 1_000
    private static let mostLevels = 100

    init(_ text: String) { rest = text[...].unicodeScalars }

    mutating func parse() throws(InvalidPattern) -> PatternTree {
        let tree = try choice()
        if rest.first == ")" { throw InvalidPattern(message: "unexpected )") }
        return tree
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard rest.first == scalar else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard rest.starts(with: word.unicodeScalars) else { return false }
        rest.removeFirst(word.unicodeScalars.count)
        return true
    }

    private mutating func next() throws(InvalidPattern) -> Unicode.Scalar {
        guard let scalar = rest.popFirst() else {
            throw InvalidPattern(message: "unexpected end")
        }
        return scalar
    }

    private mutating func choice() throws(InvalidPattern) -> PatternTree {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.mostLevels { throw InvalidPattern(message: "nested too deep") }
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(InvalidPattern) -> PatternTree {
        var parts: [PatternTree] = []
        while let scalar = rest.first, scalar != "|", scalar != ")" {
            if take(word: "\\Q") {
                parts += quoted()
            } else if let part = try repeated() {
                if case .nothing = part { continue }
                parts.append(part)
            }
        }
        return parts.count == 1 ? parts[0] : (parts.isEmpty ? .nothing : .sequence(parts))
    }

    private mutating func quoted() -> [PatternTree] {
        var parts: [PatternTree] = []
        while !rest.isEmpty, !take(word: "\\E") {
            parts.append(.set(.one(rest.removeFirst(), ignoresCase: flags.ignoresCase)))
        }
        return parts
    }

    private mutating func repeated() throws(InvalidPattern) -> PatternTree? {
        guard let operand = try atom() else { return nil }
        guard let (least, most) = try count() else { return operand }
        var isGreedy = !flags.isUngreedy
        if take("?") { isGreedy.toggle() }
        if try count() != nil { throw InvalidPattern(message: "bad repetition operator") }
        if case .nothing = operand { return operand }
        return .repetition(operand, least: least, most: most, isGreedy: isGreedy)
    }

    /// Parses a repetition; nil if there is none.
    private mutating func count() throws(InvalidPattern) -> (Int, Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard rest.first == "{" else { return nil }
        var copy = self
        copy.rest.removeFirst()
        guard let least = copy.decimal() else { return nil }
        var most: Int? = least
        if copy.take(",") { most = copy.decimal() }
        // Other braces are literal characters.
        guard copy.take("}") else { return nil }
        self = copy
        if least > Self.mostRepeats || most ?? 0 > Self.mostRepeats || most ?? least < least {
            throw InvalidPattern(message: "bad repetition count")
        }
        return (least, most)
    }

    private mutating func decimal() -> Int? {
        var number: Int?
        while let digit = rest.first?.decimal {
            number = min((number ?? 0) * 10 + digit, 1_000_000)
            rest.removeFirst()
        }
        return number
    }

    /// Returns nil for syntax that matches nothing itself, such as `(?i)`.
    private mutating func atom() throws(InvalidPattern) -> PatternTree? {
        let scalar = try next()
        switch scalar {
        case "(": return try group()
        case "[": return .set(try brackets())
        case ".":
            return .set(
                flags.dotIsAll
                    ? ScalarSet(ranges: [0...0x10FFFF])
                    : ScalarSet(isNegated: true, ranges: [10...10]))
        case "^": return .boundary(flags.isMultiline ? .lineStart : .textStart)
        case "$": return .boundary(flags.isMultiline ? .lineEnd : .textEnd)
        case "*", "+", "?": throw InvalidPattern(message: "no argument for repetition operator")
        case "\\": return try escape()
        default: return .set(.one(scalar, ignoresCase: flags.ignoresCase))
        }
    }

    private mutating func group() throws(InvalidPattern) -> PatternTree? {
        let outer = flags
        guard take("?") else { return try captured(outer) }
        if take(word: "P<") || take("<") {
            if rest.first == "=" || rest.first == "!" {
                throw InvalidPattern(message: "look-behind is not supported")
            }
            var name = ""
            while let scalar = rest.first, scalar.isWordCharacter {
                name.unicodeScalars.append(rest.removeFirst())
            }
            guard !name.isEmpty, take(">") else { throw InvalidPattern(message: "bad group name") }
            return try captured(outer)
        }
        try readFlags()
        if take(")") { return nil }
        guard take(":") else { throw InvalidPattern(message: "bad group") }
        let tree = try choice()
        flags = outer
        guard take(")") else { throw InvalidPattern(message: "missing )") }
        return tree
    }

    private mutating func captured(_ outer: Flags) throws(InvalidPattern) -> PatternTree {
        groups += 1
        let number = groups
        let tree = try choice()
        flags = outer
        guard take(")") else { throw InvalidPattern(message: "missing )") }
        return .group(tree, number: number)
    }

    private mutating func readFlags() throws(InvalidPattern) {
        var value = true
        while let scalar = rest.first, scalar != ")", scalar != ":" {
            rest.removeFirst()
            switch scalar {
            case "i": flags.ignoresCase = value
            case "m": flags.isMultiline = value
            case "s": flags.dotIsAll = value
            case "U": flags.isUngreedy = value
            case "-" where value: value = false
            default: throw InvalidPattern(message: "bad group, or look-around")
            }
        }
    }

    private mutating func escape() throws(InvalidPattern) -> PatternTree {
        if let set = try escapedSet() { return .set(set) }
        switch rest.first {
        case "A": rest.removeFirst(); return .boundary(.textStart)
        case "z": rest.removeFirst(); return .boundary(.textEnd)
        case "b": rest.removeFirst(); return .boundary(.word)
        case "B": rest.removeFirst(); return .boundary(.noWord)
        case "C": rest.removeFirst(); return .set(ScalarSet(ranges: [0...0x10FFFF]))
        default: return .set(.one(try escaped(), ignoresCase: flags.ignoresCase))
        }
    }

    /// Parses a class such as `\d` or `\p{L}`, after its backslash.
    private mutating func escapedSet() throws(InvalidPattern) -> ScalarSet? {
        guard let letter = rest.first else { return nil }
        if let set = NamedSets.perl(letter) {
            rest.removeFirst()
            return set
        }
        guard letter == "p" || letter == "P" else { return nil }
        rest.removeFirst()
        var name = ""
        if take("{") {
            while let scalar = rest.first, scalar != "}" {
                name.unicodeScalars.append(rest.removeFirst())
            }
            guard take("}") else { throw InvalidPattern(message: "missing }") }
        } else {
            name.unicodeScalars.append(try next())
        }
        var isNegated = letter == "P"
        if name.hasPrefix("^") {
            isNegated.toggle()
            name.removeFirst()
        }
        guard var set = NamedSets.unicode(name) else {
            throw InvalidPattern(message: "unknown character class \(name)")
        }
        set.isNegated = isNegated
        return set
    }

    /// Parses a character after a backslash.
    private mutating func escaped() throws(InvalidPattern) -> Unicode.Scalar {
        let scalar = try next()
        switch scalar {
        case "a": return "\u{07}"
        case "f": return "\u{0C}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "v": return "\u{0B}"
        case "x": return try hexadecimal()
        case "0"..."7": return try octal(scalar)
        default:
            if scalar.value < 0x80, scalar.isWordCharacter {
                throw InvalidPattern(message: "bad escape \\\(scalar)")
            }
            return scalar
        }
    }

    /// Parses `\0`, `\012` or `\123`. A single digit except zero would be a back-reference.
    private mutating func octal(_ first: Unicode.Scalar) throws(InvalidPattern) -> Unicode.Scalar {
        var value = first.value - 0x30
        var digits = 1
        while digits < 3, let digit = rest.first, ("0"..."7").contains(digit) {
            value = value * 8 + (digit.value - 0x30)
            digits += 1
            rest.removeFirst()
        }
        if first != "0", digits == 1 {
            throw InvalidPattern(message: "back-references are not supported")
        }
        return Unicode.Scalar(value) ?? "\0"
    }

    private mutating func hexadecimal() throws(InvalidPattern) -> Unicode.Scalar {
        var digits = ""
        if take("{") {
            while let scalar = rest.first, scalar != "}", digits.unicodeScalars.count < 8 {
                digits.unicodeScalars.append(rest.removeFirst())
            }
            guard take("}") else { throw InvalidPattern(message: "bad escape \\x") }
        } else {
            for _ in 0..<2 { digits.unicodeScalars.append(try next()) }
        }
        guard let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value) else {
            throw InvalidPattern(message: "bad escape \\x")
        }
        return scalar
    }

    /// Parses the contents of brackets, after the opening bracket.
    private mutating func brackets() throws(InvalidPattern) -> ScalarSet {
        var set = ScalarSet(ignoresCase: flags.ignoresCase)
        set.isNegated = take("^")
        var isFirst = true
        while isFirst || rest.first != "]" {
            isFirst = false
            if let named = try namedInBrackets() {
                set.members.append(named)
                continue
            }
            let low = try bracketScalar()
            guard rest.first == "-", let second = rest.dropFirst().first, second != "]" else {
                set.ranges.append(low.value...low.value)
                continue
            }
            rest.removeFirst()
            let high = try bracketScalar()
            guard low <= high else { throw InvalidPattern(message: "bad range") }
            set.ranges.append(low.value...high.value)
        }
        rest.removeFirst()
        return set.prepared
    }

    private mutating func namedInBrackets() throws(InvalidPattern) -> ScalarSet? {
        if rest.starts(with: "[:".unicodeScalars) {
            guard let end = rest.dropFirst(2).firstIndex(of: ":"),
                rest[rest.index(after: end)...].first == "]"
            else { return nil }
            rest.removeFirst(2)
            let isNegated = take("^")
            var name = ""
            while !take(word: ":]") { name.unicodeScalars.append(try next()) }
            guard var set = NamedSets.posix(name) else {
                throw InvalidPattern(message: "unknown character class [:\(name):]")
            }
            set.isNegated = isNegated
            return set
        }
        guard rest.first == "\\" else { return nil }
        var copy = self
        copy.rest.removeFirst()
        guard let set = try copy.escapedSet() else { return nil }
        self = copy
        return set
    }

    private mutating func bracketScalar() throws(InvalidPattern) -> Unicode.Scalar {
        guard rest.first != nil else { throw InvalidPattern(message: "missing ]") }
        return take("\\") ? try escaped() : try next()
    }
}
