package import ArgumentParser

/// `tidemark-lab demo`: the demo of each journey, and the apps that the demos launch.
package struct DemoCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "demo", abstract: "Play apps before and on Tidemark, and compare them.",
        subcommands: [
            ChatsCommand.self, MessagesCommand.self, SignUpDemoCommand.self, LaunchDemoCommand.self,
            HealthDemoCommand.self, PicturesCommand.self, AllCommand.self, ChartsCommand.self,
            SendCommand.self, SendPhotosCommand.self, PageCommand.self, HealthAppCommand.self,
            PictureAppCommand.self, DayCommand.self, DayAppCommand.self,
        ])

    package init() {}
}
