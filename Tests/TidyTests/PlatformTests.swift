import Foundation
import Testing
import TestSupport

/// Finds code that only some systems compile: `#if` with `canImport` or `os`.
///
/// Either Linux or `Tools/AppleCheck` compiles each branch. The stubs of `Tools/AppleCheck` have
/// Apple's names, and its links list the files that it compiles.
struct PlatformBlocks {
    /// The modules that a Linux build has.
    private static let linux: Set<String> = [
        "Glibc", "CTidemarkJPEG", "CTidemarkPNG", "CTidemarkWebP", "FoundationNetworking",
    ]
    /// The modules that a file on stubs can import besides them.
    private static let ours: Set = ["Glibc", "TidemarkTesting"]
    /// Code that neither compiles: imports of another C library; and Apple's default answer to a
    /// challenge, because the stubs do not replace Foundation.
    private static let elsewhere = [
        "Sources/TidemarkSystem/", "Sources/TidemarkHTTPClient/HTTPExchange.swift",
    ]

    /// The names of the stubs.
    let stubs: Set<String>
    /// The paths of the files that the check compiles.
    let checked: Set<String>

    /// A branch of a block, with the conditions under which the compiler includes it.
    struct Branch {
        let line: Int
        /// The conditions, such as `canImport(ImageIO)`. A condition before `#else` has to be
        /// false.
        var conditions: [(text: String, isTrue: Bool)]
    }

    /// Returns every branch whose conditions depend on the system.
    static func branches(in file: Repository.File) -> [Branch] {
        var found: [Branch] = []
        var open: [[(text: String, isTrue: Bool)]] = []
        func begin(_ line: Int) {
            let conditions = open.flatMap(\.self)
            guard conditions.contains(where: { dependsOnSystem($0.text) }) else { return }
            found.append(Branch(line: line, conditions: conditions))
        }
        for (index, line) in file.lines.enumerated() {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.hasPrefix("#if ") {
                open.append([(String(text.dropFirst(4)), true)])
                begin(index + 1)
            } else if text.hasPrefix("#elseif "), let last = open.popLast() {
                let others = last.map { ($0.text, false) }
                open.append(others + [(String(text.dropFirst(8)), true)])
                begin(index + 1)
            } else if text == "#else", let last = open.popLast() {
                open.append(last.map { ($0.text, false) })
                begin(index + 1)
            } else if text == "#endif" {
                _ = open.popLast()
            }
        }
        return found
    }

    private static func dependsOnSystem(_ condition: String) -> Bool {
        condition.contains("canImport(") || condition.contains("os(")
            || condition.contains("targetEnvironment(")
    }

    /// Returns true if a condition holds on a system with these modules, or nil if the condition
    /// does not depend on the system, such as `DEBUG` or a compiler's version.
    private static func holds(_ condition: String, _ modules: Set<String>) -> Bool? {
        if condition.contains("||") {
            let parts = condition.components(separatedBy: "||").map { holds($0, modules) }
            if parts.contains(true) { return true }
            return parts.contains(nil) ? nil : false
        }
        if condition.contains("&&") {
            let parts = condition.components(separatedBy: "&&").map { holds($0, modules) }
            if parts.contains(false) { return false }
            return parts.contains(nil) ? nil : true
        }
        let term = condition.trimmingCharacters(in: .whitespaces)
        if term.hasPrefix("!") { return holds(String(term.dropFirst()), modules).map { !$0 } }
        if let module = term.wholeMatch(of: #/canImport\((\w+)\)/#) {
            return modules.contains(String(module.1))
        }
        if let system = term.wholeMatch(of: #/os\((\w+)\)/#) { return system.1 == "Linux" }
        return term.contains("targetEnvironment") ? false : nil
    }

    private func isCompiled(_ branch: Branch, _ modules: Set<String>) -> Bool {
        branch.conditions.allSatisfy { condition in
            Self.holds(condition.text, modules).map { $0 == condition.isTrue } ?? true
        }
    }

    func violations(in file: Repository.File) -> [Violation] {
        Self.branches(in: file).compactMap { branch in
            if isCompiled(branch, Self.linux) { return nil }
            if checked.contains(file.path), isCompiled(branch, stubs.union(Self.ours)) {
                return nil
            }
            if Self.elsewhere.contains(where: file.path.hasPrefix) { return nil }
            return Violation(
                file: file.path, line: branch.line,
                text: "neither Linux nor Tools/AppleCheck compiles this")
        }
    }
}

@Suite(.ownThread) struct `Code for other systems` {
    private static let check = "Tools/AppleCheck"

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(
            atPath: Repository.root.appending(path: Self.check + "/" + folder).path)
    }

