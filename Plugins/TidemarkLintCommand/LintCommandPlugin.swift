import Foundation
import PackagePlugin

/// `swift package tidemark-lint`: runs `tidemark-lint` in the package's folder, with the arguments
/// that follow. Without paths it reads the package's source targets.
@main
struct LintCommandPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let tool = try context.tool(named: "tidemark-lint")
        let process = Process()
        process.executableURL = tool.url
        process.currentDirectoryURL = context.package.directoryURL
        let folders = context.package.targets.compactMap { $0 as? any SourceModuleTarget }
            .filter { $0.kind != .test }.map { $0.directoryURL.path }
        let hasPaths = arguments.contains {
            FileManager.default.fileExists(
                atPath: context.package.directoryURL.appending(path: $0).path)
        }
        process.arguments = hasPaths ? arguments : arguments + folders
        try process.run()
        process.waitUntilExit()
        if process.terminationStatus != 0 {
            Diagnostics.error("tidemark-lint ended with \(process.terminationStatus)")
        }
    }
}
