/// A regular expression in RE2's syntax.
///
/// Matching takes time proportional to the text and to the pattern, for any text and pattern: it
/// follows all states of an automaton in parallel and never backtracks.
public struct Pattern: Sendable {
    let program: PatternProgram

    /// - Throws: ``InvalidPattern`` if RE2 does not support the pattern, for example look-around
    ///   and back-references, or if the pattern is too large.
    public init(_ text: String) throws(InvalidPattern) {
        var parser = PatternParser(text)
        let tree = try parser.parse()
        program = try PatternProgram(tree, groups: parser.groups)
    }

    /// Matches the whole text.
    ///
    /// - Parameter steps: The number of remaining steps. The call decreases it.
    /// - Returns: True if the pattern matches; nil if the steps did not suffice.
    public func matchesWhole(_ text: String, steps: inout Int) -> Bool? {
        var machine = PatternMachine(program, Array(text.unicodeScalars), keepsGroups: false)
        let match = machine.match(from: 0, isWhole: true, steps: &steps)
        return steps < 0 ? nil : match != nil
    }

    /// Replaces each match in the text. In the replacement, `$0` is the match and `$1` the first
    /// group.
    ///
    /// - Returns: The text; nil if the steps did not suffice.
    public func replacing(in text: String, with replacement: String, steps: inout Int) -> String? {
        let scalars = Array(text.unicodeScalars)
        let parts = Self.parts(of: replacement)
        var result = String.UnicodeScalarView()
        var end = 0
        let isDone = forEachMatch(in: scalars, steps: &steps) { groups, steps in
            result.append(contentsOf: scalars[end..<groups[0]])
            for part in parts {
                switch part {
                case .text(let text): result.append(contentsOf: text)
                case .group(let number):
                    guard number * 2 + 1 < groups.count, groups[number * 2] >= 0 else { continue }
                    let range = groups[number * 2]..<groups[number * 2 + 1]
                    result.append(contentsOf: scalars[range])
                    steps -= range.count
                }
            }
            steps -= replacement.utf8.count
            end = groups[1]
        }
        guard isDone else { return nil }
        result.append(contentsOf: scalars[end...])
        return String(result)
    }

    /// Returns the parts between the matches, without empty parts at the end.
    ///
    /// - Returns: The parts; nil if the steps did not suffice.
    public func splitting(_ text: String, steps: inout Int) -> [String]? {
        let scalars = Array(text.unicodeScalars)
        func part(_ range: Range<Int>) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[range])
            return String(view)
        }
        var result: [String] = []
        var end = 0
        let isDone = forEachMatch(in: scalars, steps: &steps) { groups, _ in
            // An empty match at the start makes no empty part before it.
            if groups[1] == 0 { return }
            if groups[0] == groups[1], groups[0] == scalars.count { return }
            result.append(part(end..<groups[0]))
            end = groups[1]
        }
        guard isDone else { return nil }
        result.append(part(end..<scalars.count))
        while result.count > 1, result.last == "" { result.removeLast() }
        return result
    }

    func forEachMatch(
        in scalars: [Unicode.Scalar], most: Int = .max, steps: inout Int,
        _ body: ([Int], inout Int) -> Void
    ) -> Bool {
        var machine = PatternMachine(program, scalars, keepsGroups: true)
        var start = 0
        var count = 0
        while start <= scalars.count, count < most {
            guard let groups = machine.match(from: start, isWhole: false, steps: &steps) else {
                return steps >= 0
            }
            count += 1
            body(groups, &steps)
            start = groups[1] > groups[0] ? groups[1] : groups[1] + 1
        }
        return steps >= 0
    }

    private enum Part {
        case text(String.UnicodeScalarView)
        case group(Int)
    }

    private static func parts(of replacement: String) -> [Part] {
        var parts: [Part] = []
        var text = String.UnicodeScalarView()
        var rest = replacement.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            if scalar == "$", let digit = rest.first?.decimal {
                rest.removeFirst()
                parts += [.text(text), .group(digit)]
                text = String.UnicodeScalarView()
            } else if scalar == "\\", let next = rest.popFirst() {
                text.append(next)
            } else {
                text.append(scalar)
            }
        }
        return parts + [.text(text)]
    }
}

/// The reason why a text is not a valid pattern.
public struct InvalidPattern: Error, Hashable, Sendable {
    public let message: String
}

extension Unicode.Scalar {
    var decimal: Int? {
        (0x30...0x39).contains(value) ? Int(value) - 0x30 : nil
    }
}
