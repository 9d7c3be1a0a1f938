import Foundation

/// The system's own browser.
package enum Browser {
    /// The commands of Linux and of macOS. On Linux, `open` can be any program.
    private static let commands = ["/usr/bin/xdg-open", "/usr/bin/open"]

    /// Opens an address with the system's command for it.
    ///
    /// - Throws: An error if there is no such command.
    package static func open(_ address: String) throws {
        let command = commands.first { FileManager.default.isExecutableFile(atPath: $0) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command ?? commands[0])
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
}
