/// The estimate whether the server is reachable, from all its messages and silences.
///
/// A change is sent to the engine's loop, which informs the views and starts waiting work.
final class Reachability {
    private let context: EngineContext
    private var online = OnlineState()
    private var silence = ServerSilence()

    init(_ context: EngineContext) { self.context = context }

    var state: OnlineState.State { online.state }
    /// The time for which calls have had no answer.
    var silentFor: Duration { silence.duration(at: context.elapsed) }
    /// True if a read may try the server again while the state is offline.
    var mayProbe: Bool { silence.mayProbe(at: context.elapsed) }

    func step(_ event: OnlineState.Event) {
        for effect in online.step(event) {
            switch effect {
            case .schedule(let delay): context.schedule(.onlineState, after: delay)
            case .cancelTimer: context.cancelTimer(.onlineState)
            case .changed(let state): context.notify(.onlineStateChanged(state))
            }
        }
    }

    func callBegan() { silence.asked(at: context.elapsed) }

    /// Notes a message from the server on a stream.
    func heard() {
        silence.heard()
        step(.heard)
    }

    /// Notes an answer from the server to a call. Streams that wait before an attempt may start
    /// now.
    func heardByCall() {
        guard context.gate.isRunning else { return }
        let wasOffline = state == .offline
        silence.forgetProbes()
        heard()
        if wasOffline { context.notify(.serverIsBack) }
    }

    /// Notes that a call ended without reaching the server.
    func callFailed(whileStreamIsOpen: Bool) {
        silence.unreachable(at: context.elapsed, jitter: context.environment.random())
        if !whileStreamIsOpen { step(.callFailed) }
    }

    /// Forgets the silence after the system reported a changed network, so no read waits out a
    /// delay.
    func forgetSilence() {
        silence.heard()
        silence.forgetProbes()
    }
}
