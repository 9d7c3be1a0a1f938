import Testing
import TestSupport

/// Limits the size of a type, and the number of its files. State has one owner, and the code that
/// may change the state should fit on a screen.
///
/// - A type is counted per target, over the files that declare or extend the type there.
/// - A type that is private to a file differs from a type of the same name in another file.
/// - An extension of a type of another target (`extension String`) or of a protocol shares no
///   state. Its file counts if other files can use the added members, and not if all of them are
///   private.
/// - Stored properties are the variables and constants of a value, in both branches of an `#if`.
///   Static and computed properties do not count.
struct TypeShapeRules {
    static let maxFiles = 4
    static let maxStoredProperties = 20

    /// Types that exceed the limit, with the number of their files. An entry may be removed, and
    /// its number may decrease. No entry may be added.
    static let spreadTypes: [String: Int] = [:]

    /// Types with more stored properties than the limit, with their number. The same rule applies
    /// to the entries.
    static let largeTypes: [String: Int] = [:]

    private(set) var files: [String: Set<String>] = [:]
    private(set) var storedProperties: [String: Int] = [:]

    init(_ sources: [Repository.File]) {
        var outlines: [(target: String, path: String, parts: [SourceOutline.Part])] = []
        for file in sources {
            guard let target = file.target else { continue }
            let outline = SourceOutline(file.lines.joined(separator: "\n"))
            outlines.append((target, file.path, outline.parts))
        }
        var withState: Set<String> = []
        for (target, _, parts) in outlines {
            for part in parts where part.kind != .extension && part.kind != .protocol {
                withState.insert(target + "." + part.name)
            }
        }
        for (target, path, parts) in outlines {
            let ownNames = Set(
                parts.filter { $0.isPrivate && $0.kind != .extension }.map(\.name))
            for part in parts {
                var name = target + "." + part.name
                let holdsState = withState.contains(name)
                if part.kind == .protocol || !holdsState && !part.hasVisibleMembers { continue }
                if ownNames.contains(part.name) { name += " in " + path }
                files[name, default: []].insert(path)
                storedProperties[name, default: 0] += part.storedProperties
            }
        }
    }

    /// - Parameter known: The counts that may exceed `most` for now.
    static func violations(
        _ counts: [String: Int], most: Int, known: [String: Int], _ unit: String
    ) -> [String] {
        var texts: [String] = []
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) where count > most {
            if let known = known[name], count <= known { continue }
            let was = known[name].map { ", and \($0) before" } ?? ""
            texts.append("\(name): \(count) \(unit), where \(most) are the most\(was)")
        }
        for name in known.keys.sorted() where counts[name] ?? 0 <= most {
            texts.append("\(name): is small enough now, take it out of the list")
        }
        return texts
    }
}

@Suite(.ownThread) struct `Types` {
    private static let rules = TypeShapeRules(
        Repository.swift.filter { $0.path.hasPrefix("Sources/") && !$0.isGenerated })

    private func check(_ texts: [String]) {
        #expect(texts.isEmpty, "\n\(texts.joined(separator: "\n"))")
    }

    @Test func `are where these tests look`() {
        #expect(Self.rules.files["TidemarkServer.ServerCore"]?.isEmpty == false)
        #expect(Self.rules.storedProperties["TidemarkServer.ServerCore"] ?? 0 > 5)
    }

    @Test func `are spread over few files`() {
        check(
            TypeShapeRules.violations(
                Self.rules.files.mapValues(\.count), most: TypeShapeRules.maxFiles,
                known: TypeShapeRules.spreadTypes, "files"))
    }

    @Test func `have few stored properties`() {
        check(
            TypeShapeRules.violations(
                Self.rules.storedProperties, most: TypeShapeRules.maxStoredProperties,
                known: TypeShapeRules.largeTypes, "stored properties"))
    }
}

/// Tests the rules on made-up sources.
struct `The rules of types` {
    private func stored(_ body: String) -> Int {
        SourceOutline("struct A {\n" + body + "\n}").parts[0].storedProperties
    }

