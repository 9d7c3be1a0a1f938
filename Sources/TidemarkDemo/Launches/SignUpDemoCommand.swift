import ArgumentParser

struct SignUpDemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup",
        abstract: "Kill an app at each step of a sign-up, on every network, and start it again.",
        discussion: """
            Every launch is a process. Each device signs up on a bad network and is killed (-9) at one \
            step; it is started again on the same network, and killed again; then its network is mended \
            and it is started once more. In the end accounts are compared with profiles. Ends with an \
            error when an orphan is left, a launch has no way on, or fewer steps than a network lets it \
            reach were killed.
            """)

    @Option(help: "Play only this network; may be given again.") var network: [LaunchNetwork] = []
    @Option(help: "Devices at the same time.") var together = 12
    @Option(help: "Write the figures to this file, as JSON.") var json: String?
    @Flag(help: "Print what each device did.") var verbose = false

    func validate() throws {
        if !(1...64).contains(together) { throw ValidationError("--together must be 1 to 64.") }
    }

    func run() async throws {
        let networks = network.isEmpty ? LaunchNetwork.allCases : network
        let demo = SignUpDemo(networks: networks, together: together, tellsEach: verbose)
        var figures = DemoFigures()
        figures.signUps = try await demo.play(.verbose)
        try DemoEnd(json: json).conclude(figures, .verbose)
    }
}
