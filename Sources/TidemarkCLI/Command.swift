import ArgumentParser
import TidemarkDemo
import TidemarkModel
import TidemarkPhones
import TidemarkShow

@main
struct TidemarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A local Firestore server, with tools to inspect, test and demonstrate it.",
        version: Version.number,
        subcommands: [
            ServeCommand.self, DemoCommand.self, GetCommand.self, SetCommand.self, PumpCommand.self,
            ChurnCommand.self, DownloadCommand.self, AuditCommand.self, DoctorCommand.self,
            ImportCommand.self, ExportCommand.self, HealthCommand.self, GenerateCommand.self,
            IndexesCommand.self, RulesCommand.self, ReadsCommand.self, MigrateCommand.self,
            ShowCommand.self, PhoneCommand.self, ExecCommand.self,
        ])

    static func main() async {
        // `tidemark exec` puts this program into PATH under another name.
        if JavaStandIn.isCalled { await JavaStandIn.run() }
        await main(nil)
    }
}
