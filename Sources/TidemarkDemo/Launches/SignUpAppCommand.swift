import ArgumentParser
import Foundation
import Synchronization
import Tidemark
import TidemarkApp

/// The family app of journeys 5: signs up, and is killed while it does.
struct SignUpAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "signup-app", abstract: "Sign up until it is killed.", shouldDisplay: false)

    @Option var side: Side
    @Option var folder: String
    @Option(help: "HOST:PORT of the Firestore.") var firestore: String
    @Option(help: "HOST:PORT of the accounts.") var accounts: String
    @Option var email: String
    @Option var label: String
    @Option(help: "The step at which it kills itself; 0 for none.") var killAt = 0

    func run() async throws {
        switch side {
        case .before: try await OldApp(self).run()
        case .after: try await runNew()
        }
    }

    func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

    /// Ends the process as a system that needs the memory does, at the step that was asked for.
    func makeProbe() -> @Sendable (String) -> Void {
        let count = Mutex(0)
        return { [killAt] name in
            let number = count.withLock { count in
                count += 1
                return count
            }
            FileHandle.standardOutput.write(Data("reached \(number) \(name)\n".utf8))
            if number == killAt { kill(getpid(), SIGKILL) }
        }
    }

    func makeClient(
        _ files: LaunchFiles, _ tokens: Accounts
    ) throws -> Firestore {
        let settings = FirestoreSettings(
            host: firestore, isSSLEnabled: false, cache: .directory(folder + "/cache"),
            user: files.lastUser?.text, label: label)
        settings.tokenProvider = tokens
        return try Firestore(projectID: DemoPlace.project, settings: settings)
    }

    func makeAccounts(_ files: LaunchFiles) throws -> Accounts {
        Accounts(
            HTTPAccountsTransport(.local(accounts)),
            store: try FileCredentialStore(folder: folder + "/secrets"),
            installation: files.installation)
    }

    // MARK: On Tidemark

    private func runNew() async throws {
        var settings = StackSettings(
            folder: folder, projectID: DemoPlace.project, accounts: .local(accounts),
            firestore: FirestoreSettings(host: firestore, isSSLEnabled: false, label: label))
        settings.onTransition = { transition in
            let time = String(format: "%.3f", transition.time.milliseconds / 1_000)
            FileHandle.standardOutput.write(
                Data("state \(transition.from) left after \(time) s\n".utf8))
        }
        let app = try TidemarkStack.$probe.withValue(makeProbe()) { try TidemarkStack(settings) }
        // The session of a sign-up that was killed is known before the journal is looked at.
        await app.accounts.load()
        let (email, name) = (email, side.rawValue)
        var parts = app.parts(
            StackSettings.Stages(beginSignUp: { jobs, user, step in
                let profile: MapValue = ["name": .string(name), "email": .string(email)]
                if user != nil { return await jobs.completeProfile(profile, step: step) }
                try? await jobs.signUp(
                    .password(email: email, "correct horse battery"), profile: profile, step: step)
            }))
        // In place of feeds, which this app has none of, the profile is live.
        parts.runFeeds = { user, isLive in
            let document = app.firestore.document("users/" + user.text)
            do {
                for try await snapshot in document.snapshots(includeMetadataChanges: true) {
                    isLive(!snapshot.metadata.isFromCache)
                }
            } catch { isLive(false) }
        }
        let launch = Launch(parts, onTransition: settings.onTransition)
        app.follow(launch)
        launch.start()
        for await machine in launch.machines {
            if respond(to: machine, launch) { break }
        }
        await app.close()
    }

    /// What the person does, who fills in what is asked and waits for the rest.
    ///
    /// - Returns: Whether the app is live.
    private func respond(to machine: LaunchMachine, _ launch: Launch) -> Bool {
        switch machine.state {
        case .localReady: launch.contentShown()
        case .signedOut: launch.perform(.beginSignUp)
        case .onboarding where machine.problem == nil: launch.perform(.submit)
        case .profileMissing: launch.perform(.submit)
        case .live(let user):
            say("live \(user)")
            return true
        case .cold, .sessionUnknown, .locked, .signedIn, .profilePending, .removing,
            .profileReady, .onboarding:
            break
        }
        if let problem = machine.problem, machine.screen.isUsable, !machine.screen.actions.isEmpty {
            say("usable \(problem): \(problem.message)")
        }
        return false
    }
}

/// The app as it was: the account first, the profile later, and a launch that waits for it.
private struct OldApp {
    let app: SignUpAppCommand

    init(_ app: SignUpAppCommand) { self.app = app }

    func run() async throws {
        let files = try LaunchFiles(folder: app.folder + "/launch")
        let accounts = try app.makeAccounts(files)
        let firestore = try app.makeClient(files, accounts)
        accounts.attach(firestore)
        let probe = app.makeProbe()
        if case .signedIn(let user) = await accounts.load() {
            // Signed in: the profile must be there. There is no timer.
            let document = firestore.document("users/" + user.text)
            for try await snapshot in document.snapshots(includeMetadataChanges: true)
            where snapshot.exists && !snapshot.metadata.isFromCache {
                return app.say("live \(user)")
            }
            return
        }
        do {
            let user = try await accounts.signUp(
                email: app.email, password: "correct horse battery")
            probe("account made")
            try await Task.sleep(for: .milliseconds(50))
            probe("onboarding filled in")
            // As the old app did: a write that its device keeps, and calls done.
            try await firestore.document("users/" + user.text).setData([
                "name": app.side.rawValue, "email": app.email,
            ])
            probe("profile written")
            app.say("live \(user)")
        } catch { app.say("usable error: \(error)") }
    }
}
