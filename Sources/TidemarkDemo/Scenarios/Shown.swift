import Observation

/// Waits until the models of a screen fulfil a condition. The condition is evaluated again after a
/// change of a value that it used, as a view is drawn again, so the measured time is the time that
/// the user sees.
///
/// - Throws: `CancellationError` if the task is cancelled.
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
