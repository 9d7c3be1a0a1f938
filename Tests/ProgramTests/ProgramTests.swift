import Foundation
import Testing
import TestSupport

/// The build of the tests also builds the programs, because this target depends on them. The
/// interop tests and the demos run the programs.
struct `The programs` {
    @Test(arguments: ["tidemark", "tidemark-lab", "tidemark-lint", "Benchmarks"])
    func `are built beside the tests`(name: String) throws {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0])
        let program = tests.deletingLastPathComponent().appendingPathComponent(name)
        #expect(FileManager.default.isExecutableFile(atPath: program.path))
    }
}
