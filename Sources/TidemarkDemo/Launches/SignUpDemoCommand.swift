import ArgumentParser

struct SignUpDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup",
        abstract: "Kill an app at each step of a sign-up on every network, and restart it.",
        discussion: """
            Each launch is a separate process. Each device signs up on a bad network and is \
            killed (-9) at one step. It restarts on the same network and is killed again. Then \
            the network recovers and the device restarts once more. At the end, accounts are \
            compared with profiles. Fails if an orphan is left, if a launch has no way to \
            continue, or if too few steps were killed.
            """)

    @Option(help: "Play only this network. Repeatable.") var network: [LaunchNetwork] = []
    @Option(help: "Number of devices at the same time.") var together = 12
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @OptionGroup var bills: BillOptions

    @Flag(help: "Print the steps of each device.") var verbose = false

    func validate() throws {
        if !(1...64).contains(together) {
            throw ValidationError(
                """
                --together must be between 1 and 64.
                """)
        }
    }

    func run() async throws {
        let networks = network.isEmpty ? LaunchNetwork.allCases : network
        let demo = SignUpDemo(
            networks: networks, bills: bills, together: together, reportsEach: verbose)
        var figures = DemoFigures()
        figures.signUps = try await demo.play(.verbose)
        try DemoEnd(json: json).conclude(figures, .verbose)
    }
}
