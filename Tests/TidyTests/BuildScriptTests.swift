import Foundation
import Testing
import TestSupport

/// Runs `Scripts/build` with a program of the test in place of the compiler.
@Suite(.ownThread, .timeLimit(.minutes(2))) struct `The build script` {
    private static let warning = "Sources/A/b.swift:3:1: warning: 'x' is not used"
    private static let error = "Sources/A/b.swift:4:1: error: no such thing"

    /// - Parameters:
    ///   - status: The exit status of the compiler.
    ///   - pace: The seconds between two lines of progress.
    /// - Returns: The output of the script, and its exit status.
    private func build(_ lines: [String], status: Int32, pace: Int = 600) throws -> ScriptRun {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-build-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let scripts = folder.appendingPathComponent("Scripts")
        try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
        try FileManager.default.copyItem(
            at: Repository.root.appendingPathComponent("Scripts/build"),
            to: scripts.appendingPathComponent("build"))
        let said = lines.map { "echo \"\($0)\"" }.joined(separator: "\n")
        return try ScriptRun(
            scripts.appendingPathComponent("build"),
            compiler: (
                folder.appendingPathComponent("compiler"), "#!/bin/sh\n\(said)\nexit \(status)\n"
            ), variables: ["TIDEMARK_BUILD_PACE": "\(pace)"])
    }

    @Test func `prints one line into a pipe at once, and no more when all is well`() throws {
        let result = try build(["Building for debugging...", "[1/2] Compiling A"], status: 0)
        #expect(result.text == "building\n" && result.status == 0)
    }

    /// The compiler prints nothing for more than two seconds. The script has to print a line each
    /// second.
    @Test func `says how far it is, as often as a line is due`() throws {
        let slow = "[412/968] Compiling A\"; sleep 2.5; echo \"[413/968] Compiling B"
        let result = try build([slow], status: 0, pace: 1)
        let lines = result.text.split(separator: "\n")
        #expect(lines.first == "building" && lines.count >= 2)
        // On a busy machine, the script may print a line before it has read the compiler's output.
        #expect(lines.contains("building, 412 of 968"))
        #expect(lines.allSatisfy { $0 == "building" || $0.hasSuffix(" of 968") })
    }

    @Test func `prints a warning of this package, once, and none of another`() throws {
        let other = "/somewhere/else.swift:1:1: warning: of a dependency"
        let own = "$PWD/" + Self.warning
        let result = try build([own, other, own], status: 0)
        #expect(result.text.components(separatedBy: Self.warning).count == 2)
        #expect(!result.text.contains("dependency") && result.status == 0)
    }

    @Test func `fails as the compiler does, and says why`() throws {
        let result = try build(["[1/2] Compiling A", "$PWD/" + Self.error], status: 1)
        #expect(result.status == 1)
        #expect(result.text.contains(Self.error) && result.text.contains("The build failed."))
    }

    /// SwiftPM passes the package's traits to the compiler in the order of a set. Another order
    /// compiles every target again.
    @Test func `builds with the same order of traits each time`() throws {
        let result = try build(["the seed is $SWIFT_DETERMINISTIC_HASHING."], status: 1)
        #expect(result.text.contains("the seed is 1."))
    }
}
