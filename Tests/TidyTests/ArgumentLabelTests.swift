import Testing

/// Limits the parameters without a label: a call such as `read(statement, 9, true, budget)` says
/// nothing at its place of use.
struct `Argument labels` {
    /// The folders with code that users, readers and developers run, such as
    /// `Sources/TidemarkModel` and `Examples/Chats`. Tests are not limited.
    private static let folders = Set(files.keys).sorted()

    private static let files = Dictionary(
        grouping: Repository.swift.filter { file in
            !file.isGenerated
                && ["Sources/", "Examples/", "Benchmarks/", "Tools/"].contains(
                    where: file.path.hasPrefix)
        }
    ) { $0.path.split(separator: "/").prefix(2).joined(separator: "/") }

    /// The maximum share of functions and initializers with three or more unlabelled parameters.
    private static let maxShare = 0.01

    @Test(arguments: folders) func `are given in every folder`(folder: String) {
        var meter = ArgumentLabelMeter()
        for file in Self.files[folder] ?? [] { meter.add(file) }
        #expect(
            meter.unlabelledShare <= Self.maxShare,
            "\(meter.unlabelled.count) of \(meter.functions): \(meter.unlabelled.report)")
        #expect(meter.bools.isEmpty, "a `Bool` without a label: \(meter.bools.report)")
    }

    @Test func `are counted in all folders`() {
        #expect(Self.folders.count > 50, "\(Self.folders)")
        #expect(Self.folders.contains("Sources/TidemarkModel"))
        #expect(Self.folders.contains("Examples/Chats"))
        #expect(Self.folders.contains("Benchmarks/Server"))
    }

    private func meter(_ lines: String...) -> ArgumentLabelMeter {
        var meter = ArgumentLabelMeter()
        meter.add(Repository.File(path: "Sources/TidemarkX/X.swift", lines: lines))
        return meter
    }

    @Test(arguments: [
        "func read(_ a: A, _ b: B, _ c: C) {}", "    init(_ a: A, _ b: B, _ c: C) {",
        "init?<T>(_ a: [A: B], of b: B, _ c: (A, B) -> C, _ d: D<A, B> = .x)",
        "func read<T: P>(_ a: T, _ b: @escaping (T) -> Void, _ c: inout C)",
        "func read(@Box _ a: A, @Box(1) _ b: B, _ c: C) {}",
        "static func find(_ key: Key<A, B>, _ row: Int, _ end: () -> Void)",
    ])
    func `are missed at three parameters`(line: String) {
        let found = meter("struct X {", line, "}")
        #expect(found.functions == 1)
        #expect(found.unlabelled.map(\.line) == [2])
    }

    @Test(arguments: [
        "func read(_ a: A, _ b: B, c: C) {}", "init(a: A, b: B, c: C, d: D) {}",
        "static func < (_ a: A, _ b: A) -> Bool", "func read(_ a: (A, B, C), of b: B) {}",
        "func write(to a: A, at b: B, _ c: C, _ d: D)",
    ])
    func `suffice with up to two parameters without one`(line: String) {
        let found = meter(line)
        #expect(found.functions == 1)
        #expect(found.unlabelled.isEmpty)
    }

    @Test(arguments: [
        "super.init(a, b, c)", "self.init(a ? b : c, d, e)", "read(_: a, b)",
        "// func read(_ a: A, _ b: B, _ c: C)", "let text = \"init(_ a: A, _ b: B, _ c: C)\"",
        "func end() {}",
    ])
    func `are not sought in calls, comments, strings and empty lists`(line: String) {
        #expect(meter(line).functions == 0)
    }

    @Test func `are needed for a Bool after the first parameter`() {
        let found = meter(
            "func set(_ isOn: Bool) {}", "func set(_ key: Key, isOn: Bool) {}",
            "func set(_ key: Key, _ isOn: Bool) {}", "func set(_ key: Key, _ test: (A) -> Bool) {}",
            "func set(_ key: Key, _ isOn: Bool = true) {}", "init(_ a: A, _ isOn: Bool?) {}")
        #expect(found.functions == 6)
        #expect(found.bools.map(\.line) == [3, 5, 6])
    }

    @Test func `are reported by line after a text of several lines`() {
        let found = meter(
            "let text = \"\"\"", "    a", "    \"\"\"", "/* a", "b */", "func end(", "    _ a: A,",
            "    _ b: B,", "    _ c: C", ") {}")
        #expect(found.unlabelled.map(\.line) == [6])
    }

    @Test func `have a share`() {
        let found = meter("func a(_ a: A, _ b: B, _ c: C)", "func b(_ a: A)", "init(a: A, b: B)")
        #expect(abs(found.unlabelledShare - 1.0 / 3) < 0.001)
        #expect(meter("struct X {}").unlabelledShare == 0)
    }
}

