public import Observation

/// One picture for a view to show, in the form in which its screen draws pictures, as a `CGImage`: what
/// `TidemarkImage` shows.
///
/// While a view is there, a picture that could not be loaded for want of a network or of a server is
/// asked for again.
@MainActor @Observable
public final class PictureModel<Drawn> {
    /// Between two attempts, where the server names no time.
    public static var pause: Duration { .seconds(30) }

    /// Why there is no picture; nil while it is loaded. A picture that is shown already stays.
    public private(set) var error: PictureError?
    private var loaded: Loaded?

    /// What was drawn without waiting, so that it is drawn once.
    @ObservationIgnored private var atOnce: Loaded?
    @ObservationIgnored private let draw: (Picture) -> Drawn?
    @ObservationIgnored private let clock: any Clock<Duration>

    private struct Loaded {
        let request: PictureRequest
        let drawn: Drawn
    }

    /// - Parameters:
    ///   - clock: Measures ``pause``.
    ///   - draw: Makes of a picture what is shown; nil where there is no memory for it.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), draw: @escaping (Picture) -> Drawn?
    ) {
        self.clock = clock
        self.draw = draw
    }

    /// What to show for a request now: the picture itself, or the same one at another size until it is
    /// loaded. Nil for a placeholder. Never waits.
    public func drawn(for request: PictureRequest?, from source: (any PictureSource)?) -> Drawn? {
        guard let request else { return nil }
        if let loaded, loaded.request.sized == request.sized { return loaded.drawn }
        if let atOnce, atOnce.request.sized == request.sized { return atOnce.drawn }
        if let picture = source?.cached(request), let drawn = draw(picture) {
            atOnce = Loaded(request: request, drawn: drawn)
            return drawn
        }
        return [loaded, atOnce].compactMap(\.self).first { $0.request.id == request.id }?.drawn
    }

    /// Loads a picture. Returns when it is there, when it cannot be had, or when the task is cancelled.
    public func load(_ request: PictureRequest?, from source: (any PictureSource)?) async {
        error = nil
        guard let request, let source else { return }
        while !Task.isCancelled {
            do {
                let answer = try await source.picture(request)
                if Task.isCancelled { return }
                show(answer, request)
                return
            } catch {
                guard !Task.isCancelled, let error = error as? PictureError else { return }
                self.error = error
                guard let pause = Self.pause(after: error) else { return }
                try? await clock.sleep(for: pause)
            }
        }
    }

    private func show(_ answer: LoadedPicture, _ request: PictureRequest) {
        error = nil
        if let atOnce, atOnce.request.sized == request.sized, answer.origin == .memory {
            loaded = atOnce
        } else if let drawn = draw(answer.picture) {
            loaded = Loaded(request: request, drawn: drawn)
        }
        atOnce = nil
    }

    /// How long to wait before another attempt; nil for none.
    private static func pause(after error: PictureError) -> Duration? {
        switch error.recovery {
        case .waitForNetwork: pause
        case .retry(let delay): delay ?? pause
        case .freeStorage, .showPlaceholder: nil
        }
    }
}
