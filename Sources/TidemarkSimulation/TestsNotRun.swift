import Foundation

/// Records the suites that did not run because something outside the repository was missing.
/// `make test` lists them at its end.
package enum TestsNotRun {
    /// Appends a line to `.build/tests-not-run`.
    ///
    /// - Parameters:
    ///   - suite: The name of the suite.
    ///   - missing: The missing resource, for example `../shared/conformance`.
    ///   - file: A file of the repository.
    package static func note(_ suite: String, missing: String, file: String = #filePath) {
        var folder = URL(fileURLWithPath: file)
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            let manifest = folder.appendingPathComponent("Package.swift").path
            if FileManager.default.fileExists(atPath: manifest) { break }
        }
        let list = folder.appendingPathComponent(".build/tests-not-run").path
        let line = Data("\(suite) (no \(missing))\n".utf8)
        // Suites of several targets append concurrently; the system appends a short line as a
        // whole.
        let descriptor = open(list, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else { return }
        line.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
