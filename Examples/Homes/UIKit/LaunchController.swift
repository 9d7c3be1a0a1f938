#if canImport(UIKit)
    import Foundation
    import HomesCore
    import Tidemark
    import TidemarkApp
    import UIKit

    /// Shows the screen of each state of a launch. Where the user must decide, an alert offers *Try
    /// Again* and *Sign In Again*.
    ///
    /// ```swift
    /// let stack = try TidemarkStack(HomesAfter.settings(folder: folder, info))
    /// let photos = AppPhotos(stack.firestore, FileSettings(bucket: bucket))
    /// let photo = try HomePhoto(photos, stack.firestore, folder: pictures)
    /// window.rootViewController = LaunchController(stack, photo)
    /// ```
    final class LaunchController: UIViewController {
        private let stack: TidemarkStack
        private let photo: HomePhoto?
        private var launch: Launch?
        private var watching: Task<Void, Never>?
        /// The place of the last state, and the controller that shows it.
        private var shown: (place: Place, controller: UIViewController)?
        /// The sentence of the alert that was shown last.
        private var told: String?
        /// The form that the user has filled in.
        private var form: SignUpForm?

        /// A screen of the app.
        private enum Place: Hashable {
            case waiting, signIn, profile
            case members(UserID)
        }

        /// - Parameter photo: The picture of the user's profile; nil in an app without Storage.
        init(_ stack: TidemarkStack, _ photo: HomePhoto? = nil) {
            (self.stack, self.photo) = (stack, photo)
            super.init(nibName: nil, bundle: nil)
        }

        @available(*, unavailable)
        required init?(coder: NSCoder) { fatalError("This controller is in no storyboard.") }

        deinit { watching?.cancel() }

        override func viewDidLoad() {
            super.viewDidLoad()
            let launch = stack.launch(
                StackSettings.Stages(
                    showContent: { [weak self] _, _ in await self?.contentShown() },
                    beginSignUp: { [weak self] jobs, account, step in
                        await self?.signUp(jobs, account: account, step: step)
                    }))
            self.launch = launch
            let machines = launch.machines
            watching = Task { [weak self] in
                for await machine in machines { self?.show(machine) }
            }
            launch.start()
        }

        // MARK: Screens

        private func show(_ machine: LaunchMachine) {
            let place = Self.place(of: machine)
            if place != shown?.place { replace(with: controller(of: place), place) }
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

        private func controller(of place: Place) -> UIViewController {
            switch place {
            case .waiting: return WaitingController()
            case .signIn:
                return SignUpController(asksAccount: true) { [weak self] in self?.submit($0) }
            case .profile:
                return SignUpController(asksAccount: false) { [weak self] in self?.submit($0) }
            case .members(let user):
                guard let feed = try? stack.feeds(of: user).first else {
                    return WaitingController()
                }
                return UINavigationController(
                    rootViewController: MembersController(feed, of: user, photo: photo))
            }
        }

        private func replace(with next: UIViewController, _ place: Place) {
            if let last = shown?.controller {
                last.willMove(toParent: nil)
                last.view.removeFromSuperview()
                last.removeFromParent()
            }
            shown = (place, next)
            addChild(next)
            next.view.frame = view.bounds
            next.view.autoresizingMask = [.flexibleWidth, .flexibleHeight]
            view.addSubview(next.view)
            next.didMove(toParent: self)
        }

        /// The launch continues when the device's rows are on the screen.
        private func contentShown() { launch?.contentShown() }

        // MARK: Signing up

        private func submit(_ form: SignUpForm) {
            if form.hasAccount {
                // The launch follows the changes of the session.
                Task { [stack, weak self] in
                    do throws(AccountError) {
                        _ = try await stack.accounts?.signIn(
                            email: form.email, password: form.password)
                    } catch { self?.alert(error.message, []) }
                }
                return
            }
            self.form = form
            launch?.perform(.beginSignUp)
            launch?.perform(.submit)
        }

        /// Creates the account and the profile, or only the profile of an account without one. The
        /// journal has the job before the server is asked.
        private func signUp(_ jobs: AccountJobs, account: UserID?, step: Int) async {
            guard let form else { return }
            let profile: MapValue = ["name": .string(form.name), "home": .string(form.home)]
            if account != nil { return await jobs.completeProfile(profile, step: step) }
            do throws(CredentialStoreError) {
                try await jobs.signUp(
                    .password(email: form.email, form.password), profile: profile, step: step)
            } catch { alert(LaunchProblem.sessionUnreadable.message, [.tryAgain]) }
        }

        // MARK: Alerts

        /// Shows what the user must know. Above the user's own content it is a line; elsewhere an
        /// alert, once for each sentence.
        private func tell(_ screen: LaunchScreen) {
            let choices = screen.actions.filter { Self.title(of: $0) != nil }
            guard let message = screen.message, !choices.isEmpty else {
                told = nil
                if presentedViewController is UIAlertController { dismiss(animated: true) }
                return note(nil, [])
            }
            if case .local(.some) = screen.content { return note(message, choices) }
            if message == told { return }
            told = message
            alert(message, choices)
        }

        private func alert(_ message: String, _ choices: [LaunchAction]) {
            let alert = UIAlertController(title: nil, message: message, preferredStyle: .alert)
            for action in choices {
                alert.addAction(
                    UIAlertAction(title: Self.title(of: action), style: .default) {
                        [launch] _ in launch?.perform(action)
                    })
            }
            if choices.isEmpty { alert.addAction(UIAlertAction(title: "OK", style: .default)) }
            present(alert, animated: true)
        }

        /// Shows a line above the rows, with a menu of the choices.
        private func note(_ message: String?, _ choices: [LaunchAction]) {
            guard let bar = shown?.controller as? UINavigationController,
                let item = bar.topViewController?.navigationItem
            else { return }
            item.prompt = message
            let actions = choices.map { action in
                UIAction(title: Self.title(of: action) ?? "") { [launch] _ in
                    launch?.perform(action)
                }
            }
            item.rightBarButtonItem =
                message == nil
                ? nil : UIBarButtonItem(title: "Help", menu: UIMenu(children: actions))
        }

        private static func title(of action: LaunchAction) -> String? {
            switch action {
            case .tryAgain: "Try Again"
            case .signInAgain: "Sign In Again"
            case .resumeOnboarding, .beginSignUp, .goTo, .submit, .giveUp: nil
            }
        }
    }

    /// Shows that something is being read. It is on the screen for a moment only: each state of a
    /// launch has a time limit.
    final class WaitingController: UIViewController {
        override func loadView() {
            let spinner = UIActivityIndicatorView(style: .large)
            spinner.startAnimating()
            view = spinner
        }
    }
#endif
