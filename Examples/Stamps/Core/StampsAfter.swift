public import ExampleKit
import Foundation
import Synchronization
import Tidemark
public import TidemarkApp
public import TidemarkFiles
public import TidemarkImages

/// The app on Tidemark. It shows the device's data before it sends a request, and adds everything
/// else when it arrives.
public final class StampsAfter: PhoneApp {
    private struct State {
        var launch: Launch?
        /// The user whose feed is watched.
        var user: UserID?
        /// The user whose profile is watched.
        var profileOf: UserID?
        /// Requests the rank until it is known.
        var counting: Task<Void, Never>?
        /// The number of photos that the user has chosen.
        var chosenPhotos = 0
    }

    private let phone: PhoneEnvironment
    private let stack: TidemarkStack
    private let shown: ScreenModel<StampsModel>
    private let tasks = AppTasks()
    /// The photos of added stamps; nil if the phone has no Storage.
    private let photos: StampPhotos?
    /// The pictures; nil if the example has none.
    private let pictures: StampPictures?
    private let state = Mutex(State())

    public var screens: AsyncStream<Screen> { shown.screens }

    public convenience init(_ phone: PhoneEnvironment) throws {
        try self.init(phone, try TidemarkStack(Self.settings(phone.settings)))
    }

    /// Makes the app of a stack, in which a view signs the user in.
    ///
    /// - Parameters:
    ///   - phone: The inputs of the app. Its user is not used.
    ///   - stack: The app's data, of ``settings(_:)``.
    public init(_ phone: PhoneEnvironment, _ stack: TidemarkStack) throws {
        self.phone = phone
        self.stack = stack
        let photos = AppPhotos(stack.firestore, phone.settings)
        var model = StampsModel()
        model.canAdd = photos != nil
        shown = ScreenModel(model, now: phone.now) { $0.screen(now: $1) }
        self.photos = photos.map { StampPhotos(photos: $0, firestore: stack.firestore) }
        pictures =
            phone.settings.pictures == nil && photos == nil
            ? nil
            : try StampPictures(
                folder: phone.settings.folder + "/pictures", address: phone.settings.pictures,
                photos: photos, of: stack.firestore.collection(Paths.stamps))
        let launch = stack.launch(
            StackSettings.Stages(
                showContent: { [weak self] user, _ in await self?.showContent(of: user) },
                // This app has no onboarding: an account without a profile gets one.
                beginSignUp: { jobs, account, step in
                    guard account != nil else { return }
                    await jobs.completeProfile(
                        ["name": .string("Collector"), Paths.total: .integer(0)], step: step)
                },
                runBackground: { [weak self] in await self?.diagnose() }))
        state.withLock { $0.launch = launch }
        watchPhotos()
        guard let folder = phone.settings.oldStore else {
            start(launch)
            return
        }
        tasks.begin(self) { app in
            await app.takeOver(URL(fileURLWithPath: folder))
            app.start(launch)
        }
    }

    private func start(_ launch: Launch) {
        tasks.add(launch.start { [weak self] in self?.launchChanged($0) })
    }

    /// Takes over what FirebaseFirestore has left on this device. Returns when the first screen is
    /// in the cache, before the feed opens; the rest follows, and then the folder is removed.
    private func takeOver(_ folder: URL) async {
        guard case .signedIn(let user) = await stack.identity.load() else { return }
        let stamps = stack.firestore.collection(Paths.stamps)
            .order(by: Paths.created, descending: true)
        let takeOver = try? await stack.firestore.takeOver(
            folder, user: user.text, documents: .all, first: [stamps])
        tasks.begin(self) { _ in
            let outcome = try? await takeOver?.outcome()
            if outcome?.mayRemove == true { try? FirebaseStore.remove(folder) }
        }
    }

    /// Returns the settings of files, accounts, Firestore and feed, for a played phone.
    public static func settings(_ phone: PhoneSettings) -> StackSettings {
        phone.stackSettings { firestore, user in user == nil ? [] : [try feed(firestore)] }
    }

    /// Returns the settings of an app that Xcode runs.
    public static func settings(_ services: PhoneServices) -> StackSettings {
        services.stackSettings { firestore, user in user == nil ? [] : [try feed(firestore)] }
    }

    private static func feed(_ firestore: Firestore) throws -> Feed {
        try Feed(
            FeedDefinition(
                query: firestore.collection(Paths.stamps), itemTime: Paths.created,
                way: .changeTime(Paths.updated, deletedField: Paths.deleted),
                window: Paths.window))
    }

    // MARK: Launch states

    private func showContent(of user: UserID?) async {
        if let user { watchFeed(of: user) }
        state.withLock { $0.launch }?.contentShown()
    }

