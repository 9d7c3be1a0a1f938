import PackagePlugin

/// Shows findings beside the compiler's, at each build in which a file of the target has changed.
/// Never fails a build.
@main
struct LintBuildPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let files = target.sourceFiles(withSuffix: "swift").map(\.url)
        guard !files.isEmpty else { return [] }
        let stamp = context.pluginWorkDirectoryURL.appending(path: "tidemark-lint.txt")
        return [
            .buildCommand(
                displayName: "Reading what \(target.name) asks of Firestore",
                executable: try context.tool(named: "tidemark-lint").url,
                arguments: ["--format", "xcode", "--fail-on", "never", "--stamp", stamp.path]
                    + files.map(\.path),
                inputFiles: files, outputFiles: [stamp])
        ]
    }
}
