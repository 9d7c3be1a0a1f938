import Foundation

/// The repository's own text files, found from where this file lies.
enum Repository {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable {
        /// From the root, as in `Sources/TidemarkModel/Values/Value.swift`.
        let path: String
        let lines: [String]

        var name: String { String(path.split(separator: "/").last!) }
        var isSwift: Bool { path.hasSuffix(".swift") }
        /// Below `Sources` or `Examples`: what an app links, or could.
        var isCode: Bool { path.hasPrefix("Sources/") || path.hasPrefix("Examples/") }
        /// Not written by hand, so not bound by its style.
        var isGenerated: Bool { path.contains("/Generated/") }
        /// These tests hold what they look for.
        var isTidy: Bool { path.hasPrefix("Tests/TidyTests/") }
        /// The target, for a file below `Sources`, `Tests` or `Examples`.
        var target: String? {
            let parts = path.split(separator: "/")
            if parts.first == "Examples", parts.count > 2 {
                return parts[1] == "Kit" ? "ExampleKit" : String(parts[1] + parts[2])
            }
            return parts.count > 2 ? String(parts[1]) : nil
        }
    }

    /// Every file of the folders that the project writes, and the root's own.
    static let files: [File] = {
        let folders = [
            "Sources", "Tests", "Scripts", "Proto", "Specs", "Benchmarks", "Decisions",
            "Documentation", "Examples", "Monitoring", "Tools/AppleCheck/Tests", ".ci",
        ]
        let found = folders.flatMap { paths(below: $0) } + rootFiles
        return found.sorted().compactMap { path in
            // What is no text, a picture or a database, is no matter of style.
            guard let text = try? String(contentsOf: root.appending(path: path), encoding: .utf8)
            else { return nil }
            return File(path: path, lines: text.components(separatedBy: "\n"))
        }
    }()

    static let swift = files.filter(\.isSwift)

    private static var rootFiles: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return names.filter { name in
            name == "Makefile" || name.hasSuffix(".md") || name == "Package.swift"
        }
    }

    private static func paths(below folder: String) -> [String] {
        let start = root.appending(path: folder)
        guard let found = FileManager.default.enumerator(atPath: start.path) else { return [] }
        return found.compactMap { item in
            guard let path = item as? String, !path.contains(".build/"),
                !path.contains("__pycache__"),
                !path.contains("/.venv")
            else { return nil }
            return folder + "/" + path
        }
    }
}

/// One line that breaks a rule.
struct Violation: CustomStringConvertible, Equatable {
    let file: String
    /// From 1.
    let line: Int
    let text: String

    var description: String { "\(file):\(line): \(text)" }
}

extension [Violation] {
    /// For a test's comment: each on a line of its own, the first twenty.
    var report: String {
        let more = count > 20 ? "\n… and \(count - 20) more" : ""
        return "\n" + prefix(20).map(\.description).joined(separator: "\n") + more
    }
}
