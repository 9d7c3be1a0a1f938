/// All five journeys, one after the other.
struct Journeys {
    /// Beyond so many items the three clients take longer than anybody waits for a first table.
    private static let mostEvents = 2_000

    let source: HistoryOptions
    let clients: ClientOptions
    let scenarios: ScenarioOptions
    let extent: DemoExtent
    let output: DemoOutput

    /// - Throws: What kept a journey from being played; what does not hold is a figure.
    func play() async throws -> DemoFigures {
        let start = ContinuousClock.now
        let load = DemoTimes.loadOfMachine()
        func seconds() -> Double { (ContinuousClock.now - start).milliseconds / 1_000 }
        let history = try source.load()
        var figures = DemoFigures(
            clients: try await clients.play(
                history.prefix(Self.mostEvents), seed: source.seed, output))
        let firstTable = seconds()
        figures.chats = try await on(extent.chats)
            .playChats(history, seed: source.seed, longChat: extent.longChat, output)
        figures.messages = try await on(extent.messages).playMessages(history, output)
        if isChosen("launch") { figures.launches = try await extent.launches.play(output) }
        if isChosen("sign-up") { figures.signUps = try await extent.signUps.play(output) }
        figures.health = try await on(extent.health)
            .playHealth(seed: source.seed, hasDecade: extent.hasDecade, output)
        let pictures = extent.pictures.filter { isChosen($0.name) }
        figures.pictures = try await PicturesDemo(rows: pictures).play(output)
        figures.times = DemoTimes(
            firstTable: firstTable, play: seconds(), isJudged: isJudged, load: load)
        return figures
    }

    /// What somebody waits for who types `make demo`, and no more than that.
    private var isJudged: Bool {
        extent == .telling && scenarios.networks.isEmpty
            && clients.opens <= ClientOptions.usualOpens
            && Bar.isRelease
    }

    private func isChosen(_ name: String) -> Bool { scenarios.isChosen(name) }

    /// On the networks that were asked for, else on these.
    private func on(_ networks: [DemoNetwork]) -> ScenarioOptions {
        var options = scenarios
        if options.networks.isEmpty { options.networks = networks }
        return options
    }
}
