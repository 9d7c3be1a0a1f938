import Foundation
import Testing
import TestSupport

@Suite(.ownThread) struct `The repository` {
    private func check(
        _ files: [Repository.File], _ violations: (Repository.File) -> [Violation]
    ) {
        let found = files.flatMap(violations)
        #expect(found.isEmpty, "\(found.report)")
    }

    private let written = Repository.files.filter { !$0.isGenerated && !$0.isTidy }
    private let code = Repository.swift.filter { !$0.isGenerated && !$0.isTidy }
    private let tests = Repository.swift.filter { $0.path.hasPrefix("Tests/") && !$0.isTidy }

    @Test func `is where these tests look`() {
        #expect(Repository.swift.count > 50, "found \(Repository.swift.count) files")
        #expect(code.contains { $0.path == "Sources/TidemarkModel/Values/Value.swift" })
        #expect(Repository.files.contains { $0.path == "Package.swift" })
        #expect(!tests.isEmpty)
    }

    @Test func `imports only what the architecture allows`() {
        check(Repository.swift, ImportRules.violations)
    }

    @Test func `has no file that is too long`() {
        check(Repository.swift.filter { !$0.isGenerated }) { file in
            if file.lines.count <= Rules.maxLines + 1 { return [] }
            return [
                Violation(
                    file: file.path, line: Rules.maxLines,
                    text: "has \(file.lines.count) lines; split it, the limit is \(Rules.maxLines)")
            ]
        }
    }

    /// Finds the image of a crashed process, for example.
    @Test func `has no large file at its root`() throws {
        let found = try FileManager.default.contentsOfDirectory(
            at: Repository.root, includingPropertiesForKeys: [.isRegularFileKey, .fileSizeKey])
        for file in found {
            let values = try file.resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
            guard values.isRegularFile == true, let size = values.fileSize else { continue }
            #expect(size < 1 << 20, "\(file.lastPathComponent)")
        }
    }

    @Test func `names nothing Manager, Helper or Utils`() {
        check(code, Rules.vagueNames.violations)
        check(code) { file in
            Rules.vagueFile.violations(in: Repository.File(path: file.path, lines: [file.name]))
        }
    }

    @Test func `has no type named Tidemark`() {
        check(code, Rules.typeOfTheModulesName.violations)
    }

    @Test func `does not sleep in tests`() {
        check(tests, Rules.sleeping)
    }

    @Test func `ends every test in time`() {
        check(tests, Rules.longLimits)
    }

    @Test func `marks suites only for their traits`() {
        check(tests, Rules.bareSuite.violations)
    }

    @Test func `has nothing unfinished`() {
        check(written, Rules.unfinished.violations)
    }

    @Test func `knows no machine`() {
        check(written, Rules.machinePaths.violations)
    }

    @Test func `explains what the compiler cannot check`() {
        check(code, Rules.unexplainedUnsafety)
    }

    @Test func `has a wire contract of its own`() {
        check(
            Repository.files.filter { $0.path.hasPrefix("Proto/") || $0.isGenerated },
            Rules.googlesProto.violations)
    }

    @Test func `has no two paths that only case tells apart`() {
        let groups = Dictionary(grouping: Repository.files.map(\.path)) { $0.lowercased() }
        let clashes = groups.values.filter { $0.count > 1 }
        #expect(clashes.isEmpty, "a disk that ignores case holds one of: \(clashes)")
    }
}

/// Tests each rule on lines that break it and lines that do not. A rule that never fails proves
/// nothing.
struct `The rules` {
    private func file(_ lines: String..., path: String = "Sources/TidemarkServer/X.swift")
        -> Repository.File
    {
        Repository.File(path: path, lines: lines)
    }

    @Test func `see imports in every form`() {
        #expect(ImportRules.module(imported: "import GRDB") == "GRDB")
        #expect(ImportRules.module(imported: "    import Glibc") == "Glibc")
        #expect(ImportRules.module(imported: "@_exported public import A") == "A")
        #expect(ImportRules.module(imported: "@testable import A") == "A")
        #expect(ImportRules.module(imported: "package import struct A.B") == "A")
        #expect(ImportRules.module(imported: "// import A") == nil)
        #expect(ImportRules.module(imported: "let text = import A") == nil)
        #expect(ImportRules.module(imported: "important A") == nil)
    }

