import Foundation

/// The error for a fact that did not become true in time.
public struct NeverTrue: Error, CustomStringConvertible {
    public let description: String
}

/// Waits until a fact is true, and checks it every millisecond.
///
/// A test must use this function to wait for work that an app does in its own tasks. The wait is
/// bounded: a fact that never becomes true fails the test after a minute, and the error names the
/// fact.
///
/// - Parameters:
///   - what: The name of the fact; nil uses the code of the call.
///   - limit: The longest wait, in real time.
///   - isolation: The caller's actor, on which `fact` runs.
///   - fact: Returns true when the fact is true.
/// - Throws: ``NeverTrue`` after `limit`, or if the test is cancelled during the wait, for example
///   by its time limit. An error of `fact` is also thrown.
public func until(
    _ what: String? = nil, within limit: Duration = .seconds(60), fileID: String = #fileID,
    filePath: String = #filePath, line: Int = #line,
    isolation: isolated (any Actor)? = #isolation,
    _ fact: nonisolated(nonsending) () async throws -> Bool
) async throws {
    let began = ContinuousClock.now
    while try await !fact() {
        let waited = ContinuousClock.now - began
        if waited < limit, (try? await Task.sleep(for: .milliseconds(1))) != nil { continue }
        throw NeverTrue(
            description: """
                Waited \(waited.formatted(.units(allowed: [.seconds], fractionalPart: .show(length: 1)))) for: \
                \(what ?? code(at: line, of: filePath)) (\(fileID):\(line))\
                \(Task.isCancelled ? ", until the test was cancelled" : "")
                """)
    }
}

/// Returns the code of a call that begins at a line, without indentation, and at most six lines of
/// it.
private func code(at line: Int, of path: String) -> String {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
        return "what is in this line"
    }
    var code = ""
    for line in text.components(separatedBy: "\n").dropFirst(line - 1).prefix(6) {
        code += (code.isEmpty ? "" : " ") + line.trimmingCharacters(in: .whitespaces)
        let open = code.count { $0 == "{" } - code.count { $0 == "}" }
        if open <= 0 { break }
    }
    return code
}
