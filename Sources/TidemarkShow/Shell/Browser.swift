import Foundation

/// The system's own browser.
package enum Browser {
    /// Opens an address with the system's command for it.
    ///
    /// - Throws: When there is no such command.
    package static func open(_ address: String) throws {
        #if os(macOS)
            let command = "/usr/bin/open"
        #else
            let command = "/usr/bin/xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: command)
        process.arguments = [address]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }
}
