import Foundation

/// The repository's own text files. The root is found from the path of this file.
enum Repository {
    static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    struct File: Sendable {
        /// The path from the root, such as `Sources/TidemarkModel/Values/Value.swift`.
        let path: String
        let lines: [String]

        var name: String { String(path.split(separator: "/").last!) }
        var isSwift: Bool { path.hasSuffix(".swift") }
        /// True for a file below `Sources` or `Examples`: code that an app links or could link.
        var isCode: Bool { path.hasPrefix("Sources/") || path.hasPrefix("Examples/") }
        /// True for generated code, which does not follow the style.
        var isGenerated: Bool { path.contains("/Generated/") }
        /// True for these tests, which contain the text that they search for.
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

    /// Every text file in the project's folders, and in the root.
    static let files: [File] = {
        let folders = [
            "Sources", "Tests", "Scripts", "Proto", "Specs", "Benchmarks", "Decisions",
            "Documentation", "Examples", "Monitoring", "Tools/AppleCheck/Tests", ".ci",
        ]
        let found = folders.flatMap { paths(below: $0) } + rootFiles
        return found.sorted().compactMap { path in
            // The style does not apply to files without text, such as pictures and databases.
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
    /// The line number, from 1.
    let line: Int
    let text: String

    var description: String { "\(file):\(line): \(text)" }
}

extension [Violation] {
    /// The text for the comment of a test: the first twenty violations, one per line.
    var report: String {
        let more = count > 20 ? "\n… and \(count - 20) more" : ""
        return "\n" + prefix(20).map(\.description).joined(separator: "\n") + more
    }
}
