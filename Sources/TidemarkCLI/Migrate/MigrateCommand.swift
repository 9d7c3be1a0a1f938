import ArgumentParser

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Prepare existing documents for Tidemark.",
        subcommands: [ChangeTimesCommand.self])
}