    private func launchChanged(_ machine: LaunchMachine) {
        let screen = machine.screen
        if case .profileMissing = machine.state {
            state.withLock { $0.launch }?.perform(.submit)
        }
        shown.change { model in
            model.message = screen.message
            model.actions = screen.actions.compactMap(Self.control)
            // The message says that the server does not answer, so the figures stop loading.
            if screen.message != nil { model.giveUpFigures() }
            switch screen.content {
            case .nothing, .onboarding: model.place = .opening
            case .local(.some): model.place = .stamps
            case .local(nil), .signIn: model.place = .signIn
            }
        }
        if case .local(let user?) = screen.content { watchFeed(of: user) }
        // A call before the session is loaded would be sent without a token.
        switch machine.state {
        case .signedIn(let user), .profileReady(let user): watchProfile(of: user)
        case .live(let user):
            watchProfile(of: user)
            countRank(of: user)
        default: break
        }
    }

    private static func control(_ action: LaunchAction) -> Control? {
        switch action {
        case .tryAgain: Control("tryAgain", "Try again", kind: .button(isMain: true))
        case .signInAgain: Control("signInAgain", "Sign in again")
        case .resumeOnboarding, .beginSignUp, .goTo, .submit, .giveUp: nil
        }
    }

    private func watchFeed(of user: UserID) {
        guard state.withLock({ $0.user.exchange(user) }),
            let feed = try? stack.feeds(of: user).first
        else { return }
        tasks.watch(TypedFeed(of: Stamp.self, feed).states, for: self) { $0.show($1) }
    }

    /// Shows the device's profile and rank, and then each change of the profile.
    private func watchProfile(of user: UserID) {
        guard state.withLock({ $0.profileOf.exchange(user) }) else { return }
        let profile = stack.firestore.collection(Paths.users).document(user.text)
        tasks.watch(profile.values(as: Collector.self), for: self) { $0.show($1) }
        showLastRank(of: user)
    }

    private func show(_ feed: TypedFeedState<Stamp>) {
        let lines = feed.items.map {
            StampsModel.Line(
                id: $0.item.document.documentID, stamp: $0.value,
                isPending: $0.hasPendingWrites)
        }
        shown.change { model in
            model.lines = lines
            model.state = Screen.State(feed.phase, hasRows: !lines.isEmpty)
        }
        loadPictures()
    }

    private func loadPictures() {
        pictures?.load(shown.value.lines.prefix(Paths.onScreen)) { [weak self] id in
            self?.shown.change { $0.pictures.insert(id) }
        }
    }

    private func show(_ profile: DocumentState<Collector>) {
        shown.change { model in
            switch profile {
            case .unknown: break
            case .missing: model.profile = .unknown
            case .value(let collector):
                // The state line shows the age of the profile.
                model.name = collector.name
                model.profile = .known("\(collector.totalStamps)", isFresh: true)
            }
        }
    }

    /// Shows the last rank from disk, without a request.
    private func showLastRank(of user: UserID) {
        let users = stack.firestore.collection(Paths.users)
        tasks.begin(self) { app in
            let last = try? await users.lastRank(of: user.text, by: Paths.total)
            guard let last else { return }
            app.shown.change {
                if $0.rank == .loading { $0.rank = .known("\(last.position)", isFresh: false) }
            }
        }
    }

    /// Requests the rank, which the server counts, once per launch: a read for each 1,000 users
    /// with more stamps. The profile's listener has the user's own number.
    private func countRank(of user: UserID, again: Bool = false) {
        let users = stack.firestore.collection(Paths.users)
        let patience = phone.patience
        state.withLock { state in
            let isKnown =
                if case .known(_, isFresh: true) = shown.value.rank { true } else { false }
            if !again, isKnown || state.counting != nil { return }
            state.counting?.cancel()
            state.counting = Task { [weak self] in
                await Self.waitForListener(of: users.document(user.text))
                let rank = try? await users.rank(
                    of: user.text, by: Paths.total, within: patience)
                if Task.isCancelled { return }
                self?.show(rank)
                self?.state.withLock { $0.counting = nil }
            }
        }
    }

    /// Waits until the server has answered the listener of the profile. Before that, the rank would
    /// read the profile a second time.
    private static func waitForListener(of profile: DocumentReference) async {
        do {
            for try await snapshot in profile.snapshots(includeMetadataChanges: true)
            where !snapshot.metadata.isFromCache { return }
        } catch {}  // The screen shows the error of the profile's own listener.
    }

    /// - Parameter rank: The rank; nil if the server did not answer and the device has none.
    private func show(_ rank: Rank?) {
        shown.change { model in
            if let rank {
                model.rank = .known("\(rank.position)", isFresh: rank.isFresh)
            } else if model.rank == .loading {
                model.rank = .unknown
            }
        }
    }

