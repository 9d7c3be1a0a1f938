public import Observation

/// A launch that a view can bind to: the contents of the screen, and the first content of the
/// device.
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
    /// The device's content; nil until it has been read.
    public private(set) var content: Content?
    /// True if a skeleton must be drawn instead of the content.
    public var isSkeleton: Bool { content == nil }
    /// True if the shown content is also being updated.
    public var isLive: Bool { if case .live = state { true } else { false } }
    /// The time from the start to the first content; nil before that.
    public private(set) var firstContentAfter: Duration?

    /// The launch of the model, which a ``TidemarkStack`` can follow.
    @ObservationIgnored public let launch: Launch
    @ObservationIgnored private var watching: Task<Void, Never>?
    @ObservationIgnored private let clock = ContinuousClock()
    @ObservationIgnored private var started: ContinuousClock.Instant?

    /// - Parameters:
    ///   - parts: The functions that the steps of the launch call.
    ///   - budgets: The waiting time of each state before the user sees a message.
    ///   - onTransition: A function for metrics and logs, called at every change of the state.
    ///   - content: Reads the first content from the device, without a server: a feed's
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

    /// Starts the launch. A second call has no effect.
    public func start() {
        if started == nil { started = clock.now }
        launch.start()
    }

    /// Performs the user's choice from ``LaunchScreen/actions``.
    public func perform(_ action: LaunchAction) { launch.perform(action) }

    /// Reports that the device was unlocked.
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

/// Refers to the model, for a part that is created before it.
@MainActor
private final class ModelBox<Content: Sendable> {
    weak var model: LaunchModel<Content>?

    nonisolated init() {}

    func show(_ content: Content) { model?.show(content) }
}
