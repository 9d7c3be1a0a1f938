import ArgumentParser
import TidemarkHTTPClient
import TidemarkModel

@main
struct TidemarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark",
        abstract: "A local Firestore server, with tools to inspect and test it.",
        version: Version.number,
        subcommands: [
            ServeCommand.self, ExecCommand.self, GetCommand.self, SetCommand.self,
            AuditCommand.self, DoctorCommand.self, ImportCommand.self, ExportCommand.self,
            HealthCommand.self, IndexesCommand.self, RulesCommand.self, ReadsCommand.self,
            MigrateCommand.self,
        ])

    static func main() async {
        LoopbackProxies.avoid()
        // `tidemark exec` puts this program into PATH under another name.
        if JavaStandIn.isCalled { await JavaStandIn.run() }
        await main(nil)
    }
}
