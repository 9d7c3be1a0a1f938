import ArgumentParser
import TidemarkDemo
import TidemarkHTTPClient
import TidemarkModel
import TidemarkPhones
import TidemarkShow

/// The program `tidemark-lab`: demonstrates and tests Tidemark. Releases do not contain it.
@main
struct LabCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tidemark-lab",
        abstract: "Demos of Tidemark, and the processes that its tests start.",
        version: Version.number,
        subcommands: [
            DemoCommand.self, ShowCommand.self, GenerateCommand.self, PhoneCommand.self,
            PumpCommand.self, ChurnCommand.self, SendFilesCommand.self, FetchFileCommand.self,
        ])

    static func main() async {
        LoopbackProxies.avoid()
        await main(nil)
    }
}
