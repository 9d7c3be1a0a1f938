import Foundation

#if os(Linux)
    /// Runs this executable again with one test alone, to measure the memory of that test.
    enum OwnProcess {
        private static let mark = "TIDEMARK_OWN_PROCESS"

        /// True if this process is the second one.
        static var isThis: Bool { ProcessInfo.processInfo.environment[mark] != nil }

        /// - Parameter test: A part of the test's name.
        /// - Returns: The exit status and the output.
        static func run(_ test: String) async throws -> (status: Int32, output: String) {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = ["--testing-library", "swift-testing", "--filter", test]
            process.environment = ProcessInfo.processInfo.environment.merging([mark: "1"]) { $1 }
            let output = Pipe()
            process.standardOutput = output
            process.standardError = output
            try process.run()
            return await withCheckedContinuation { continuation in
                // The wait takes a while, so it has a thread of its own and blocks no other test.
                Thread.detachNewThread {
                    let data = (try? output.fileHandleForReading.readToEnd()) ?? nil
                    process.waitUntilExit()
                    let text = String(decoding: data ?? Data(), as: UTF8.self)
                    continuation.resume(returning: (process.terminationStatus, text))
                }
            }
        }
    }
#endif
