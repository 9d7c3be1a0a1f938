import Foundation

/// Reads and writes files, with sentences for errors.
enum Files {
    /// The maximum number of files. The largest apps have fewer; a folder with more was named by
    /// mistake.
    static let maxFiles = 50_000

    private static let skipped: Set<String> = [
        ".build", ".git", "Pods", "Carthage", "DerivedData", "node_modules", "SourcePackages",
    ]

    static func read(_ path: String) throws(LintFailure) -> Data {
        do { return try Data(contentsOf: URL(filePath: path)) } catch {
            throw LintFailure("\(path) cannot be read")
        }
    }

    static func write(_ data: Data, to path: String) throws(LintFailure) {
        do { try data.write(to: URL(filePath: path), options: .atomic) } catch {
            throw LintFailure("\(path) cannot be written")
        }
    }

    /// Returns all Swift files in folders, and the named files, in the order of their paths.
    static func sources(
        in paths: [String], excluding parts: [String]
    ) throws(LintFailure) -> [(path: String, text: String)] {
        var found: Set<String> = []
        for path in paths {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw LintFailure("there is no file or folder \(path)")
            }
            if isFolder.boolValue {
                found.formUnion(swiftFiles(in: path))
            } else {
                found.insert(path)
            }
            if found.count > maxFiles {
                throw LintFailure("more than \(maxFiles) Swift files: name the folders of one app")
            }
        }
        let kept = found.filter { path in !parts.contains { path.contains($0) } }.sorted()
        if kept.isEmpty { throw LintFailure("there are no Swift files to read") }
        var sources: [(path: String, text: String)] = []
        for path in kept {
            sources.append((path, String(decoding: try read(path), as: UTF8.self)))
        }
        return sources
    }

    private static func swiftFiles(in folder: String) -> [String] {
        let root = URL(filePath: folder)
        guard
            let all = FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: [.isDirectoryKey])
        else { return [] }
        var found: [String] = []
        let base = root.standardizedFileURL.path
        for case let url as URL in all {
            if skipped.contains(url.lastPathComponent) {
                all.skipDescendants()
            } else if url.pathExtension == "swift" {
                let path = url.standardizedFileURL.path
                let rest =
                    path.hasPrefix(base + "/") ? String(path.dropFirst(base.count + 1)) : path
                found.append(folder == "." ? rest : folder.trimmingSlash + "/" + rest)
            }
            if found.count > maxFiles { break }
        }
        return found
    }
}

extension String {
    fileprivate var trimmingSlash: String {
        hasSuffix("/") && count > 1 ? String(dropLast()) : self
    }
}
