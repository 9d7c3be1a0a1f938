import ExampleKit
import TidemarkPhones

/// An event of a show.
enum ShowEvent: Equatable, Sendable {
    case ordered(ShowOrder)
    /// The day before has been played, and the day begins.
    case prepared
    case preparing(String)
    case failed(String)
    /// A report from the process of this launch.
    case news(PhoneSide, launch: Int, PhoneNews)
    case ended(PhoneSide, launch: Int, String)
    case measured(PhoneSide, reads: Int, bytes: Int, calls: [PhoneState.Call])
    case compared(PhoneSide, PhoneState.Comparison)
    /// The phone of the other person has changed.
    case arrived(PhoneSide, OtherPhone.View)
    /// Other people have made this number of further changes.
    case written(Int)
    case said(String)
    /// A scene has been visible long enough to be read.
    case sceneRead(Int)
    case sceneOver(Int)
}

/// An action that the machine requests.
enum ShowEffect: Equatable, Sendable {
    /// Ends everything, and plays the day before.
    case prepare(String)
    case launch(PhoneSide, launch: Int)
    case kill(PhoneSide)
    case notify(PhoneSide, PhoneOrder)
    case network(Network, isAirplane: Bool)
    case others(Int)
    case rate(Int)
    case secondDevice(String)
    /// Sets the total time by which the clock is ahead, in seconds.
    case setClock(Double)
    case startScene(Int, seconds: Double)
    case compare
}

/// The decisions of a show: takes orders and events, and returns effects. Uses no clock, process or
/// socket.
struct ShowMachine: Equatable, Sendable {
    /// The minimum duration of a scene in seconds, so that its caption can be read.
    static let readingTime = 2.5

    private(set) var state: ShowState
    /// The scenes of the app's story.
    private var script: [StoryScene]
    private var playsWhenReady = false
    /// The network that the story uses as its good network.
    private var good = Network.healthy
    /// True if the current scene has been visible long enough to be read.
    private var isRead = false
    /// The taps of the current scene that a phone's screen does not show yet, in their order.
    private var waitingTaps: [PhoneSide: [WaitingTap]] = [:]

    private struct WaitingTap: Equatable, Sendable {
        let id, text: String
    }

    init(_ state: ShowState, _ script: [StoryScene]) {
        self.state = state
        self.script = script
    }

    static func == (left: ShowMachine, right: ShowMachine) -> Bool { left.state == right.state }

    mutating func step(_ event: ShowEvent) -> [ShowEffect] {
        switch event {
        case .ordered(let order): return obey(order)
        case .preparing(let what):
            state.stage = .preparing(what)
            return []
        case .prepared:
            state.stage = .ready
            guard playsWhenReady else { return PhoneSide.allCases.flatMap { launch($0) } }
            playsWhenReady = false
            return play(good, isAirplane: false) + begin(0)
        case .failed(let why):
            state.stage = .failed(why)
            state.story = nil
            return []
        case .news(let side, let launch, let news):
            guard state[side].life == .running, state[side].launches == launch else { return [] }
            return heard(news, side)
        case .ended(let side, let launch, let why):
            guard state[side].life == .running, state[side].launches == launch else { return [] }
            state[side].life = .dead(why)
            state[side].screen = nil
            return []
        case .measured(let side, let reads, let bytes, let calls):
            (state[side].reads, state[side].bytes, state[side].calls) = (reads, bytes, calls)
            return []
        case .compared(let side, let comparison):
            state[side].comparison = comparison
            return []
        case .arrived(let side, let view):
            state[side].other = view
            return []
        case .written(let count):
            state.written += count
            return []
        case .said(let message):
            state.message = message
            return []
        case .sceneRead(let scene):
            guard state.story?.scene == scene, state.story?.isOver == false else { return [] }
            isRead = true
            return advanceIfSeen()
        case .sceneOver(let scene):
            guard state.story?.scene == scene, state.story?.isOver == false else { return [] }
            return begin(scene + 1)
        }
    }

    /// Switches to another app. Its day before is played next.
    mutating func change(to app: ShowState.App, _ script: [StoryScene]) {
        self.script = script
        waitingTaps = [:]
        let old = state
        state = ShowState(app: app, apps: old.apps)
        (state.users, state.isRecording) = (old.users, old.isRecording)
    }

    // MARK: Orders

    private mutating func obey(_ order: ShowOrder) -> [ShowEffect] {
        state.message = nil
        switch order {
        case .app(let name): return [.prepare(name)]
        case .play(let network):
            (playsWhenReady, good) = (true, network)
            return [.prepare(state.app.name)]
        case .users(let count):
            state.users = count
            return []
        case .stop:
            state.story = nil
            waitingTaps = [:]
            playsWhenReady = false
            return []
        case .launch, .kill, .tap, .network, .airplane, .others, .rate, .secondDevice, .turnClock,
            .compare:
            guard state.stage == .ready else {
                state.message = "The day has not started yet."
                return []
            }
            return act(order)
        }
    }

    private mutating func act(_ order: ShowOrder) -> [ShowEffect] {
        switch order {
        case .launch(let side): return launch(side)
        case .kill(let side): return kill(side)
        case .tap(let side, let id, let text): return tap(side, id: id, text: text)
        case .network(let network): return play(network, isAirplane: state.isAirplane)
        case .airplane: return play(state.network, isAirplane: !state.isAirplane)
        case .others(let count): return [.others(count)]
        case .rate(let rate):
            state.rate = rate
            return [.rate(rate)]
        case .secondDevice(let id):
            guard state.app.acts.contains(where: { $0.id == id }) else { return [] }
            return [.secondDevice(id)]
        case .turnClock(let seconds): return turnClock(seconds)
        case .compare: return [.compare]
        case .app, .play, .users, .stop: return []
        }
    }

