import Testing

@testable import TidemarkPatterns

struct `A pattern` {
    private func matches(_ pattern: String, _ text: String) throws -> Bool? {
        var steps = 1_000_000
        return try Pattern(pattern).matchesWhole(text, steps: &steps)
    }

    @Test(arguments: [
        "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", "(a)\\1", "a**", "a++", "*a", "(", ")", "[", "[b-a]",
        "a{2,1}", "a{1001}", "\\p{Nonsense}", "[[:nope:]]", "(?z)a", "\\", "\\y", "\\x{110000}",
        "((a{1000}){1000})", "(?P<>a)",
    ])
    func `is refused where RE2 refuses it`(pattern: String) {
        #expect(throws: InvalidPattern.self) { try Pattern(pattern) }
    }

    @Test(arguments: [
        ("a{,2}", "a{,2}"), ("a{x}", "a{x}"), ("(?i:a)b", "Ab"), ("(?i)a(?-i)b", "Ab"),
        ("[a\\]b]+", "]ab"), ("[^\\d\\s]+", "ab"), ("[[:^digit:]]", "x"), ("\\PL", "1"),
        ("\\p{Greek}+", "αβγ"), ("\\p{^Lu}", "a"), ("\\x{1F469}", "👩"), ("a|b|", ""),
        ("(?m)^a$\n^b$", "a\nb"), ("\\Aab\\z", "ab"), ("a\\Bb", "ab"), ("(?U)a+", "aaa"),
        ("[-a]+", "a-"), ("[a-]+", "a-"), ("\\07", "\u{07}"), ("(?:(?:))*", ""), ("(a*)*", "aaa"),
        ("(|a)+", "aa"), ("[\\w.]+@[\\w.]+", "a.b@c.d"), ("\\Q.*", ".*"), ("(?s).+", "a\nb"),
    ])
    func `matches as RE2 does`(pattern: String, text: String) throws {
        #expect(try matches(pattern, text) == true)
    }

    @Test(arguments: [
        ("a", "A"), ("[^a]", "a"), ("\\d", "٣"), ("\\w", "é"), ("^a$", "a\n"), (".", "\n"),
        ("a{3}", "aa"), ("(?i:a)b", "AB"), ("\\bab", "xab"), ("[[:lower:]]", "A"), ("", "a"),
    ])
    func `does not match what RE2 does not`(pattern: String, text: String) throws {
        #expect(try matches(pattern, text) == false)
    }

    @Test func `replaces the leftmost matches, preferring as it is written`() throws {
        func replace(_ pattern: String, _ text: String, _ replacement: String) throws -> String? {
            var steps = 10_000
            return try Pattern(pattern).replacing(in: text, with: replacement, steps: &steps)
        }
        #expect(try replace("a|ab", "abab", "x") == "xbxb")
        #expect(try replace("ab|a", "abab", "x") == "xx")
        #expect(try replace("a+?", "aaa", "x") == "xxx")
        #expect(try replace("(a)(b)?", "ac", "[$1$2]") == "[a]c")
        #expect(try replace("", "ab", "-") == "-a-b-")
        #expect(try replace("b", "abc", "\\$1") == "a$1c")
    }

    @Test func `takes time in proportion to text and pattern`() throws {
        var steps = 10_000_000
        let text = String(repeating: "a", count: 20_000)
        #expect(try Pattern("(a*)*(a*)*b").matchesWhole(text, steps: &steps) == false)
        #expect(steps > 9_000_000, "\(steps)")
        var few = 1_000
        #expect(try Pattern("a*b").matchesWhole(text, steps: &few) == nil)
    }

    /// A class of a hundred thousand ranges once took 40 s to read, and a look into one no steps.
    @Test func `reads and searches large classes in proportion`() throws {
        var even = "["
        for value in stride(from: UInt32(0x4E00), to: 0x9F00, by: 2) {
            even.unicodeScalars.append(Unicode.Scalar(value)!)
        }
        even += "]"
        var steps = 1_000
        #expect(try Pattern(even).matchesWhole("\u{4E02}", steps: &steps) == true)
        #expect(try Pattern(even).matchesWhole("\u{4E03}", steps: &steps) == false)
        let many = "[" + String(repeating: "a-fc-hx", count: 100_000) + "]+"
        #expect(try Pattern(many).matchesWhole("abchx", steps: &steps) == true)
        #expect(try Pattern(many).matchesWhole("abchi", steps: &steps) == false)
        #expect(steps > 900)
        let named = "[^" + String(repeating: "[:digit:]\\pL", count: 1_000) + "]"
        #expect(try Pattern(named).matchesWhole("-", steps: &steps) == nil, "too few steps")
        steps = 10_000
        #expect(try Pattern(named).matchesWhole("-", steps: &steps) == true)
        #expect(steps < 8_000)
    }

    @Test func `ranges of a class may touch, contain each other and be in any order`() throws {
        var steps = 10_000
        let pattern = try Pattern("[x-za-cb-dd-f0m-]")
        for letter in "abcdefxyz0m-" {
            #expect(pattern.matchesWhole("\(letter)", steps: &steps) == true, "\(letter)")
        }
        for letter in "ghlnw19" {
            #expect(pattern.matchesWhole("\(letter)", steps: &steps) == false, "\(letter)")
        }
    }

    private func found(_ pattern: String, _ text: String, most: Int = .max) throws -> [String]? {
        var steps = 1_000_000
        return try Pattern(pattern).matches(in: text, most: most, steps: &steps)
    }

    @Test func `finds matches from left to right, or their first group`() throws {
        #expect(try found("[0-9]+", "a1b22c333") == ["1", "22", "333"])
        #expect(try found("[0-9]+", "a1b22c333", most: 2) == ["1", "22"])
        #expect(try found("([a-z])=", "a=1,b=2") == ["a", "b"])
        #expect(try found("x", "abc") == [])
        #expect(try found("(x)?a", "a") == [""])
    }

    @Test func `searches a text within its steps`() throws {
        var steps = 1_000_000
        #expect(try Pattern("l+").contained(in: "hello", steps: &steps) == true)
        #expect(try Pattern("x").contained(in: "hello", steps: &steps) == false)
        let text = String(repeating: "a", count: 1_000)
        for _ in 0..<2 {
            steps = 10
            #expect(try Pattern("(a?){50}b").contained(in: text, steps: &steps) == nil)
            #expect(try Pattern("(a?){50}b").matches(in: text, most: 9, steps: &steps) == nil)
        }
        #expect(try Pattern("(a)(b)").groupCount == 2)
    }
}
