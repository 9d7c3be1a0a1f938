import TidemarkModel

/// The listen stream. Any message shows that the server works.
struct ListenStream: Equatable, Sendable {
    enum Event: Equatable, Sendable {
        case lifecycle(StreamLifecycle.Event)
        case received
    }

    private(set) var lifecycle = StreamLifecycle(
        .init(backoff: .listenBackoff, idle: .listenIdle, healthy: .listenHealthy))

    var isOpen: Bool { lifecycle.isOpen }
    var isStarted: Bool { lifecycle.isStarted }

    mutating func step(_ event: Event) -> [StreamLifecycle.Effect] {
        switch event {
        case .lifecycle(let event): lifecycle.step(event)
        case .received: lifecycle.step(.progressed)
        }
    }
}