    @Test func `refuse imports that are not in the table`() {
        #expect(ImportRules.violations(in: file("import TidemarkStore", "import Foundation")) == [])
        let wrong = ImportRules.violations(in: file("", "public import TidemarkSync"))
        #expect(wrong.map(\.line) == [2])
        let model = file("import Foundation", path: "Sources/TidemarkModel/X.swift")
        #expect(ImportRules.violations(in: model).count == 1)
        let unknown = file("", path: "Sources/TidemarkNew/X.swift")
        #expect(ImportRules.violations(in: unknown).count == 1)
    }

    @Test func `refuse vague names`() {
        #expect(Rules.vagueNames.violations(in: file("final class CacheManager {")).count == 1)
        #expect(Rules.vagueNames.violations(in: file("enum StringUtils {")).count == 1)
        #expect(Rules.vagueNames.violations(in: file("FileManager.default")) == [])
        #expect(Rules.vagueFile.violations(in: file("SyncHelper.swift")).count == 1)
        #expect(Rules.vagueFile.violations(in: file("Engine.swift")) == [])
        #expect(Rules.typeOfTheModulesName.violations(in: file("enum Tidemark {")).count == 1)
        #expect(Rules.typeOfTheModulesName.violations(in: file("struct TidemarkError {")) == [])
    }

    @Test func `refuse a suite without a trait`() {
        #expect(Rules.bareSuite.violations(in: file("@Suite struct `A feed` {")).count == 1)
        #expect(Rules.bareSuite.violations(in: file("@Suite @MainActor class A {")).count == 1)
        #expect(Rules.bareSuite.violations(in: file("@Suite(.ownThread) struct A {")) == [])
        #expect(Rules.bareSuite.violations(in: file("struct `A feed` {")) == [])
    }

    @Test(arguments: [
        "try await Task.sleep(for: .seconds(1))", "Thread.sleep(forTimeInterval: 1)", "usleep(10)",
        "    sleep(1)", "try await ContinuousClock().sleep(for: .seconds(1))",
    ])
    func `refuse sleep`(line: String) {
        #expect(Rules.sleeping(in: file(line)).count == 1)
    }

    @Test func `allow virtual time`() {
        #expect(
            Rules.sleeping(in: file("try await clock.sleep(for: .seconds(1))")) == [])
        #expect(Rules.sleeping(in: file("await clock.waitForSleepers(1)")) == [])
        let own = "func sleep(until deadline: Instant, tolerance: Duration?) async throws {"
        #expect(Rules.sleeping(in: file(own)) == [], "a clock of the test's own")
        #expect(Rules.sleeping(in: file("func `does not sleep`() {")) == [])
    }

    @Test func `allow a pause where all tests wait for a fact, and nowhere else`() {
        let pause = "try await Task.sleep(for: .milliseconds(1))"
        let waiting = Repository.File(path: Rules.waiting, lines: [pause])
        #expect(Rules.sleeping(in: waiting) == [])
        #expect(Rules.sleeping(in: file("while !isThere { \(pause) }")).count == 1)
        #expect(Rules.sleeping(in: file("while !isThere {", pause, "}")).count == 1)
    }

    @Test func `ask for the reason of a long limit`() {
        let long = "@Test(.timeLimit(.minutes(20))) func f() {}"
        #expect(Rules.longLimits(in: file("", long)).map(\.line) == [2])
        #expect(Rules.longLimits(in: file("/// A million messages.", long)) == [])
        #expect(Rules.longLimits(in: file("", "@Suite(.timeLimit(.minutes(2)))")) == [])
    }

    @Test func `refuse what is unfinished or of one machine`() {
        #expect(Rules.unfinished.violations(in: file("// TODO: more")).count == 1)
        #expect(Rules.unfinished.violations(in: file("let mastodon = 1")) == [])
        #expect(Rules.machinePaths.violations(in: file("open(\"/home/x/y\")")).count == 1)
        #expect(Rules.machinePaths.violations(in: file("see /" + "work/x")).count == 1)
        #expect(Rules.machinePaths.violations(in: file("rooms/home/x")) == [])
        #expect(Rules.machinePaths.violations(in: file("https://a.b/home/x")) == [])
        #expect(Rules.googlesProto.violations(in: file("// Copyright 2020 Google LLC")).count == 1)
    }

    @Test func `ask for the reason of unsafety`() {
        let bare = "final class A: @unchecked Sendable {"
        #expect(Rules.unexplainedUnsafety(in: file("", bare)).map(\.line) == [2])
        #expect(Rules.unexplainedUnsafety(in: file("// Locked by `lock`.", bare)) == [])
        #expect(Rules.unexplainedUnsafety(in: file(bare + "  // Immutable.")) == [])
        #expect(Rules.unexplainedUnsafety(in: file("nonisolated(unsafe) var x = 0")).count == 1)
    }
}
