import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Look for what should not be there.",
        subcommands: [AuditOrphansCommand.self])
}
