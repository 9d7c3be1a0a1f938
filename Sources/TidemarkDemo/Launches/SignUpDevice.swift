import ExampleKit
import Foundation
import HomesCore
import TidemarkPhones

/// A device on which somebody signs up, and whose app is killed at one step.
struct SignUpDevice: Sendable {
    /// A launch that shows nothing the person can use for longer is a dead end: 10 s by journeys 5, and what
    /// it takes to start processes on a busy machine, many at a time.
    static let patience = Duration.seconds(20)
    /// For the launch on a good network, of an app that goes on by itself. As it was, an app that waits
    /// there waits for ever.
    static let finalPatience = Duration.seconds(40)
    /// How long the person stays there: what an app has written is sent meanwhile.
    private static let stay = Duration.seconds(1)

    let network: LaunchNetwork
    let side: PhoneSide
    let killAt: Int
    let folder: URL

    /// The app is killed at each of its screens: as it asks for the name, for the home, and at home.
    private static let screens = 3
    /// And on Tidemark, at each step of the job that makes account and profile.
    private static let jobSteps = 11

    /// How many there are; a network may let fewer be reached.
    static func steps(of side: PhoneSide) -> Int { side == .before ? screens : screens + jobSteps }

    /// Also of the person, so that their profile can be told from others.
    private var name: String { "\(network.rawValue)-\(side.rawValue)-\(killAt)" }

    func play(_ gates: LaunchGates) async throws -> SignUpOutcome {
        var outcome = SignUpOutcome(device: self)
        guard let place = gates.places[network] else { return outcome }
        let first = try await launch(place, network.label(side), killAt: killAt, Self.patience)
        outcome.note("sign-up", first)
        outcome.wasKilledAtStep = first.wasKilledAtStep
        if !first.isUsable, !first.wasKilledAtStep { outcome.isDeadEnd = true }
        let second = try await launch(place, network.label(side), Self.patience)
        outcome.note("again", second)
        if !second.isUsable { outcome.isDeadEnd = true }
        let patience = side == .before ? Self.patience : Self.finalPatience
        let last = try await launch(gates.direct, "mended", patience, untilLive: true)
        outcome.note("mended", last)
        outcome.isLive = last.isLive
        if !last.isLive, !last.isUsable { outcome.isDeadEnd = true }
        return outcome
    }

    private func launch(
        _ place: LaunchPlace, _ label: String, killAt: Int = 0, _ patience: Duration,
        untilLive: Bool = false
    ) async throws -> SignUpRun {
        let user = PhoneUser(id: "", name: name, email: "\(name)@example.test")
        let settings = PhoneSettings(
            folder: folder.appendingPathComponent("devices/" + name).path,
            project: DemoPlace.project, firestore: place.firestore, accounts: place.accounts,
            user: user, label: label)
        var run = SignUpRun()
        let jobStep = max(0, killAt - Self.screens)
        var person = SignUpPerson(name: name, killAt: jobStep > 0 ? 0 : killAt)
        let use = try await PhoneUse.play(
            Example.homes.name, side, settings, killAt: jobStep, patience: patience
        ) { use in
            guard let screen = use.last else { return .wait }
            run.note(screen)
            let next = person.next(screen)
            if case .kill = next {
                run.wasKilledAtStep = true
                return .kill
            }
            if run.isLive { return untilLive ? .killAfter(Self.stay) : .kill }
            return run.isUsable && !untilLive ? .kill : next
        }
        run.steps = use.reached
        if jobStep > 0, use.reached.count == jobStep { run.wasKilledAtStep = true }
        return run
    }
}

/// The person, who fills in what is asked and waits for the rest; and whoever kills the app as it was.
struct SignUpPerson {
    private static let fields = ["name", "home"]

    private let name: String
    /// The screen at which the app is killed: one that asks for the name, for the home, or the home; from
    /// 1. 0 for none.
    private let killAt: Int
    private var tapped: Set<String> = []

    init(name: String, killAt: Int) { (self.name, self.killAt) = (name, killAt) }

    mutating func next(_ screen: Screen) -> PhoneUse.Next {
        let field = Self.fields.firstIndex { id in screen.controls.contains { $0.id == id } }
        let step = field.map { $0 + 1 } ?? (screen.isHome ? 3 : 0)
        if killAt > 0, step == killAt { return .kill }
        let id = field.map { Self.fields[$0] } ?? "begin"
        guard screen.controls.contains(where: { $0.id == id }), tapped.insert(id).inserted else {
            return .wait
        }
        return .tap(id, text: id == "name" ? name : "Elm Street 4")
    }
}

extension Screen {
    /// Of the app of journeys 5: whether the person is at home, whoever else may be.
    var isHome: Bool { sections.first?.rows.contains { $0.id == "home" } ?? false }
}

/// What one launch came to.
struct SignUpRun: Sendable {
    private(set) var screens: [String] = []
    /// Of the job, by their names.
    var steps: [String] = []
    private(set) var isLive = false
    /// Whether the person could do something, or all was well.
    private(set) var isUsable = false
    var wasKilledAtStep = false

    mutating func note(_ screen: Screen) {
        let text = screen.title + (screen.remark.map { ": \($0)" } ?? "")
        if screens.last != text { screens.append(text) }
        // Neighbours come from the server, once the person is let in.
        if screen.isHome, screen.isUpToDate, !screen.documents.isEmpty {
            (isLive, isUsable) = (true, true)
        }
        if case .failed(_, _?) = screen.state { isUsable = true }
        // What is on the device, and something to do about the rest.
        if screen.isHome, !screen.controls.isEmpty { isUsable = true }
    }
}

/// What came of one device.
struct SignUpOutcome: Sendable {
    let device: SignUpDevice
    var wasKilledAtStep = false
    var isDeadEnd = false
    var isLive = false
    private var parts: [String] = []

    init(device: SignUpDevice) { self.device = device }

    mutating func note(_ name: String, _ run: SignUpRun) {
        parts.append("  \(name): " + (run.screens + run.steps).joined(separator: " | "))
    }

    var story: String {
        let end = isLive ? "live" : isDeadEnd ? "DEAD END" : "not live"
        return
            "\(device.network.rawValue) \(device.side.rawValue) killed at \(device.killAt): \(end)\n"
            + parts.joined(separator: "\n")
    }
}
