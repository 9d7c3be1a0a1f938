import ExampleKit
import Foundation
import HomesCore
import TidemarkPhones

/// A device on which a user signs up while the app is killed at one step.
struct SignUpDevice: Sendable {
    /// The maximum time of a launch without anything that the user can use. A longer time is a dead
    /// end. Journeys 5 says 10 s; the rest is the time to start many processes on a busy machine.
    static let patience = Duration.seconds(20)
    /// The maximum time of the last launch, on a good network, for an app that continues without
    /// the user. The app as it was would wait for ever there.
    static let finalPatience = Duration.seconds(40)
    /// The time that the user stays in the app. The app sends its writes during this time.
    private static let stay = Duration.seconds(1)

    let network: LaunchNetwork
    let side: PhoneSide
    let killAt: Int
    let folder: URL

    /// The number of screens at which the app is killed: for the name, for the home, and at home.
    private static let screens = 3
    /// The number of steps of the job that creates the account and the profile on Tidemark. The app
    /// is also killed at each of them.
    private static let jobSteps = 11

    /// Returns the number of steps. On some networks the later steps are not reached.
    static func steps(of side: PhoneSide) -> Int { side == .before ? screens : screens + jobSteps }

    /// The name of the device and of its user, which identifies the user's profile.
    private var name: String { "\(network.rawValue)-\(side.rawValue)-\(killAt)" }

    /// The label of the last launch, which no other device has.
    private var mendedLabel: String { "mended.\(name)" }

    func play(
        _ ground: LaunchGround, _ planner: SignUpPlanner
    ) async throws -> SignUpOutcome {
        let gates = ground.gates
        var outcome = SignUpOutcome(device: self)
        guard let place = gates.places[network] else { return outcome }
        let first = try await launch(
            place, label: network.label(side), killAt: killAt, patience: Self.patience)
        outcome.note("sign-up", first)
        outcome.wasKilledAtStep = first.wasKilledAtStep
        if !first.isUsable, !first.wasKilledAtStep { outcome.isDeadEnd = true }
        let second = try await launch(place, label: network.label(side), patience: Self.patience)
        outcome.note("again", second)
        if !second.isUsable { outcome.isDeadEnd = true }
        let forecast =
            side == .after
            ? try await planner.forecast(settings(gates.direct, label: mendedLabel)) : Forecast()
        let patience = side == .before ? Self.patience : Self.finalPatience
        let last = try await launch(
            gates.direct, label: mendedLabel, patience: patience, untilLive: true)
        outcome.note("mended", last)
        outcome.note(
            PlannedLaunch(
                forecast: forecast, bill: try await ground.server.bill(of: mendedLabel)))
        outcome.isLive = last.isLive
        if !last.isLive, !last.isUsable { outcome.isDeadEnd = true }
        return outcome
    }

    private func settings(_ place: LaunchPlace, label: String) -> PhoneSettings {
        PhoneSettings(
            folder: folder.appendingPathComponent("devices/" + name).path,
            project: DemoPlace.project, firestore: place.firestore, accounts: place.accounts,
            user: PhoneUser(id: "", name: name, email: "\(name)@example.test"), label: label)
    }

    private func launch(
        _ place: LaunchPlace, label: String, killAt: Int = 0, patience: Duration,
        untilLive: Bool = false
    ) async throws -> SignUpRun {
        let settings = settings(place, label: label)
        var run = SignUpRun()
        let jobStep = max(0, killAt - Self.screens)
        let awaitsStep = jobStep > 0 && killAt <= network.reachableSteps
        var person = SignUpPerson(name: name, killAt: jobStep > 0 ? 0 : killAt)
        let use = try await PhoneUse.play(
            Example.homes.name, side: side, settings: settings, killAt: jobStep, patience: patience
        ) { use in
            guard let screen = use.last else { return .wait }
            run.note(screen)
            let next = person.next(screen)
            if case .kill = next {
                run.wasKilledAtStep = true
                return .kill
            }
            // The app reaches the step without the user, perhaps behind its first screens.
            if awaitsStep { return next }
            if run.isLive { return untilLive ? .killAfter(Self.stay) : .kill }
            return run.isUsable && !untilLive ? .kill : next
        }
        run.steps = use.reached
        if jobStep > 0, use.reached.count == jobStep { run.wasKilledAtStep = true }
        return run
    }
}

/// The user, who fills in the fields and waits for the rest. The user also kills the app as it was.
struct SignUpPerson {
    private static let fields = ["name", "home"]

    private let name: String
    /// The screen at which the app is killed: 1 asks for the name, 2 asks for the home, 3 is the
    /// home; 0 for none.
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
    /// True if the app of journeys 5 shows the user's home, with or without neighbours.
    var isHome: Bool { sections.first?.rows.contains { $0.id == "home" } ?? false }
}

/// The result of one launch.
struct SignUpRun: Sendable {
    private(set) var screens: [String] = []
    /// The names of the job's steps.
    var steps: [String] = []
    private(set) var isLive = false
    /// True if the user could do something, or if all was well.
    private(set) var isUsable = false
    var wasKilledAtStep = false

    mutating func note(_ screen: Screen) {
        let text = screen.title + (screen.remark.map { ": \($0)" } ?? "")
        if screens.last != text { screens.append(text) }
        // The neighbours arrive from the server after the user has signed in.
        if screen.isHome, screen.isUpToDate, !screen.documents.isEmpty {
            (isLive, isUsable) = (true, true)
        }
        if case .failed(_, _?) = screen.state { isUsable = true }
        // The screen shows the device's content, and offers an action for the rest.
        if screen.isHome, !screen.controls.isEmpty { isUsable = true }
    }
}

/// The result of one device.
struct SignUpOutcome: Sendable {
    let device: SignUpDevice
    var wasKilledAtStep = false
    var isDeadEnd = false
    var isLive = false
    /// The last launch, with its predicted bill; nil before it.
    private(set) var last: PlannedLaunch?
    private var parts: [String] = []

    init(device: SignUpDevice) { self.device = device }

    mutating func note(_ name: String, _ run: SignUpRun) {
        parts.append("  \(name): " + (run.screens + run.steps).joined(separator: " | "))
    }

    /// Takes the last launch, with its predicted bill.
    mutating func note(_ planned: PlannedLaunch) {
        last = planned
        parts.append("  bill: " + planned.bill.text)
    }

    var story: String {
        let end = isLive ? "live" : isDeadEnd ? "DEAD END" : "not live"
        return
            "\(device.network.rawValue) \(device.side.rawValue) killed at \(device.killAt): \(end)\n"
            + parts.joined(separator: "\n")
    }
}
