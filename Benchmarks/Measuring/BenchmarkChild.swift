import Foundation

/// Starts this program again for one part of a suite, so that no part uses another's memory and
/// caches.
enum BenchmarkChild {
    private static let program =
        Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])

    /// - Returns: The samples that the child printed, one per line.
    static func samples(_ arguments: [String]) throws -> [ClientSample] {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let lines = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchmarkChildError(arguments: arguments)
        }
        return try lines.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(ClientSample.self, from: $0)
        }
    }

    /// Prints the samples of a child.
    static func report(_ samples: [ClientSample]) throws {
        for sample in samples {
            print(String(decoding: try JSONEncoder().encode(sample), as: UTF8.self))
        }
    }
}

struct BenchmarkChildError: Error, CustomStringConvertible {
    let arguments: [String]
    var description: String { "A part failed: Benchmarks \(arguments.joined(separator: " "))" }
}
