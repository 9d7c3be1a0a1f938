public import Observation

/// A picture for a view, in the form in which its screen draws pictures, such as a `CGImage`.
/// `TidemarkImage` uses this model.
///
/// While the view exists, a picture that failed because the network or the server was unavailable
/// is requested again.
@MainActor @Observable
public final class PictureModel<Drawn> {
    /// The time between two attempts if the server states no time.
    public static var pause: Duration { .seconds(30) }

    /// The reason why there is no picture; nil while it is loaded. A picture that is shown already
    /// stays.
    public private(set) var error: PictureError?
    private var loaded: Loaded?

    /// The picture that was drawn without waiting, so it is drawn only once.
    @ObservationIgnored private var atOnce: Loaded?
    @ObservationIgnored private let draw: (Picture) -> Drawn?
    @ObservationIgnored private let clock: any Clock<Duration>

    private struct Loaded {
        let request: PictureRequest
        let drawn: Drawn
    }

    /// - Parameters:
    ///   - clock: Measures ``pause``.
    ///   - draw: Converts a picture into the drawn form; nil if there is no memory for it.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), draw: @escaping (Picture) -> Drawn?
    ) {
        self.clock = clock
        self.draw = draw
    }

    /// Returns the picture to show for a request now: the picture itself, or the same picture at
    /// another size until it is loaded. Nil for a placeholder. Never waits.
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

    /// Loads a picture. Returns when the picture is loaded, when it cannot be loaded, or when the
    /// task is cancelled.
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

    /// Returns the time until the next attempt; nil for no further attempt.
    private static func pause(after error: PictureError) -> Duration? {
        switch error.recovery {
        case .waitForNetwork: pause
        case .retry(let delay): delay ?? pause
        case .freeStorage, .showPlaceholder: nil
        }
    }
}