    private func diagnose() async {
        let parts = phone.settings.firestore.split(separator: ":")
        guard phone.settings.diagnoses, parts.count == 2, let port = Int(parts[1]) else { return }
        var doctor = Doctor(
            DiagnosisTarget(
                host: String(parts[0]), port: port,
                usesTLS: phone.settings.production != nil, project: phone.settings.project))
        doctor.label = phone.settings.label
        guard let report = try? await doctor.diagnose() else { return }
        shown.change { $0.connection = report.verdict.message }
    }

    /// Returns the picture of a row for a view; nil while it is not loaded. Never waits.
    public func picture(of row: String) -> TidemarkImages.Picture? {
        let line = shown.value.lines.first { $0.id == row }
        return line.flatMap { pictures?.picture(of: $0) }
    }

    // MARK: Photos

    /// Sends the photos of earlier processes too.
    private func watchPhotos() {
        guard let photos else { return }
        tasks.begin(self) { app in
            await photos.photos.outbox.start()
            app.tasks.watch(await photos.updates(), for: app) { app, uploads in
                app.shown.change { $0.uploads = uploads }
            }
        }
    }

    /// Adds a stamp of the user. Returns when stamp and photo are on disk, also without a network.
    /// The stamp is shown at once, and sent when its photo is in Storage.
    public func add(_ name: String, from country: String, photo: FileUpload) async {
        guard let photos, let user = stack.identity.user else { return }
        do throws(FirestoreError) {
            let receipt = try await photos.add(
                name, from: country, photo: photo, of: user.text,
                at: Timestamp(date: phone.now()))
            shown.change { $0.problem = nil }
            follow(receipt)
        } catch { shown.change { $0.problem = error.message } }
    }

    /// Shows the reason if the server refuses a stamp. Its photo is then deleted.
    private func follow(_ receipt: WriteReceipt?) {
        tasks.add(
            Task { [weak self] in
                do throws(FirestoreError) { try await receipt?.acknowledged() } catch {
                    // The user has given up the stamp with its photo.
                    if error.code == .cancelled { return }
                    self?.shown.change { $0.problem = error.message }
                }
            })
    }

    /// Sends the photos again that Storage has refused, or discards them with their stamps.
    private func settlePhotos(isRetried: Bool) async {
        let refused = shown.value.uploads.values.filter(\.isRefused)
        do throws(FirestoreError) {
            try await photos?.settle(refused, isRetried: isRetried)
        } catch { shown.change { $0.problem = error.message } }
    }

    // MARK: User actions

    public func tap(_ id: String, _ text: String) async {
        let launch = state.withLock { $0.launch }
        switch id {
        case "tryAgain": launch?.perform(.tryAgain)
        case "signInAgain": launch?.perform(.signInAgain)
        case "signIn":
            let (accounts, user) = (stack.accounts, phone.settings.user)
            Task { [weak self] in
                do throws(AccountError) {
                    _ = try await accounts?.signIn(email: user.email, password: user.password)
                } catch {
                    self?.shown.change {
                        $0.state = .failed(reason: error.message, wayOut: "signIn")
                    }
                }
            }
        case "refresh":
            let feed = stack.feeds.first
            Task { _ = try? await feed?.sync() }
            if let user = state.withLock({ $0.user }) { countRank(of: user, again: true) }
        case "add": await addChosen(text)
        case "retryPhotos": await settlePhotos(isRetried: true)
        case "discardPhotos": await settlePhotos(isRetried: false)
        default: break
        }
    }

    /// Adds a stamp with the next photo that the user has taken.
    private func addChosen(_ text: String) async {
        guard let (name, country) = Stamp.typed(text) else { return }
        let number = state.withLock { state in
            defer { state.chosenPhotos += 1 }
            return state.chosenPhotos
        }
        guard let photo = phone.settings.photo(after: number) else { return }
        await add(name, from: country, photo: FileUpload(photo))
    }

    public func readPlan() async -> [String] {
        guard let plan = await stack.feeds.first?.plan else { return ["Sign in."] }
        return [
            "Show the newest \(Paths.window) stamps from disk: no reads.",
            "\(plan.reason) At least \(plan.prediction.atLeast) reads.",
            "Read the profile if it has changed: at most 1 read.",
            "Count the users with more stamps: 1 read for each 1,000.",
        ]
    }

    public func networkMayBeBack() async {
        loadPictures()
        await stack.signal(.networkIsBack)
    }

    public func clockChanged() async { shown.change { _ in } }

    public func close() async {
        let (launch, counting) = state.withLock { ($0.launch, $0.counting) }
        launch?.close()
        counting?.cancel()
        tasks.cancel()
        pictures?.close()
        await photos?.photos.outbox.stop()
        await stack.close()
        shown.finish()
    }
}
