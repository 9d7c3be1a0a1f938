import Foundation

#if os(Linux)
    /// This test's executable once more, running one test alone: its memory is then that test's.
    enum OwnProcess {
        private static let mark = "TIDEMARK_OWN_PROCESS"

        /// Whether this is it.
        static var isThis: Bool { ProcessInfo.processInfo.environment[mark] != nil }

        /// - Parameter test: A part of its name.
        /// - Returns: How it ended, and what it printed.
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
                // Off the threads that other tests run on: it takes a while.
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
