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
        try Self.writeProgram(compiler.text, to: compiler.place)
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

    /// Writes a program by a shell. If this process wrote the file, a process that another test
    /// starts at that moment would have the file open too, and the system runs no such file.
    private static func writeProgram(_ text: String, to place: URL) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = [
            "-c", #"printf %s "$1" >"$2" && chmod 755 "$2""#, "sh", text, place.path,
        ]
        try shell.run()
        shell.waitUntilExit()
    }
}
