package import Foundation

/// Folders of test data beside the repository.
package enum SharedFolder {
    /// The test cases that Google's clients share, in `TIDEMARK_CONFORMANCE` or
    /// `../shared/conformance`.
    package static let conformance: URL = {
        if let path = ProcessInfo.processInfo.environment["TIDEMARK_CONFORMANCE"] {
            return URL(fileURLWithPath: path)
        }
        return (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
            url.deletingLastPathComponent()
        }.appendingPathComponent("shared/conformance")
    }()
}
