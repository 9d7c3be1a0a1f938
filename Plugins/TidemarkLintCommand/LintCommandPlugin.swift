import Foundation
import PackagePlugin

/// `swift package tidemark-lint`: runs `tidemark-lint` in the package's folder, with the arguments
/// that follow. If they name no paths, it reads the package's source targets, or those of
/// `--target`.
@main
struct LintCommandPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        var extractor = ArgumentExtractor(arguments)
        let names = extractor.extractOption(named: "target")
        let root = context.package.directoryURL
        let targets =
            names.isEmpty
            ? context.package.targets : try context.package.targets(named: names)
        let folders = targets.compactMap { $0 as? any SourceModuleTarget }
            .filter { !names.isEmpty || $0.kind != .test }
            .map { relative($0.directoryURL, to: root) }
        let process = Process()
        process.executableURL = try context.tool(named: "tidemark-lint").url
        process.currentDirectoryURL = root
        process.arguments =
            extractor.remainingArguments + folders.flatMap { ["--default-path", $0] }
        try process.run()
        process.waitUntilExit()
        switch process.terminationStatus {
        case 0: break
        case 1: Diagnostics.error("tidemark-lint has findings as severe as --fail-on says")
        case let status: Diagnostics.error("tidemark-lint ended with \(status)")
        }
    }

    /// Returns the path relative to the package's folder, so a baseline is valid on every machine.
    private func relative(_ folder: URL, to root: URL) -> String {
        let (path, base) = (folder.standardizedFileURL.path, root.standardizedFileURL.path)
        return path.hasPrefix(base + "/") ? String(path.dropFirst(base.count + 1)) : path
    }
}
