import ArgumentParser

struct ReadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reads",
        abstract: "Keep the billed reads of a test suite from growing.",
        discussion: """
            Runs any command against a server of its own, and compares the billed reads with a \
            file in the repository, line by line: who reads, by which call, from which \
            collection, with which query. The command finds the server by the variables of \
            Firebase's emulators.
            """,
        subcommands: [
            ReadsRecordCommand.self, ReadsCheckCommand.self, ReadsFleetCommand.self,
        ])

    /// The exit codes are part of the interface. The code of a command that fails is passed on.
    static let exitCodes = """
        Exits with 0 if no line grew, 1 if a line grew, and 2 if the reads could not be compared: \
        the file is missing, damaged or of a newer version, or the command read nothing. If the \
        command fails, exits with its code, or with 128 and the number of the signal that ended \
        it; 127 means that there is no such command, and 126 that it cannot be run.
        """
}
