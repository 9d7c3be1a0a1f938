import Foundation
import Synchronization
import Tidemark
import TidemarkApp
import TidemarkModel

/// The app of journeys 1 on one device.
struct StampsApp: Sendable {
    /// What a person waits at the most before they end the app as it was.
    static let patience = Duration.seconds(30)
    /// Longer than the budget of every stage: by then the person has been told.
    static let launchPatience = Duration.seconds(13)
    static let readDeadline = Duration.milliseconds(500)
    private static let email = "ada@example.test"
    private static let password = "correct horse battery"

    let folder: String

    /// One run of the app: everything of it on the device.
    func start(_ place: LaunchPlace, _ label: String) throws -> TidemarkStack {
        try TidemarkStack(
            StackSettings(
                folder: folder, projectID: DemoPlace.project, accounts: .local(place.accounts),
                firestore: FirestoreSettings(
                    host: place.firestore, isSSLEnabled: false, label: label),
                feeds: { firestore, _ in
                    [
                        try Feed(
                            FeedDefinition(
                                query: firestore.collection("stamps"), itemTime: "createdAt",
                                way: .changeTime("updatedAt", deletedField: "deletedAt"),
                                pageSize: 1_000, window: 50))
                    ]
                }))
    }

    func prepare(_ place: LaunchPlace) async throws {
        var app = try self.start(place, "preparation")
        await app.accounts.load()
        try await app.jobs.signUp(
            .password(email: Self.email, Self.password), profile: ["name": .string("Ada")])
        for await news in app.jobs.news {
            if case .finished = news { break }
            if case .needsPerson = news { throw SignUpRefused() }
        }
        await app.close()
        app = try self.start(place, "preparation")
        await app.accounts.load()
        for feed in try app.feeds(of: app.files.lastUser) { try await feed.sync() }
        await app.close()
    }

    /// On another device, whose cache stays empty.
    func signIn(_ place: LaunchPlace) async throws {
        let app = try self.start(place, "preparation")
        await app.accounts.load()
        do { _ = try await app.accounts.signIn(email: Self.email, password: Self.password) } catch {
            await app.close()
            throw error
        }
        await app.close()
    }

    // MARK: As it was

    /// A diagnosis in the initialiser that is forced from the server, without a deadline, and the feed
    /// behind it, by the default source. When the diagnosis fails, the app goes on.
    func launchAsItWas(
        _ place: LaunchPlace, _ label: String, diagnoses: Bool = true
    ) async -> LaunchFigure {
        let found = NotedFigure()
        let start = ContinuousClock.now
        guard let app = try? self.start(place, label) else { return LaunchFigure() }
        let work = Task {
            await app.accounts.load()
            let users = app.firestore.collection("users")
            let query = app.firestore.collection("stamps")
                .order(by: "createdAt", descending: true).limit(to: 50)
            if diagnoses {
                _ = try? await users.limit(to: 1).getDocuments(
                    source: .server, within: Self.patience)
                try Task.checkCancellation()
                let time = (ContinuousClock.now - start).milliseconds
                found.figure.withLock { $0.diagnosisMs = time }
            }
            let answer = try await query.getDocuments()
            let time = (ContinuousClock.now - start).milliseconds
            let isFromServer = !answer.metadata.isFromCache
            found.figure.withLock { figure in
                figure.firstContentMs = time
                figure.liveMs = isFromServer ? time : nil
                figure.items = answer.count
                figure.shown = "\(answer.count) items" + (isFromServer ? "" : " of the cache")
                figure.isUsable = answer.count > 0
            }
        }
        let deadline = Task {
            try await Task.sleep(for: Self.patience)
            work.cancel()
        }
        _ = await work.result
        deadline.cancel()
        await app.close()
        var figure = found.figure.withLock { $0 }
        if !figure.isUsable { figure.shown = "a loading screen, after \(Self.patience)" }
        return figure
    }

    // MARK: On Tidemark

    func launch(
        _ place: LaunchPlace, _ label: String, times: Int
    ) async throws -> LaunchFigure {
        var (firsts, opened): ([Double], [Double]) = ([], [])
        for _ in 0..<times {
            let figure = try await once(place, label, waitsForEnd: false)
            // A launch that showed nothing is no fast one.
            firsts.append(figure.firstContentMs ?? .infinity)
            opened.append(figure.openedMs ?? .infinity)
        }
        firsts.sort()
        var figure = try await once(place, label, waitsForEnd: true)
        figure.firstContentMs = firsts[firsts.count / 2]
        figure.firstContentP99Ms = firsts[max(0, (firsts.count * 99 + 99) / 100 - 1)]
        figure.openedMs = opened.sorted()[opened.count / 2]
        figure.overDeadlineMs = try await overDeadline(place, label)
        return figure
    }

