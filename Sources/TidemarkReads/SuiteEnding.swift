/// The end of a suite's command.
package enum SuiteEnding: Hashable, Sendable {
    case exited(Int32)
    /// The command was ended by a signal.
    case killed(signal: Int32)
    case notFound
    /// The command could not be started, for the reason that the system gave.
    case notStarted(String)
}

/// The reason for which a run has no reads to compare, with the exit code of the program.
package struct SuiteFault: Hashable, Sendable {
    package let exitCode: Int32
    package let sentence: String

    /// The exit code if reads could not be compared.
    package static let notCompared: Int32 = 2
    /// The exit code if a line grew.
    package static let grew: Int32 = 1

    /// Creates the fault of a run; nil for a run that can be compared.
    ///
    /// - Parameters:
    ///   - command: The command's name.
    ///   - reads: The lines of the run.
    package init?(_ ending: SuiteEnding, of command: String, reads: [RunLine]) {
        let rest = "Its reads were not compared."
        switch ending {
        case .exited(0):
            guard reads.allSatisfy({ $0.reads == 0 }) else { return nil }
            exitCode = Self.notCompared
            sentence = """
                The command read nothing. Its clients find the server by FIRESTORE_EMULATOR_HOST: \
                check that they use it.
                """
        case .exited(let code):
            exitCode = code
            sentence = "The command failed with code \(code). \(rest)"
        case .killed(let signal):
            exitCode = 128 + signal
            sentence = "The command was ended by signal \(signal). \(rest)"
        case .notFound:
            exitCode = 127
            sentence = "There is no command '\(command)'. Check its name and PATH."
        case .notStarted(let reason):
            exitCode = 126
            sentence = "The command '\(command)' cannot be started: \(reason)."
        }
    }
}
