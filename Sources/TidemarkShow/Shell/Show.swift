import ExampleKit
import Foundation
import Tidemark
import TidemarkPhones

/// The source of the page's states and the receiver of its orders: a show or a recording.
protocol ShowSource: Sendable {
    func current() async -> ShowState
    /// Returns the current state and its changes. A slow reader skips to the newest state.
    func states() async -> AsyncStream<ShowState>
    func order(_ order: ShowOrder) async throws(OrderError)
}

/// Executes the effects of a ``ShowMachine``: processes, networks, other people, timers.
actor Show: ShowSource {
    /// The interval between two readings of the meter.
    private static let measuring = Duration.milliseconds(250)
    /// The time in seconds between the first use of the phones and the day.
    private static let night = 43_200.0
    /// The time in seconds by which the clock is ahead when a day before begins. Not before the end
    /// of the server's last day, because the server's clock cannot be set back.
    private var dawn = 0.0
    /// The maximum time by which the clock was ahead, in seconds.
    private var furthest = 0.0
    /// The time limit for the first use of both phones.
    private static let firstUse = Duration.seconds(20)
    /// The maximum number of calls of each phone that are drawn.
    private static let maxCalls = 60

    private let ground: ShowGround
    private let root: URL
    private let recorder: Recorder?
    private var machine: ShowMachine
    private var day: Day?
    private var days = 0
    private var phones: [PhoneSide: PhoneProcess] = [:]
    /// Killed processes that may not have ended yet.
    private var dying: [PhoneSide: PhoneProcess] = [:]
    /// The number of reads billed before the day began.
    private var baseline: [PhoneSide: Int] = [:]
    private var dayBegan: Int64 = 0
    private var tasks: [Task<Void, Never>] = []
    private var ratePlay: Task<Void, Never>?
    /// The last change of the network.
    private var networkChange: Task<Void, Never>?
    private var preparing: Task<Void, Never>?
    private var acts = 0
    private var watchers: [Int: AsyncStream<ShowState>.Continuation] = [:]
    private var lastWatcher = 0

    init(_ example: Example, on ground: ShowGround, in root: URL, recorder: Recorder? = nil) {
        self.ground = ground
        self.root = root
        self.recorder = recorder
        let apps = Examples.all.map { ShowState.Named(id: $0.name, title: $0.title) }
        machine = ShowMachine(ShowState(app: example.shown, apps: apps), example.story)
    }

    /// Plays the day before, and then measures until ``close()``.
    func start() {
        perform(.prepare(machine.state.app.name))
        tasks.append(
            Task { [weak self] in
                while !Task.isCancelled {
                    await self?.measure()
                    try? await Task.sleep(for: Self.measuring)
                }
            })
    }

    func close() async {
        preparing?.cancel()
        ratePlay?.cancel()
        for task in tasks { task.cancel() }
        for phone in phones.values { phone.kill9() }
        for watcher in watchers.values { watcher.finish() }
        await day?.end()
        recorder?.close()
    }

    // MARK: The page

    func current() -> ShowState { machine.state }

    func states() -> AsyncStream<ShowState> {
        let (states, input) = AsyncStream.makeStream(
            of: ShowState.self, bufferingPolicy: .bufferingNewest(1))
        lastWatcher += 1
        let number = lastWatcher
        watchers[number] = input
        input.onTermination = { [weak self] _ in
            Task { [weak self] in await self?.forget(number) }
        }
        input.yield(machine.state)
        return states
    }

    private func forget(_ watcher: Int) { watchers[watcher] = nil }

    func order(_ order: ShowOrder) throws(OrderError) {
        if case .app(let name) = order, Examples.named(name) == nil {
            throw OrderError("There is no app \(name.prefix(40)).")
        }
        send(.ordered(order))
    }

    // MARK: The machine

    private func send(_ event: ShowEvent) {
        let old = machine.state
        let effects = machine.step(event)
        for effect in effects { perform(effect) }
        if machine.state != old { publish() }
    }

    private func publish() {
        recorder?.write(machine.state)
        for watcher in watchers.values { watcher.yield(machine.state) }
    }

    private func perform(_ effect: ShowEffect) {
        switch effect {
        case .prepare(let name): prepare(name)
        case .launch(let side, let launch): self.launch(side, launch)
        case .kill(let side):
            guard let phone = phones.removeValue(forKey: side) else { break }
            phone.kill9()
            dying[side] = phone
        case .notify(let side, .networkIsBack):
            // A phone learns of a network that it can use already.
            let change = networkChange
            inBackground { show in
                await change?.value
                await show.phones[side]?.notify(.networkIsBack)
            }
        case .notify(let side, .clock(let seconds)):
            phones[side]?.notify(.clock(morning + seconds))
        case .notify(let side, let order): phones[side]?.notify(order)
        case .network(let network, let isAirplane):
            networkChange = inBackground { show in
                let labels = await show.labels
                try await show.ground.play(network, isAirplane: isAirplane, labels: labels)
            }
        case .others(let count): others(count)
        case .rate(let rate): play(rate)
        case .secondDevice(let id): secondDevice(id)
        case .setClock(let seconds):
            do { try setClock(ahead: morning + seconds) } catch {
                send(.said("The clock cannot be changed: \(error)"))
            }
        case .startScene(let scene, let seconds): startScene(scene, seconds)
        case .compare: compare()
        }
    }

    /// The time in seconds by which the clock is ahead when the day begins.
    private var morning: Double { dawn + Self.night }

    /// The time in seconds by which the phones' clock is ahead.
    private var ahead: Double { morning + machine.state.clock }

    private func setClock(ahead seconds: Double) throws {
        try ground.setClock(ahead: seconds)
        furthest = max(furthest, seconds)
    }

    private var labels: [String] { day.map { day in PhoneSide.allCases.map(day.label) } ?? [] }

    /// Runs a task in the background, and shows its error on the page.
    @discardableResult private func inBackground(
        _ body: @escaping @Sendable (Show) async throws -> Void
    ) -> Task<Void, Never> {
        let task = Task { [weak self] in
            guard let self else { return }
            do { try await body(self) } catch is CancellationError {} catch {
                await self.send(.said("\(error)"))
            }
        }
        tasks.append(task)
        // Forgets old tasks, most of which have ended, to bound the list.
        if tasks.count > 500 { tasks.removeSubrange(1..<250) }
        return task
    }

    private func startScene(_ scene: Int, _ seconds: Double) {
        let number = days
        inBackground { show in
            let reading = min(ShowMachine.readingTime, seconds)
            try await Task.sleep(for: .seconds(reading))
            await show.send(.sceneRead(scene), of: number)
            try await Task.sleep(for: .seconds(seconds - reading))
            await show.send(.sceneOver(scene), of: number)
        }
    }

    /// Sends an event of a scene, unless its day is over.
    private func send(_ event: ShowEvent, of number: Int) { if days == number { send(event) } }

    // MARK: Phones

    private func launch(_ side: PhoneSide, _ launch: Int) {
        guard let day else { return }
        let phone = PhoneProcess(
            app: day.example.name, side: side, settings: day.settings(side, ground), clock: ahead)
        // The handle of a process that has ended is still stored.
        let former = phones.updateValue(phone, forKey: side) ?? dying.removeValue(forKey: side)
        let number = days
        inBackground { show in
            let news: AsyncStream<PhoneNews>
            do { news = try await phone.start(after: former) } catch {
                await show.ended(
                    side, launch: launch, why: "The app cannot be started: \(error)", of: number)
                return
            }
            for await told in news {
                await show.heard(told, side: side, launch: launch, of: number)
            }
            // Nil if the show ends before the process.
            if let ending = phone.ending {
                await show.ended(side, launch: launch, why: ending, of: number)
            }
        }
    }

    private func heard(_ news: PhoneNews, side: PhoneSide, launch: Int, of number: Int) {
        if days == number { send(.news(side, launch: launch, news)) }
    }

    private func ended(_ side: PhoneSide, launch: Int, why: String, of number: Int) {
        if days == number { send(.ended(side, launch: launch, why)) }
    }

    // MARK: Other people

    private func others(_ count: Int) {
        guard let day else { return }
        let first = acts
        acts += count
        inBackground { show in
            for act in first..<(first + count) {
                for project in day.projects.values { try await day.example.others(project, act) }
                await show.send(.written(1))
            }
        }
    }

    private func play(_ rate: Int) {
        ratePlay?.cancel()
        ratePlay = nil
        guard rate > 0 else { return }
        ratePlay = Task { [weak self] in
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(60.0 / Double(rate)))
                if Task.isCancelled { return }
                await self?.others(1)
            }
        }
    }

    private func secondDevice(_ id: String) {
        guard let day, let act = day.example.secondDevice.first(where: { $0.id == id }) else {
            return
        }
        inBackground { _ in for project in day.projects.values { try await act.perform(project) } }
    }

    // MARK: Figures

    private func measure() {
        guard let day, machine.state.stage == .ready else { return }
        for side in PhoneSide.allCases {
            let label = day.label(side)
            let began = dayBegan
            let calls = ground.calls(label, since: began)
            let reads = max(0, ground.reads(label) - (baseline[side] ?? 0))
            let bytes = calls.reduce(0) { $0 + $1.bytes }
            let newest = Array(calls.suffix(Self.maxCalls))
            send(.measured(side, reads: reads, bytes: bytes, calls: newest))
        }
    }

    /// The maximum number of comparisons of a screen that keeps changing.
    private static let mostComparisons = 5

    private func compare() {
        guard let day else { return }
        let number = days
        for side in PhoneSide.allCases {
            inBackground { show in
                // Repeats the comparison if the screen shows other documents since.
                for _ in 0..<Self.mostComparisons {
                    let screen = await show.current()[side].screen
                    let comparison = try await day.compare(side, screen, ahead: show.ahead)
                    let now = await show.current()[side].screen
                    guard now?.documents == screen?.documents else { continue }
                    return await show.send(.compared(side, comparison), of: number)
                }
            }
        }
    }

    // MARK: The day before

    private func prepare(_ name: String) {
        guard let example = Examples.named(name) else { return }
        preparing?.cancel()
        ratePlay?.cancel()
        for phone in phones.values { phone.kill9() }
        let old = day
        (phones, dying, day, acts) = ([:], [:], nil, 0)
        days += 1
        let number = days
        machine.change(to: example.shown, example.story)
        publish()
        preparing = Task { [weak self] in
            await old?.end()
            do { try await self?.begin(example, number) } catch is CancellationError {} catch {
                await self?.send(
                    .failed("The day before could not be played: \(error)"), of: number)
            }
        }
    }

    private func begin(_ example: Example, _ number: Int) async throws {
        send(.preparing("Filling the server."), of: number)
        dawn = furthest
        try setClock(ahead: dawn)
        try await ground.play(.healthy, isAirplane: false, labels: [])
        let day = try await Day(
            example, number: number, startsIn: dawn, in: root, on: ground)
        guard days == number else { return await day.end() }
        if example.isUsedBefore {
            send(.preparing("First use of both phones."), of: number)
            await withTaskGroup(of: Void.self) { group in
                for side in PhoneSide.allCases {
                    let settings = day.settings(side, ground)
                    group.addTask { [dawn] in
                        _ = try? await FirstUse.play(
                            example, side: side, settings: settings, clock: dawn,
                            patience: Self.firstUse)
                    }
                }
            }
        }
        if let use = example.oldUse {
            send(.preparing("The version before the update."), of: number)
            for (side, project) in day.projects {
                let version = OldVersion(use, in: project, day.settings(side, ground))
                // tidemark:ignore read-in-loop the version before the update, on each phone
                try await version.play(port: ground.firestorePort)
            }
        }
        guard days == number else { return await day.end() }
        try setClock(ahead: morning)
        self.day = day
        dayBegan = ShowGround.now()
        for side in PhoneSide.allCases { baseline[side] = ground.reads(day.label(side)) }
        follow(example.otherPhone, in: day)
        send(.prepared)
    }

    /// Shows the phones of the other person until the day ends.
    private func follow(_ other: OtherPhone?, in day: Day) {
        guard let other else { return }
        for (side, project) in day.projects {
            inBackground { show in
                for await view in other.views(project) {
                    await show.send(.arrived(side, view), of: day.number)
                }
            }
        }
    }
}
