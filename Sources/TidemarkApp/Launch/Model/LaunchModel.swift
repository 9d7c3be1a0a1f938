public import Observation

/// A launch for a view to bind to: what is on the screen, and the first content of the device.
///
/// ```swift
/// let launch = LaunchModel(parts) { user in await feeds.openFromDisk(user) }
/// launch.start()
/// switch launch.screen.content {
/// case .nothing: showSplash()
/// case .local: showFeed(launch.content)
/// case .signIn: showSignIn()
/// case .onboarding(let step): showOnboarding(step)
/// }
/// ```
@MainActor @Observable
public final class LaunchModel<Content: Sendable> {
    public private(set) var state = LaunchMachine.State.cold
    public private(set) var screen = LaunchMachine().screen
    /// What the device held; nil until it has been read.
    public private(set) var content: Content?
    /// Whether a skeleton is to be drawn in the place of the content.
    public var isSkeleton: Bool { content == nil }
    /// Whether what is shown is also being brought up to date.
    public var isLive: Bool { if case .live = state { true } else { false } }
    /// From the start to the first content; nil before it is there.
    public private(set) var firstContentAfter: Duration?

    @ObservationIgnored private let launch: Launch
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private let clock = ContinuousClock()
    @ObservationIgnored private var started: ContinuousClock.Instant?

    /// - Parameters:
    ///   - parts: What each step of the launch calls.
    ///   - budgets: How long each state waits before the person is told.
    ///   - onTransition: Called at every change of the state: for metrics and logs.
    ///   - content: Reads the first content from the device, and asks no server: a feed's
    ///     ``Feed/open()``.
    public convenience init(
        _ parts: LaunchParts, budgets: LaunchMachine.Budgets = .init(),
        onTransition: (@Sendable (Launch.Transition) -> Void)? = nil,
        content: @escaping @Sendable (UserID?) async -> Content
    ) {
        let box = ModelBox<Content>()
        var parts = parts
        parts.showContent = { user in
            let first = await content(user)
            await box.show(first)
        }
        self.init(Launch(parts, budgets: budgets, onTransition: onTransition), box)
    }

    private init(_ launch: Launch, _ box: ModelBox<Content>) {
        self.launch = launch
        box.model = self
        let machines = launch.machines
        watching = Task { [weak self] in
            for await machine in machines { self?.show(machine) }
        }
    }

    deinit {
        watching?.cancel()
        launch.close()
    }

    /// Begins. Called again, it does nothing.
    public func start() {
        if started == nil { started = clock.now }
        launch.start()
    }

    /// What the person has chosen of ``LaunchScreen/actions``.
    public func perform(_ action: LaunchAction) { launch.perform(action) }

    /// The device was unlocked.
    public func unlocked() { launch.unlocked() }

    private func show(_ machine: LaunchMachine) {
        state = machine.state
        screen = machine.screen
    }

    fileprivate func show(_ content: Content) {
        self.content = content
        if firstContentAfter == nil, let started {
            firstContentAfter = started.duration(to: clock.now)
        }
        launch.contentShown()
    }
}

/// The model, for a part that is made before it.
@MainActor
private final class ModelBox<Content: Sendable> {
    weak var model: LaunchModel<Content>?

    nonisolated init() {}

    func show(_ content: Content) { model?.show(content) }
}
