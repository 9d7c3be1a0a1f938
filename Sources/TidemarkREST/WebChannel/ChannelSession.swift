package import Foundation
import Synchronization
import TidemarkModel
import TidemarkWire

/// A session: its state machine, its stream, and the back channel that waits for arrays.
final class ChannelSession: Sendable {
    private struct State {
        var machine: ChannelMachine
        var lastBack = 0
        /// The back channel that has nothing to send, and its continuation.
        var waiter: (back: Int, continuation: CheckedContinuation<Void, Never>)?
        /// The task with a payload that waits for room.
        var blocked: CheckedContinuation<Void, Never>?
        /// The maps that wait for delivery to the stream. `isDelivering` is true while a thread
        /// delivers one.
        var arrived: [String] = []
        var isDelivering = false
        var isClosed = false
    }

    let rpc: RPCMethod
    let origin: String?
    private let stream: any ChannelStream
    /// The memory of the maps that wait for an earlier map.
    private let early: BodyBudget.Share
    private let clock: @Sendable () -> Duration
    private let state: Mutex<State>

    init(
        _ rpc: RPCMethod, origin: String?, stream: any ChannelStream, early: BodyBudget.Share,
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

    /// True if the session ended because it was quiet. It then accepts no maps.
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// Forwards the stream's payloads until the stream ends.
    func pump() async {
        while let payloads = await stream.next() {
            for payload in payloads {
                await room()
                perform { $0.step(.payload(payload), now: $1) }
            }
        }
        perform { $0.step(.finished, now: $1) }
    }

    /// Waits until the session is not full.
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
    /// - Throws: `RESOURCE_EXHAUSTED` if there is no room for maps that wait for an earlier map.
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
                .resourceExhausted, "Too many messages arrived before the first one.")
        }
        return ChannelMachine.frame(state.withLock { $0.machine.status })
    }

    /// Opens a back channel and ends the earlier one.
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

    /// Waits for the next text of a back channel.
    ///
    /// - Returns: The text; nil at the end of the answer.
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

    /// Waits until the back channel can have something to take.
    private func wait(_ back: Int) async {
        await withCheckedContinuation { continuation in
            let ready: [CheckedContinuation<Void, Never>] = state.withLock { state in
                // An array can have been added since the last check. An older back channel must
                // check again.
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

    /// - Returns: True if the session must be dropped.
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

    /// Delivers maps one after the other, outside the lock, because the stream can answer
    /// immediately.
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

/// An answer that carries a session's arrays while they are added.
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