    /// - Parameter waitsForEnd: Until it is live, or the person has been told why it is not.
    private func once(
        _ place: LaunchPlace, _ label: String, waitsForEnd: Bool, diagnoses: Bool = true
    ) async throws -> LaunchFigure {
        let start = ContinuousClock.now
        let app = try self.start(place, label)
        let found = NotedFigure()
        let opened = (ContinuousClock.now - start).milliseconds
        found.figure.withLock { $0.openedMs = opened }
        let shown = AsyncStream.makeStream(of: Void.self)
        let doctor = diagnosis(place, label)
        var launchParts = app.parts(
            StackSettings.Stages(
                beginSignUp: { _, _, _ in },
                runBackground: {
                    if diagnoses { _ = try? await doctor.diagnose() }
                }))
        // The items are there before the unread among all that is held are counted.
        launchParts.showContent = { user in
            if let feed = try? app.feeds(of: user).first {
                let states = feed.states
                let opening = Task {
                    _ = try? await feed.open()
                    shown.continuation.finish()
                }
                for await state in states where !state.items.isEmpty {
                    let time = (ContinuousClock.now - start).milliseconds
                    found.figure.withLock {
                        ($0.firstContentMs, $0.items) = (time, state.items.count)
                    }
                    break
                }
                shown.continuation.finish()
                await opening.value
            }
            shown.continuation.finish()
        }
        let launch = Launch(launchParts)
        app.follow(launch)
        launch.start()
        for await _ in shown.stream {}
        launch.contentShown()
        if waitsForEnd { await watch(launch, since: start, found) }
        launch.close()
        await app.close()
        return found.figure.withLock { $0 }
    }

    private func watch(
        _ launch: Launch, since start: ContinuousClock.Instant,
        _ found: NotedFigure
    ) async {
        let deadline = Task {
            try await Task.sleep(for: Self.launchPatience)
            launch.close()
        }
        for await machine in launch.machines {
            if case .live = machine.state {
                let time = (ContinuousClock.now - start).milliseconds
                found.figure.withLock { $0.liveMs = time }
            }
            let screen = machine.screen
            found.figure.withLock { figure in
                figure.shown = "\(figure.items) items" + (screen.message.map { ": " + $0 } ?? "")
                figure.isUsable = screen.isUsable
            }
            if case .live = machine.state { break }
            if machine.problem != nil { break }
        }
        deadline.cancel()
    }

    private func diagnosis(_ place: LaunchPlace, _ label: String) -> Doctor {
        let parts = place.firestore.split(separator: ":")
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: Int(parts[1]) ?? 1, usesTLS: false,
                project: DemoPlace.project))
        doctor.label = label
        doctor.token = TokenVariable.value
        return doctor
    }

    // MARK: Diagnoses

    /// One to its end, without the delay that an app gives itself.
    func diagnose(_ place: LaunchPlace, _ network: LaunchNetwork) async throws -> DiagnosisFigure {
        let report = try await diagnosis(place, network.label).diagnose(after: .zero)
        return DiagnosisFigure(report, of: network)
    }

    /// By turns, and each of the two first every other time: so that whatever else the machine does, and
    /// what the launch before has left to do, meets both.
    func costOfDiagnosis(
        _ place: LaunchPlace, times: Int
    ) async throws -> LaunchScenario<DiagnosisCost> {
        let label = LaunchNetwork.healthy.label
        let before = try await costOfDiagnosis(times: times) { diagnoses in
            await launchAsItWas(place, label, diagnoses: diagnoses).liveMs
        }
        let after = try await costOfDiagnosis(times: times) { diagnoses in
            try await once(place, label, waitsForEnd: true, diagnoses: diagnoses).liveMs
        }
        return LaunchScenario(
            name: "with and without a diagnosis", network: LaunchNetwork.healthy.rawValue,
            holds: after.holds, bar: DiagnosisCost.bar, before: before, after: after)
    }

    private func costOfDiagnosis(
        times: Int, _ launch: (_ diagnoses: Bool) async throws -> Double?
    ) async throws -> DiagnosisCost {
        var (with, without): ([Double], [Double]) = ([], [])
        for number in 0..<times {
            for diagnoses in [number.isMultiple(of: 2), !number.isMultiple(of: 2)] {
                let time = try await launch(diagnoses) ?? .infinity
                if diagnoses { with.append(time) } else { without.append(time) }
            }
        }
        return DiagnosisCost(with: with, without: without)
    }

    private func overDeadline(_ place: LaunchPlace, _ label: String) async throws -> Double {
        let app = try self.start(place, label)
        await app.accounts.load()
        var worst = 0.0
        for number in 0..<5 {
            let start = ContinuousClock.now
            let document = app.firestore.document("stamps/s\(number)")
            _ = try? await document.getDocument(within: Self.readDeadline)
            worst = max(worst, (ContinuousClock.now - start - Self.readDeadline).milliseconds)
        }
        await app.close()
        return max(0, worst)
    }
}

/// What is noted of a launch as it goes on.
private final class NotedFigure: Sendable {
    let figure = Mutex(LaunchFigure())
}

private struct SignUpRefused: Error, CustomStringConvertible {
    var description: String { "The server refused the profile of the person who launches." }
}
