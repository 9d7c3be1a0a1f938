import Foundation

/// Notes which suites did not run for want of something that is not in the repository. `make test` says
/// so at its end.
package enum TestsNotRun {
    /// Appends a line to `.build/tests-not-run`.
    ///
    /// - Parameters:
    ///   - suite: Its name.
    ///   - missing: What it needs, as in `../shared/conformance`.
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
        // Suites of several targets append at once: the system appends a short line whole.
        let descriptor = open(list, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else { return }
        line.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
