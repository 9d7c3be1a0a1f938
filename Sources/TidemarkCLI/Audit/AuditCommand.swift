import ArgumentParser

struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "Find inconsistent data.",
        subcommands: [AuditOrphansCommand.self, AuditObjectsCommand.self])
}
