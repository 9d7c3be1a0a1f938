import ArgumentParser
import TidemarkDemo
import TidemarkPhones
import TidemarkShow

@main
struct TidemarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A local Firestore, and what shows what Tidemark does with one.",
        subcommands: [
            ServeCommand.self, DemoCommand.self, GetCommand.self, SetCommand.self, PumpCommand.self,
            ChurnCommand.self, DownloadCommand.self, AuditCommand.self, DoctorCommand.self,
            ImportCommand.self, ExportCommand.self, HealthCommand.self, GenerateCommand.self,
            IndexesCommand.self, RulesCommand.self, ShowCommand.self, PhoneCommand.self,
        ])
}
