package import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// A session: its machine, the stream behind it, and the answer that waits for arrays.
final class ChannelSession: Sendable {
    private struct State {
        var machine: ChannelMachine
        var lastBack = 0
        /// The answer that has nothing to send, and where it waits.
        var waiter: (back: Int, continuation: CheckedContinuation<Void, Never>)?
        /// The task that has payloads and no room for them.
        var blocked: CheckedContinuation<Void, Never>?
        /// Maps on their way to the stream, and whether somebody gives them on.
        var arrived: [String] = []
        var isDelivering = false
        var isClosed = false
    }

    let rpc: RPCMethod
    let origin: String?
    private let stream: any ChannelStream
    /// What maps hold that came before their turn.
    private let early: BodyBudget.Share
    private let clock: @Sendable () -> Duration
    private let state: Mutex<State>

    init(
        _ rpc: RPCMethod, origin: String?, _ stream: any ChannelStream, _ early: BodyBudget.Share,
        endsWhenQuiet: Bool = false, clock: @escaping @Sendable () -> Duration
    ) {
        self.rpc = rpc
        self.early = early
        self.origin = origin
        self.stream = stream
        self.clock = clock
        state = Mutex(
            State(machine: ChannelMachine(now: clock(), endsWhenQuiet: endsWhenQuiet)))
    }

    /// True if it was ended because nothing was asked of it: it takes nothing any more.
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// Gives on what the stream says, until it ends.
    func pump() async {
        while let payloads = await stream.next() {
            for payload in payloads {
                await room()
                perform { $0.step(.payload(payload), now: $1) }
            }
        }
        perform { $0.step(.finished, now: $1) }
    }

    /// Waits while the browser has too much to take already.
    private func room() async {
        await withCheckedContinuation { continuation in
            let hasRoom = state.withLock { state in
                if !state.machine.isCrowded || state.isClosed { return true }
                state.blocked = continuation
                return false
            }
            if hasRoom { continuation.resume() }
        }
    }

    /// - Returns: The answer's text.
    /// - Throws: Where maps that came before their turn find no room.
    func forward(
        _ maps: [String], first: Int, acknowledged: Int?
    ) throws(RPCStatus) -> String {
        let bytes = maps.reduce(0) { $0 + $1.utf8.count }
        guard early.grow(by: bytes) else { throw .bodiesHeld }
        let effects = perform { machine, now in
            let before = machine.earlyBytes
            defer { early.shrink(by: bytes - (machine.earlyBytes - before)) }
            return machine.step(.maps(maps, first: first, acknowledged: acknowledged), now: now)
        }
        if effects.contains(.refuse) {
            throw RPCStatus(
                .resourceExhausted, "Too much came before what should have come first.")
        }
        return ChannelMachine.frame(state.withLock { $0.machine.status })
    }

    /// Opens an answer that carries arrays; one that was open ends.
    func openBack(acknowledged: Int, isPolling: Bool, wait: Duration) -> BackChannel {
        let id = state.withLock { state in
            state.lastBack += 1
            return state.lastBack
        }
        perform { machine, now in
            machine.step(
                .backOpened(
                    id: id, acknowledged: acknowledged, isPolling: isPolling, wait: wait), now: now)
        }
        return BackChannel(self, id)
    }

    /// The next text of an answer; nil at its end.
    fileprivate func next(_ back: Int) async -> (text: String, isLast: Bool)? {
        while true {
            let taken = state.withLock { state in
                state.isClosed ? .end : state.machine.take(back: back, now: clock())
            }
            switch taken {
            case .end: return nil
            case .frame(let text, let isLast): return (text, isLast)
            case .wait: await wait(back)
            }
        }
    }

    /// Until there may be something to take.
    private func wait(_ back: Int) async {
        await withCheckedContinuation { continuation in
            let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                // It may have come since it was looked for; and an older answer must look again.
                var copy = state.machine
                if state.isClosed || copy.take(back: back, now: clock()) != .wait {
                    return [continuation]
                }
                let old = state.waiter.take()
                state.waiter = (back, continuation)
                return old.map { [$0.continuation] } ?? []
            }
            for continuation in ready { continuation.resume() }
        }
    }

    fileprivate func lost(_ back: Int) { perform { $0.step(.backLost(id: back), now: $1) } }

    /// - Returns: Whether the session is to be dropped.
    func tick() -> Bool { perform { $0.step(.tick, now: $1) }.contains(.expire) }

    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            return [state.waiter.take()?.continuation, state.blocked.take()]
        }
        for continuation in waiting { continuation?.resume() }
        stream.cancel()
    }

    @discardableResult
    private func perform(
        _ step: (inout ChannelMachine, Duration) -> [ChannelMachine.Effect]
    ) -> [ChannelMachine.Effect] {
        let now = clock()
        let (effects, waiting) = state.withLock { state in
            let effects = step(&state.machine, now)
            var waiting: [CheckedContinuation<Void, Never>] = []
            for effect in effects {
                switch effect {
                case .deliver(let maps): state.arrived += maps
                case .wake: state.waiter.take().map { waiting.append($0.continuation) }
                case .room: state.blocked.take().map { waiting.append($0) }
                case .refuse, .expire, .end: break
                }
            }
            return (effects, waiting)
        }
        for continuation in waiting { continuation.resume() }
        if effects.contains(.end) { stream.cancel() }
        deliver()
        return effects
    }

    /// One at a time, outside the lock: the stream may answer at once.
    private func deliver() {
        while true {
            let map: String? = state.withLock { state in
                if state.isDelivering || state.arrived.isEmpty { return nil }
                state.isDelivering = true
                return state.arrived.removeFirst()
            }
            guard let map else { return }
            stream.receive(map)
            state.withLock { $0.isDelivering = false }
        }
    }
}

/// An answer that carries a session's arrays as they come.
package final class BackChannel: HTTPParts {
    private let session: ChannelSession
    private let id: Int
    private let isOver = Atomic(false)

    fileprivate init(_ session: ChannelSession, _ id: Int) {
        self.session = session
        self.id = id
    }

    package func next() async -> Data? {
        if isOver.load(ordering: .relaxed) { return nil }
        guard let (text, isLast) = await session.next(id) else { return nil }
        if isLast { isOver.store(true, ordering: .relaxed) }
        return Data(text.utf8)
    }

    package func close() { session.lost(id) }
}
