import Foundation
import PackagePlugin

/// Shows findings beside the compiler's, at each build in which a file of the target, the
/// configuration, the rules or the indexes have changed. Never fails a build for a finding.
@main
struct LintBuildPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let files = target.sourceFiles(withSuffix: "swift").map(\.url)
        guard !files.isEmpty else { return [] }
        let root = context.package.directoryURL
        let settings = [".tidemark-lint.json", "firestore.rules", "firestore.indexes.json"]
            .map { root.appending(path: $0) }
            .filter { FileManager.default.fileExists(atPath: $0.path) }
        let stamp = context.pluginWorkDirectoryURL.appending(path: "tidemark-lint.txt")
        return [
            .buildCommand(
                displayName: "Reading what \(target.name) asks of Firestore",
                executable: try context.tool(named: "tidemark-lint").url,
                arguments: [
                    "--root", root.path, "--format", "xcode", "--fail-on", "never", "--stamp",
                    stamp.path,
                ] + files.map { relative($0, to: root) },
                inputFiles: files + settings, outputFiles: [stamp])
        ]
    }

    /// Returns the path relative to the package's folder, as in a baseline.
    private func relative(_ file: URL, to root: URL) -> String {
        let (path, base) = (file.standardizedFileURL.path, root.standardizedFileURL.path)
        return path.hasPrefix(base + "/") ? String(path.dropFirst(base.count + 1)) : path
    }
}
