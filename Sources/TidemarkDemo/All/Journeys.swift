/// Plays the five journeys, one after the other.
struct Journeys {
    let source: HistoryOptions
    let clients: ClientOptions
    let scenarios: ScenarioOptions
    let extent: DemoExtent
    let output: DemoOutput

    /// - Throws: The error that prevented a journey. A failed requirement is no error, but a
    ///   figure.
    func play() async throws -> DemoFigures {
        let start = ContinuousClock.now
        func seconds() -> Double { (ContinuousClock.now - start).milliseconds / 1_000 }
        let history = try source.load(isWhole: extent == .full)
        var figures = DemoFigures(
            clients: try await clients.play(
                extent.ofFirstTable(history), seed: source.seed, output))
        let firstTable = seconds()
        figures.chats = try await on(extent.chats)
            .playChats(history, seed: source.seed, longChat: extent.longChat, output)
        figures.messages = try await on(extent.messages).playMessages(history, output)
        if isChosen("launch") {
            figures.launches = try await launches.play(output)
        }
        if isChosen("sign-up") {
            figures.signUps = try await signUps.play(output)
        }
        figures.health = try await on(extent.health)
            .playHealth(seed: source.seed, hasDecade: extent.hasDecade, output)
        let pictures = extent.pictures.filter { isChosen($0.name) }
        figures.pictures = try await PicturesDemo(rows: pictures).play(output)
        if DayDemo.isMeasured, isChosen(DayDemo.name) {
            figures.day = try await day.play(output)
        }
        figures.times = DemoTimes(firstTable: firstTable, play: seconds(), isUsual: isUsual)
        return figures
    }

    /// True if this is what `make demo` plays, and no more.
    private var isUsual: Bool {
        extent == .telling && scenarios.networks.isEmpty && TimeJudge.current == nil
            && clients.opens <= ClientOptions.usualOpens
    }

    private var launches: LaunchDemo {
        var demo = extent.launches
        demo.bills = scenarios.bills
        return demo
    }

    private var signUps: SignUpDemo {
        var demo = extent.signUps
        demo.bills = scenarios.bills
        return demo
    }

    private var day: DayDemo {
        var demo = extent.day
        demo.bills = scenarios.bills
        return demo
    }

    private func isChosen(_ name: String) -> Bool { scenarios.isChosen(name) }

    /// Returns the options with the networks on the command line, or else with `networks`.
    private func on(_ networks: [DemoNetwork]) -> ScenarioOptions {
        var options = scenarios
        if options.networks.isEmpty { options.networks = networks }
        return options
    }
}