/// Counts functions and initializers with parameters, and lists those with missing labels.
struct ArgumentLabelMeter {
    /// The number of functions and initializers with at least one parameter.
    private(set) var functions = 0
    /// Functions and initializers with three or more unlabelled parameters.
    private(set) var unlabelled: [Violation] = []
    /// Functions and initializers with an unlabelled `Bool` after the first parameter.
    private(set) var bools: [Violation] = []

    var unlabelledShare: Double { Double(unlabelled.count) / Double(max(1, functions)) }

    private struct Parameter {
        var isLabelled: Bool
        var isBool: Bool
    }

    mutating func add(_ file: Repository.File) {
        let tokens = SwiftTokens.of(file.lines.joined(separator: "\n"))
        // The number of lines before the token. The number is too low after strings and comments of
        // several lines.
        var line = 0
        for (index, token) in tokens.enumerated() {
            if token == "\n" { line += 1 }
            guard let open = Self.listStart(of: tokens, at: index),
                let parameters = Self.parameters(tokens, from: open), !parameters.isEmpty
            else { continue }
            functions += 1
            let name = token == "init" ? "init" : "func \(tokens[index + 1])"
            let found = file.lines.dropFirst(line).firstIndex { $0.contains(name) } ?? line
            let violation = Violation(file: file.path, line: found + 1, text: name)
            line = found
            if parameters.count(where: { !$0.isLabelled }) >= 3 { unlabelled.append(violation) }
            if parameters.dropFirst().contains(where: { $0.isBool && !$0.isLabelled }) {
                bools.append(violation)
            }
        }
    }

    /// Returns the index of the parenthesis that opens a declaration's parameters, or nil if no
    /// function or initializer begins at `index`.
    private static func listStart(of tokens: [String], at index: Int) -> Int? {
        let rest = tokens[(index + 1)...]
        switch tokens[index] {
        case "func": return rest.firstIndex(of: "(")
        case "init":
            if index > 0, tokens[index - 1] == "." { return nil }
            guard let open = rest.firstIndex(of: "(") else { return nil }
            let between = rest[..<open].drop { ["?", "!"].contains($0) }
            return between.isEmpty || between.first == "<" && between.last == ">" ? open : nil
        default: return nil
        }
    }

    /// Returns the parameters of a declaration, or nil if the list is that of a call.
    private static func parameters(_ tokens: [String], from open: Int) -> [Parameter]? {
        var parts: [[String]] = [[]]
        var depth = 0
        for index in open..<tokens.count {
            let token = tokens[index]
            switch token {
            case "(", "[", "{", "<": depth += 1
            case ")", "]", "}": depth -= 1
            case ">" where tokens[index - 1] != "-": depth -= 1
            default: break
            }
            if depth == 0 { break }
            if token == ",", depth == 1 {
                parts.append([])
            } else if token != "\n", index > open {
                parts[parts.count - 1].append(token)
            }
        }
        if parts.last?.isEmpty == true { parts.removeLast() }
        let found = parts.compactMap(parameter)
        return found.count == parts.count ? found : nil
    }

    private static func parameter(_ tokens: [String]) -> Parameter? {
        var rest = tokens[...]
        while rest.first == "@" {
            rest = rest.dropFirst(2)
            if rest.first == "(", let close = rest.firstIndex(of: ")") {
                rest = rest[(close + 1)...]
            }
        }
        guard let label = rest.first, let colon = rest.firstIndex(of: ":"),
            (1...2).contains(colon - rest.startIndex)
        else { return nil }
        return Parameter(
            isLabelled: label != "_", isBool: rest[colon...].dropFirst().first == "Bool")
    }
}
