public import Foundation

/// A folder of test data next to the repository, or in the folder that a variable names.
///
/// The tests of a corpus run if its folder exists. Otherwise, they do not run, and `make test`
/// reports that at its end. If `TIDEMARK_REQUIRE_SHARED` is 1, as in CI, they always run and then
/// fail without the folder. A test of each corpus compares the number of played cases with the
/// number of existing cases, so an incomplete corpus also fails.
public struct SharedCorpus: Sendable {
    public let folder: URL
    /// True if the tests of the corpus run.
    public let isPlayed: Bool

    private static let repository = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// - Parameters:
    ///   - name: The name of the folder in `../shared`.
    ///   - variable: The environment variable that can name another folder.
    ///   - tests: The name of the tests in the list of tests that did not run.
    public init(_ name: String, variable: String, tests: String) {
        let environment = ProcessInfo.processInfo.environment
        folder =
            environment[variable].map { URL(fileURLWithPath: $0) }
            ?? Self.repository.deletingLastPathComponent().appendingPathComponent("shared/\(name)")
        let isRequired = environment["TIDEMARK_REQUIRE_SHARED"] == "1"
        isPlayed = isRequired || FileManager.default.fileExists(atPath: folder.path)
        if !isPlayed { Self.note("\(tests) (no ../shared/\(name))") }
    }

    /// The test cases that Google's clients share: googleapis/conformance-tests.
    public static func conformance(tests: String) -> SharedCorpus {
        SharedCorpus("conformance", variable: "TIDEMARK_CONFORMANCE", tests: tests)
    }

    /// Appends a line to `.build/tests-not-run`.
    private static func note(_ text: String) {
        let list = repository.appendingPathComponent(".build/tests-not-run").path
        let line = Data("\(text)\n".utf8)
        // Suites of several targets append at the same time. The system appends a short line in one
        // step.
        let descriptor = open(list, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else { return }
        line.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    /// Returns the sorted names of the JSON files.
    ///
    /// - Throws: The error of the file system if the folder does not exist.
    public func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".json") }
    }
}
