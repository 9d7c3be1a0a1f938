public import Foundation

/// A folder of test data that lies beside the repository, or where a variable says.
///
/// Tests of it run where it is there. Without it they do not, and `make test` says so at its end; where
/// `TIDEMARK_REQUIRE_SHARED` is 1, as in CI, they run and fail. A test of each corpus compares how many
/// cases it has played with how many there are, so that half a corpus fails as well.
public struct SharedCorpus: Sendable {
    public let folder: URL
    /// True if its tests are to run.
    public let isPlayed: Bool

    private static let repository = (0..<3).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    /// - Parameters:
    ///   - name: The folder in `../shared`.
    ///   - variable: Names the folder instead, where it is set.
    ///   - tests: Names its tests in the line of those that did not run.
    public init(_ name: String, variable: String, tests: String) {
        let environment = ProcessInfo.processInfo.environment
        folder =
            environment[variable].map { URL(fileURLWithPath: $0) }
            ?? Self.repository.deletingLastPathComponent().appendingPathComponent("shared/\(name)")
        let isRequired = environment["TIDEMARK_REQUIRE_SHARED"] == "1"
        isPlayed = isRequired || FileManager.default.fileExists(atPath: folder.path)
        if !isPlayed { Self.note("\(tests) (no ../shared/\(name))") }
    }

    /// The cases that Google's clients share: googleapis/conformance-tests.
    public static func conformance(tests: String) -> SharedCorpus {
        SharedCorpus("conformance", variable: "TIDEMARK_CONFORMANCE", tests: tests)
    }

    /// Appends a line to `.build/tests-not-run`.
    private static func note(_ text: String) {
        let list = repository.appendingPathComponent(".build/tests-not-run").path
        let line = Data("\(text)\n".utf8)
        // Suites of several targets append at once: the system appends a short line whole.
        let descriptor = open(list, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else { return }
        line.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    /// The names of its files of JSON, sorted.
    ///
    /// - Throws: Where the folder is not there.
    public func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
            .filter { $0.hasSuffix(".json") }
    }
}
