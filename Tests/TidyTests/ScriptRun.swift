import Foundation

/// Runs a script of this repository with another program in place of the compiler.
struct ScriptRun {
    let text: String
    let status: Int32

    /// - Parameters:
    ///   - compiler: The path of the program, and its text.
    ///   - variables: Environment variables, in addition to those of this process.
    /// - Throws: An error if the script cannot be started.
    init(
        _ script: URL, compiler: (place: URL, text: String), variables: [String: String] = [:]
    ) throws {
        try compiler.text.write(to: compiler.place, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: compiler.place.path)
        let (process, output) = (Process(), Pipe())
        process.executableURL = script
        process.environment = ProcessInfo.processInfo.environment
            .merging(["SWIFT": compiler.place.path], uniquingKeysWith: { $1 })
            .merging(variables, uniquingKeysWith: { $1 })
        process.standardOutput = output
        process.standardError = output
        try process.run()
        text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        status = process.terminationStatus
    }
}
