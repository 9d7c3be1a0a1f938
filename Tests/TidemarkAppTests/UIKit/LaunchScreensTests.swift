import Testing
import TestSupport
import Tidemark

@testable import TidemarkApp

// The code of the article about UIKit, line by line, with doubles of alerts. The view controllers
// of `Examples/Homes/UIKit` have the same lines; the tidy tests compare both.

private struct SignUpForm {
    var email = ""
    var password = ""
    var name = ""
    var home = ""
}

/// A button of an alert, which a test taps.
@MainActor private final class UIAlertAction {
    enum Style { case `default` }

    let title: String
    private let handler: (UIAlertAction) -> Void

    init(title: String?, style: Style, handler: @escaping (UIAlertAction) -> Void) {
        self.title = title ?? "no title"
        self.handler = handler
    }

    func tap() { handler(self) }
}

@MainActor private final class UIAlertController {
    let message: String
    private(set) var actions: [UIAlertAction] = []

    init(message: String) { self.message = message }

    func addAction(_ action: UIAlertAction) { actions.append(action) }

    func tap(_ title: String) { actions.first { $0.title == title }?.tap() }
}

/// The part of `LaunchController` that needs no screen.
@MainActor private final class LaunchScreens {
    enum Place: Hashable {
        case waiting, signIn, profile
        case members(UserID)
    }

    private let stack: TidemarkStack
    private var launch: Launch?
    private var watching: Task<Void, Never>?
    private var form: SignUpForm?
    /// The place of the last state.
    private(set) var place: Place?
    private(set) var alerts: [UIAlertController] = []

    init(_ stack: TidemarkStack) { self.stack = stack }

    deinit { watching?.cancel() }

    func viewDidLoad() {
        let launch = stack.launch(
            StackSettings.Stages(
                showContent: { [weak self] _, _ in await self?.contentShown() },
                beginSignUp: { [weak self] jobs, account, step in
                    await self?.signUp(jobs, account, step)
                }))
        self.launch = launch
        let machines = launch.machines
        watching = Task { [weak self] in
            for await machine in machines { self?.show(machine) }
        }
        launch.start()
    }

    func close() { launch?.close() }

    private func show(_ machine: LaunchMachine) {
        place = Self.place(of: machine)
        tell(machine.screen)
    }

    private static func place(of machine: LaunchMachine) -> Place {
        if case .profilePending = machine.state { return .waiting }
        return switch machine.screen.content {
        case .nothing, .local(nil): .waiting
        case .local(let user?): .members(user)
        case .signIn: .signIn
        case .onboarding: .profile
        }
    }

    private func contentShown() { launch?.contentShown() }

    func submit(_ form: SignUpForm) {
        self.form = form
        launch?.perform(.beginSignUp)
        launch?.perform(.submit)
    }

    private func signUp(_ jobs: AccountJobs, _ account: UserID?, _ step: Int) async {
        guard let form else { return }
        let profile: MapValue = ["name": .string(form.name), "home": .string(form.home)]
        if account != nil { return await jobs.completeProfile(profile, step: step) }
        do throws(CredentialStoreError) {
            try await jobs.signUp(
                .password(email: form.email, form.password), profile: profile, step: step)
        } catch { Issue.record("\(error)") }
    }

    private func tell(_ screen: LaunchScreen) {
        let choices = screen.actions.filter { Self.title(of: $0) != nil }
        guard let message = screen.message, !choices.isEmpty, message != alerts.last?.message
        else { return }
        let alert = UIAlertController(message: message)
        for action in choices {
            alert.addAction(
                UIAlertAction(title: Self.title(of: action), style: .default) {
                    [launch] _ in launch?.perform(action)
                })
        }
        alerts.append(alert)
    }

    private static func title(of action: LaunchAction) -> String? {
        switch action {
        case .tryAgain: "Try Again"
        case .signInAgain: "Sign In Again"
        case .resumeOnboarding, .beginSignUp, .goTo, .submit, .giveUp: nil
        }
    }
}

@Suite(.timeLimit(.minutes(2))) struct `A launch with view controllers` {
    private let form = SignUpForm(
        email: "ada@b.c", password: "correct horse", name: "Ada", home: "Lane 1")

    @Test func `leads from the form to the members, with account and profile`() async throws {
        let world = try await StackWorld()
        let stack = try world.stack()
        let screens = await LaunchScreens(stack)
        await screens.viewDidLoad()
        try await until { await screens.place == .signIn }
        await screens.submit(form)
        try await until { if case .members = await screens.place { true } else { false } }
        let user = try #require(stack.identity.user)
        #expect(await screens.place == .members(user))
        #expect(await screens.alerts.isEmpty)
        let profile = try await stack.firestore.document("users/\(user)").getDocument(
            source: .server)
        #expect(profile.get("name") as? String == "Ada")
        #expect(profile.get("home") as? String == "Lane 1")
        await screens.close()
        await stack.close()
        await world.stop()
    }

    @Test(arguments: ["Try Again", "Sign In Again"])
    func `offers a choice when the sign-in cannot be read`(choice: String) async throws {
        let world = try await StackWorld()
        let store = ScriptedStore()
        store.fail(.failed("a broken disk"))
        let stack = try world.stack(change: { $0.credentials = store })
        let screens = await LaunchScreens(stack)
        await screens.viewDidLoad()
        try await until { await !screens.alerts.isEmpty }
        let alert = await screens.alerts[0]
        #expect(alert.message == LaunchProblem.sessionUnreadable.message)
        #expect(await alert.actions.map(\.title) == ["Try Again", "Sign In Again"])
        #expect(await screens.place == .waiting, "nobody is known")
        store.fail(nil)
        await alert.tap(choice)
        try await until { await screens.place == .signIn }
        #expect(await screens.alerts.count == 1, "the sentence is told once")
        await screens.close()
        await stack.close()
        await world.stop()
    }
}