    @Test(arguments: [
        "let a: Int", "var a = 1", "private(set) var a: [Int: String] = [:]", "lazy var a = b()",
        "var a: Int = 1 { didSet { b() } }", "var a: Int {\n willSet { b() }\n}",
        "let a: (Int, Int) -> Int", "@State private var a: Dictionary<Int, Int>",
        "var a = { let b = 1; return b }()", "weak var a: B?", "let `class`: Int",
    ])
    func `count a stored property`(line: String) {
        #expect(stored(line) == 1)
    }

    @Test(arguments: [
        "var a: Int { 1 }", "static let a = 1", "static var a: Int = 1", "class var a: Int { 1 }",
        "func a() {\n let b = 1\n var c = 2\n}", "// let a = 1", "/* let a: Int */",
        "var a: Int {\n get { b }\n set { let c = newValue; b = c }\n}",
        "init(a: Int = { let b = 1; return b }()) { let c = 1 }", "struct B { let c: Int }",
        "static let a = \"let b = \\(c { let d = \"{\" })\"",
        "subscript(a: Int) -> Int { let b = 1 }",
        "var a:\n    B\n{ let c = 1; return c }", "case a", "typealias B = Int",
    ])
    func `count nothing else`(line: String) {
        #expect(stored(line) == 0)
    }

    @Test func `count each name, and go on after it`() {
        #expect(stored("let a, b: Int\nvar c = \"}\", d = 1\nvar e: Int { 1 }\nlet f: Int") == 5)
        #expect(stored("func a() { if b { c() } }\nlet d: Int\nvar e = #\"\"}\"#\nlet f = 1") == 3)
    }

    private func file(_ path: String, _ text: String) -> Repository.File {
        Repository.File(path: path, lines: text.split(separator: "\n").map(String.init))
    }

    @Test func `count files by target and by the types around`() {
        let rules = TypeShapeRules([
            file("Sources/T/A.swift", "struct A { struct B {} }\nprivate struct C {}"),
            file("Sources/T/B.swift", "extension A {}\nextension A.B { func b() {} }"),
            file(
                "Sources/T/C.swift",
                "extension A: D where E == F { }\nprivate struct C {}\nextension C {}"),
            file("Sources/U/A.swift", "extension A { func u() {} }"),
        ])
        #expect(rules.files["T.A"]?.count == 3)
        #expect(rules.files["T.A.B"]?.count == 2)
        #expect(rules.files["U.A"]?.count == 1)
        #expect(rules.files["T.C"] == nil, "each is private to its file")
    }

    @Test func `count extensions without state where others see them`() {
        let rules = TypeShapeRules([
            file("Sources/T/A.swift", "extension String { func a() {} }"),
            file("Sources/T/B.swift", "extension String { fileprivate func b() {} }"),
            file("Sources/T/C.swift", "private extension String { var c: Int { 1 } }"),
            file(
                "Sources/T/D.swift",
                "extension String { private var d: Int { 1 }\nvar e: Int { 1 } }"),
            file("Sources/T/E.swift", "extension [String] { func f() {} }"),
            file(
                "Sources/T/F.swift",
                "protocol P { var a: Int { get } }\nextension P { var b: Int { 1 } }"),
        ])
        #expect(rules.files["T.String"]?.sorted() == ["Sources/T/A.swift", "Sources/T/D.swift"])
        #expect(rules.files["T.[String]"]?.count == 1)
        #expect(rules.files["T.P"]?.count == 1)
        #expect(rules.storedProperties["T.P"] == 0)
    }

    @Test func `let the list only shrink`() {
        func violations(_ count: Int, _ known: [String: Int]) -> Int {
            TypeShapeRules.violations(["T.A": count], most: 4, known: known, "files").count
        }
        #expect(violations(4, [:]) == 0)
        #expect(violations(5, [:]) == 1)
        #expect(violations(5, ["T.A": 5]) == 0)
        #expect(violations(6, ["T.A": 5]) == 1, "it became worse")
        #expect(violations(4, ["T.A": 5]) == 1, "the entry is not needed")
        #expect(violations(4, ["T.B": 5]) == 1, "the type is gone")
    }
}
