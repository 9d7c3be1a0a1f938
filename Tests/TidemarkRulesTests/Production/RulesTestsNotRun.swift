import Foundation

/// `TestsNotRun` of TidemarkTesting, for a target that imports the model alone.
enum RulesTestsNotRun {
    static func note(_ suite: String, missing: String, file: String = #filePath) {
        let folder = (0..<4).reduce(URL(fileURLWithPath: file)) { url, _ in
            url.deletingLastPathComponent()
        }
        let list = folder.appendingPathComponent(".build/tests-not-run").path
        let line = Data("\(suite) (no \(missing))\n".utf8)
        let descriptor = open(list, O_WRONLY | O_APPEND | O_CREAT, 0o644)
        guard descriptor >= 0 else { return }
        line.withUnsafeBytes { _ = write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }
}
