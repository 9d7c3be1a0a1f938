import Observation

/// Waits until the models of a screen are as sought. It looks again when something has changed that it
/// looked at, as a view is drawn again: what is measured by it is what a person sees.
///
/// - Throws: `CancellationError` when the task is cancelled.
@MainActor
func untilShown(_ isSought: @MainActor () -> Bool) async throws {
    while true {
        let (changes, input) = AsyncStream.makeStream(of: Void.self)
        let isThere = withObservationTracking {
            isSought()
        } onChange: {
            input.finish()
        }
        if isThere { return }
        for await _ in changes {}
        try Task.checkCancellation()
    }
}
