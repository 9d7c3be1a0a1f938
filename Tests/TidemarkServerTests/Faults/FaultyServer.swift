import TidemarkModel
import TidemarkServer
import TidemarkTesting

/// A server behind a transport with faults, in one thread and virtual time.
final class FaultyServer {
    let server: TestServer
    let scheduler = VirtualScheduler()
    let transport: FaultyTransport

    init(_ rules: String..., seed: UInt64 = 0) throws {
        server = try TestServer()
        transport = FaultyTransport(server.server, scheduler.faultEnvironment(seed: seed))
        try transport.order(rules.map { try FaultRule($0) })
    }

    /// Advances the time and runs the server until no work is left.
    func run(for duration: Duration = .zero) {
        for step in [Duration.zero, .zero, duration, .zero, .zero] {
            scheduler.advance(by: step)
            server.machine.run()
        }
        scheduler.advance(by: .zero)
    }

    func call(_ request: Request, timeout: Duration? = nil) -> FaultyCall {
        let call = FaultyCall()
        var context = server.context("app")
        context.timeout = timeout
        let heard = call.heard
        call.handle = transport.call(request, context) { heard.receive($0) }
        run()
        return call
    }

    func commit(_ mutations: Mutation...) -> FaultyCall {
        call(.commit(CommitRequest(mutations: mutations)))
    }

    func listen() -> FaultyListen { FaultyListen(self) }
}

final class FaultyCall {
    let heard = Heard<Reply>()
    var handle: (any CancellableCall)?
}

final class FaultyListen {
    let world: FaultyServer
    let heard = Heard<ListenResponse>()
    let stream: any RequestStream<ListenRequest>

    init(_ world: FaultyServer) {
        self.world = world
        let heard = heard
        stream = world.transport.listen(world.server.context("app")) { heard.receive($0) }
        world.run()
    }

    func add(_ target: ListenTarget) -> [ListenResponse] {
        stream.send(.add(target, labels: [:]))
        return take()
    }

    func take(after duration: Duration = .zero) -> [ListenResponse] {
        world.run(for: duration)
        return heard.take()
    }
}
