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

    let folder: String

    /// What one run of the app is made of.
    private struct Parts: Sendable {
        let accounts: Accounts
        let firestore: Firestore
        let files: LaunchFiles
        let jobs: AccountJobs
        let feed: Feed

        func end() async { await firestore.terminate() }
    }

    private func start(_ place: LaunchPlace, _ label: String) throws -> Parts {
        let files = try LaunchFiles(folder: folder + "/launch")
        let accounts = Accounts(
            HTTPAccountsTransport(.local(place.accounts)),
            store: try FileCredentialStore(folder: folder + "/secrets"),
            installation: files.installation)
        let settings = FirestoreSettings(
            host: place.firestore, isSSLEnabled: false, cache: .directory(folder + "/cache"),
            user: files.lastUser?.text, label: label)
        settings.tokenProvider = accounts
        let firestore = try Firestore(projectID: DemoPlace.project, settings: settings)
        accounts.attach(firestore)
        let feed = try Feed(
            FeedDefinition(
                query: firestore.collection("stamps"), itemTime: "createdAt",
                way: .changeTime("updatedAt", deletedField: "deletedAt"), pageSize: 1_000,
                window: 50))
        let jobs = AccountJobs(accounts, profiles: FirestoreProfiles(firestore), files: files)
        return Parts(
            accounts: accounts, firestore: firestore, files: files, jobs: jobs, feed: feed)
    }

    func prepare(_ place: LaunchPlace) async throws {
        var parts = try self.start(place, "preparation")
        await parts.accounts.load()
        try await parts.jobs.signUp(
            .password(email: "ada@example.test", "correct horse battery"),
            profile: ["name": .string("Ada")])
        for await news in parts.jobs.news {
            if case .finished = news { break }
        }
        await parts.end()
        parts = try self.start(place, "preparation")
        await parts.accounts.load()
        _ = try await parts.feed.sync()
        await parts.end()
    }

    // MARK: As it was

    /// A diagnosis in the initialiser that is forced from the server, without a deadline, and the feed
    /// behind it, by the default source. When the diagnosis fails, the app goes on.
    func launchAsItWas(
        _ place: LaunchPlace, _ label: String, diagnoses: Bool = true
    ) async -> LaunchFigure {
        let found = NotedFigure()
        let start = ContinuousClock.now
        guard let parts = try? self.start(place, label) else { return LaunchFigure() }
        let work = Task {
            let users = parts.firestore.collection("users")
            let query = parts.firestore.collection("stamps")
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
        await parts.end()
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
        let parts = try self.start(place, label)
        let (feed, found) = (parts.feed, NotedFigure())
        let opened = (ContinuousClock.now - start).milliseconds
        found.figure.withLock { $0.openedMs = opened }
        let shown = AsyncStream.makeStream(of: Void.self)
        let doctor = diagnosis(place, label)
        let launchParts = LaunchParts(
            parts.accounts, parts.jobs, parts.files,
            showContent: { _ in
                // The items are there before the unread among all that is held are counted.
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
            },
            runFeeds: { _, isLive in
                while !Task.isCancelled {
                    if (try? await feed.sync()) != nil { return isLive(true) }
                    isLive(false)
                    try? await Task.sleep(for: .seconds(1))
                }
            },
            runBackground: {
                if diagnoses { _ = try? await doctor.diagnose() }
            }, beginSignUp: { _, _ in })
        let launch = Launch(launchParts)
        launch.start()
        for await _ in shown.stream {}
        launch.contentShown()
        if waitsForEnd { await watch(launch, since: start, found) }
        launch.close()
        await parts.end()
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
        let parts = try self.start(place, label)
        await parts.accounts.load()
        var worst = 0.0
        for number in 0..<5 {
            let start = ContinuousClock.now
            let document = parts.firestore.document("stamps/s\(number)")
            _ = try? await document.getDocument(within: Self.readDeadline)
            worst = max(worst, (ContinuousClock.now - start - Self.readDeadline).milliseconds)
        }
        await parts.end()
        return max(0, worst)
    }
}

/// What is noted of a launch as it goes on.
private final class NotedFigure: Sendable {
    let figure = Mutex(LaunchFigure())
}