    private mutating func launch(_ side: PhoneSide) -> [ShowEffect] {
        if state[side].life == .running { return [] }
        state[side].life = .running
        state[side].screen = nil
        state[side].plan = []
        state[side].comparison = nil
        state[side].launches += 1
        state[side].firstContent.append(nil)
        if state[side].firstContent.count > PhoneState.maxLaunches {
            state[side].firstContent.removeFirst()
        }
        return [.launch(side, launch: state[side].launches)]
    }

    private mutating func kill(_ side: PhoneSide) -> [ShowEffect] {
        waitingTaps[side] = nil
        guard state[side].life == .running else { return [] }
        state[side].life = .dead("Killed: kill -9.")
        state[side].screen = nil
        return [.kill(side)]
    }

    private mutating func tap(_ side: PhoneSide, id: String, text: String) -> [ShowEffect] {
        guard state[side].life == .running, let screen = state[side].screen else { return [] }
        let isThere =
            screen.controls.contains { $0.id == id && $0.isEnabled }
            || screen.sections.contains { $0.rows.contains { $0.id == id && $0.isTappable } }
        guard isThere else { return [] }
        if id == state.app.photoControl {
            state[side].chosenPhotos = (state[side].chosenPhotos ?? 0) + 1
        }
        return [.notify(side, .tap(id: id, text: text))]
    }

    /// Makes the waiting taps of a phone that its screen shows.
    private mutating func makeTaps(_ side: PhoneSide) -> [ShowEffect] {
        var effects: [ShowEffect] = []
        while let next = waitingTaps[side]?.first {
            let made = tap(side, id: next.id, text: next.text)
            if made.isEmpty { break }
            waitingTaps[side]?.removeFirst()
            effects += made
        }
        return effects
    }

    private mutating func play(_ network: Network, isAirplane: Bool) -> [ShowEffect] {
        if state.network == network, state.isAirplane == isAirplane { return [] }
        (state.network, state.isAirplane) = (network, isAirplane)
        var effects = [ShowEffect.network(network, isAirplane: isAirplane)]
        // Phones learn about a usable network interface from their system.
        if !isAirplane, network != .refused, network != .blackhole {
            effects += running.map { .notify($0, .networkIsBack) }
        }
        return effects
    }

    private mutating func turnClock(_ seconds: Double) -> [ShowEffect] {
        state.clock += seconds
        return [.setClock(state.clock)] + running.map { .notify($0, .clock(state.clock)) }
    }

    private var running: [PhoneSide] { PhoneSide.allCases.filter { state[$0].life == .running } }

    // MARK: What the phones say

    private mutating func heard(_ news: PhoneNews, _ side: PhoneSide) -> [ShowEffect] {
        switch news {
        case .plan(let lines):
            state[side].plan = lines
            return []
        case .begins, .reached: return []
        case .screen(let screen, let milliseconds):
            // A comparison is of the documents on the screen. The rest changes at any time, as when
            // data is confirmed.
            if screen.documents != state[side].screen?.documents { state[side].comparison = nil }
            state[side].screen = screen
            if screen.hasContent, state[side].firstContent.last == .some(nil) {
                state[side].firstContent[state[side].firstContent.count - 1] = milliseconds
            }
            let taps = makeTaps(side)
            // The final table describes the screens that are visible now.
            return taps + (state.story?.isOver == true ? [.compare] : advanceIfSeen())
        }
    }

    // MARK: The story

    private mutating func begin(_ scene: Int) -> [ShowEffect] {
        waitingTaps = [:]
        guard scene < script.count else {
            state.story?.isOver = true
            return [.compare]
        }
        isRead = false
        state.story = ShowState.Story(
            scene: scene, count: script.count, caption: script[scene].caption)
        let effects = script[scene].steps.flatMap { perform($0) }
        return effects + [.startScene(scene, seconds: script[scene].seconds)]
    }

    private mutating func perform(_ step: StoryScene.Step) -> [ShowEffect] {
        switch step {
        case .network(let network):
            return play(network == .healthy ? good : network, isAirplane: state.isAirplane)
        case .airplane(let isOn): return play(state.network, isAirplane: isOn)
        case .launch: return PhoneSide.allCases.flatMap { launch($0) }
        case .kill: return PhoneSide.allCases.flatMap { kill($0) }
        case .others(let count): return [.others(count)]
        case .secondDevice(let id): return [.secondDevice(id)]
        case .tap(let id, let text):
            return PhoneSide.allCases.flatMap { side in
                waitingTaps[side, default: []].append(WaitingTap(id: id, text: text))
                return makeTaps(side)
            }
        case .turnClock(let seconds): return turnClock(seconds)
        }
    }

    /// Continues with the next scene if both phones show the expected content.
    private mutating func advanceIfSeen() -> [ShowEffect] {
        guard isRead, let story = state.story, !story.isOver, let goal = script[story.scene].until,
            waitingTaps.values.allSatisfy(\.isEmpty)
        else { return [] }
        let isSeen = PhoneSide.allCases.allSatisfy { side in
            guard let screen = state[side].screen else { return false }
            switch goal {
            case .content: return screen.hasContent
            // The old app does not report the age of its content.
            case .fresh: return screen.state == .fresh || screen.state == .quiet
            case .sent: return screen.hasContent && !screen.isWaiting
            }
        }
        return isSeen ? begin(story.scene + 1) : []
    }
}
