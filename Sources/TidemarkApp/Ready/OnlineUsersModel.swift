public import Observation
import Tidemark

/// ``OnlineUsers`` for a view to bind to.
@MainActor @Observable
public final class OnlineUsersModel {
    /// Those seen within the list's window, the one seen last first.
    public private(set) var users: [OnlineUsers.User] = []
    /// Those of them who were seen within ``isOnlineFor``: it shrinks as time goes by, at no read.
    public private(set) var online: [OnlineUsers.User] = []
    /// Skeletons while it is `loading`, a sentence when it is `empty`.
    public private(set) var phase = ListPhase.loading

    /// For how long after a sign of life somebody counts as online.
    @ObservationIgnored public let isOnlineFor: Duration
    @ObservationIgnored private let list: OnlineUsers
    @ObservationIgnored private var tasks: [Task<Void, Never>] = []

    /// Shows whom the device knows of, and keeps the list right while the model is there.
    ///
    /// - Parameters:
    ///   - list: The users to show.
    ///   - isOnlineFor: For how long after a sign of life somebody counts as online.
    ///   - period: How often it is looked who is no longer online; positive.
    ///   - clock: What waits in between.
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

    /// Brings it up to date now; what fails is the phase.
    public func refresh() async { _ = try? await list.refresh() }

    private func show(_ state: OnlineUsers.State) async {
        users = state.users
        phase = state.phase
        await look()
    }

    private func look() async { online = await list.online(within: isOnlineFor) }
}
