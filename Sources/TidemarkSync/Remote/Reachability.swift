/// Whether the server is thought to be reachable, from all that is heard of it and not heard.
///
/// A change is told to the engine's loop, which tells the views and starts what waits.
final class Reachability {
    private let context: EngineContext
    private var online = OnlineState()
    private var silence = ServerSilence()

    init(_ context: EngineContext) { self.context = context }

    var state: OnlineState.State { online.state }
    /// How long calls have had no answer.
    var silentFor: Duration { silence.duration(at: context.elapsed) }
    /// Whether a read may try the server again while it is offline.
    var mayProbe: Bool { silence.mayProbe(at: context.elapsed) }

    func step(_ event: OnlineState.Event) {
        for effect in online.step(event) {
            switch effect {
            case .schedule(let delay): context.schedule(.onlineState, after: delay)
            case .cancelTimer: context.cancelTimer(.onlineState)
            case .changed(let state): context.engine.handle(.onlineStateChanged(state))
            }
        }
    }

    func callBegan() { silence.asked(at: context.elapsed) }

    /// Something came from the server by a stream.
    func heard() {
        silence.heard()
        step(.heard)
    }

    /// Something came from the server by a call: streams that wait to try again need not.
    func heardByCall() {
        guard context.gate.isRunning else { return }
        let wasOffline = state == .offline
        silence.forgetProbes()
        heard()
        if wasOffline { context.engine.handle(.serverIsBack) }
    }

    /// A call ended without having reached the server.
    func callFailed(whileStreamIsOpen: Bool) {
        silence.unreachable(at: context.elapsed, jitter: context.environment.random())
        if !whileStreamIsOpen { step(.callFailed) }
    }

    /// The system says that the network changed: nobody waits out a delay.
    func forgetSilence() {
        silence.heard()
        silence.forgetProbes()
    }
}