    /// Returns the blocks for each of the two packages. A package does not see the stubs of the
    /// other package.
    private func blocks() throws -> [PlatformBlocks] {
        let root = Repository.root.path + "/"
        return try ["", "System/"].map { package in
            let links = try names(package + "Checked").filter { $0.hasSuffix(".swift") }.map {
                Repository.root.appending(path: "\(Self.check)/\(package)Checked/\($0)")
                    .resolvingSymlinksInPath().path
            }
            return PlatformBlocks(
                stubs: Set(try names(package + "Stubs").filter { !$0.contains("/") }),
                checked: Set(links.map { String($0.dropFirst(root.count)) }))
        }
    }

    @Test func `is compiled by the check of Apple's code, or on Linux`() throws {
        let blocks = try blocks()
        #expect(blocks[0].stubs.isSuperset(of: ["Security", "Network", "ImageIO", "HealthKit"]))
        #expect(blocks[1].stubs == ["Darwin"])
        let sources = Repository.swift.filter {
            $0.path.hasPrefix("Sources/") && !$0.isGenerated
        }
        // A violation is reported only if neither package compiles the branch.
        let found = sources.flatMap { file in
            let left = blocks.map { $0.violations(in: file) }
            return left[0].filter(left[1].contains)
        }
        #expect(found.isEmpty, "\(found.report)")
        #expect(sources.flatMap(PlatformBlocks.branches).count > 15)
    }

    /// A copy could differ from the file that ships.
    @Test func `is linked and not copied`() throws {
        for path in try blocks().flatMap(\.checked) {
            let isOfTheCheck = path.hasPrefix(Self.check) && path.hasSuffix("OnApple.swift")
            let isOfProject =
                path.hasPrefix("Sources/") || path.hasPrefix("Examples/FirebaseAuth/")
            #expect(isOfProject || isOfTheCheck, "\(path)")
        }
    }

    @Test func `each stub says where its declarations are documented`() throws {
        let stubs = try names("").filter { $0.contains("Stubs/") && $0.hasSuffix(".swift") }
        #expect(stubs.count >= 7)
        for name in stubs {
            let file = Repository.root.appending(path: "\(Self.check)/\(name)")
            let text = try String(contentsOf: file, encoding: .utf8)
            let isDocumented = [
                "https://developer.apple.com/", "https://firebase.google.com/docs/", "man 2 ",
            ].contains { text.contains($0) }
            #expect(isDocumented, "\(name)")
        }
    }

    @Test func `is found where nobody compiles it`() {
        func lines(_ path: String, _ lines: String...) -> [Int] {
            PlatformBlocks(stubs: ["Security"], checked: ["Sources/A/Checked.swift"])
                .violations(in: Repository.File(path: path, lines: lines)).map(\.line)
        }
        let (free, checked) = ("Sources/A/Free.swift", "Sources/A/Checked.swift")
        #expect(lines(free, "#if canImport(Security)", "#endif") == [1])
        #expect(lines(checked, "#if canImport(Security)", "#endif") == [])
        #expect(lines(checked, "#if canImport(UIKit)", "#else", "#endif") == [1])
        #expect(lines(free, "#if os(Linux)", "#else", "#endif") == [2])
        #expect(lines(free, "#if !os(Linux)", "#endif") == [1])
        #expect(lines(free, "#if canImport(Glibc)", "#elseif canImport(Musl)", "#endif") == [2])
        #expect(lines(free, "#if DEBUG", "#else", "#endif") == [])
        #expect(lines(free, "#if DEBUG && os(iOS)", "#endif") == [1])
        #expect(lines(free, "#if os(iOS) || canImport(Glibc)", "#endif") == [])
        #expect(lines(free, "#if canImport(Glibc)", "#if os(iOS)", "#endif", "#endif") == [2])
    }
}
