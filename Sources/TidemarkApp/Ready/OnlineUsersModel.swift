public import Observation
import Tidemark

/// ``OnlineUsers`` that a view can bind to.
@MainActor @Observable
public final class OnlineUsersModel {
    /// The users who were seen within the list's window, the most recent first.
    public private(set) var users: [OnlineUsers.User] = []
    /// The users who were seen within ``isOnlineFor``. The list shrinks over time, without reads.
    public private(set) var online: [OnlineUsers.User] = []
    /// The phase. A view draws skeletons while it is `loading`, and a sentence if it is `empty`.
    public private(set) var phase = ListPhase.loading

    /// The duration after a sign of life in which a user counts as online.
    @ObservationIgnored public let isOnlineFor: Duration
    @ObservationIgnored private let list: OnlineUsers
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Shows the users that the device knows, and updates the list until the model is released.
    ///
    /// - Parameters:
    ///   - list: The users to show.
    ///   - isOnlineFor: The duration after a sign of life in which a user counts as online.
    ///   - period: The period at which ``online`` is computed again; positive.
    ///   - clock: The clock for the period.
    public init(
        _ list: OnlineUsers, isOnlineFor: Duration = .seconds(300),
        lookingEvery period: Duration = .seconds(30),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        precondition(period > .zero && isOnlineFor >= .zero, "time goes forward")
        self.list = list
        self.isOnlineFor = isOnlineFor
        let states = list.states
        tasks = [
            Task { [weak self] in
                await list.start()
                for await state in states { await self?.show(state) }
            },
            Task { [weak self] in
                while (try? await clock.sleep(for: period)) != nil { await self?.look() }
            },
        ]
    }

    deinit {
        for task in tasks { task.cancel() }
        let list = list
        Task { await list.stop() }
    }

    /// Updates the list now. The phase shows an error.
    public func refresh() async { _ = try? await list.refresh() }

    private func show(_ state: OnlineUsers.State) async {
        users = state.users
        phase = state.phase
        await look()
    }

    private func look() async { online = await list.online(within: isOnlineFor) }
}
