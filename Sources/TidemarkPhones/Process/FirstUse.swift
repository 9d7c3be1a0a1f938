package import ExampleKit

/// Runs an example app on a healthy network until its first screen is complete.
package enum FirstUse {
    /// - Returns: True if the screen was complete before `patience` ended.
    @discardableResult package static func play(
        _ example: Example, side: PhoneSide, settings: PhoneSettings, clock: Double = 0,
        patience: Duration
    ) async throws -> Bool {
        var hasSignedIn = false
        let use = try await PhoneUse.play(
            example.name, side: side, settings: settings, clock: clock, patience: patience
        ) { use in
            guard let screen = use.last else { return .wait }
            if isComplete(screen) { return .close }
            if hasSignedIn || !screen.controls.contains(where: { $0.id == "signIn" }) {
                return .wait
            }
            hasSignedIn = true
            return .tap("signIn")
        }
        return use.isFinished
    }

    private static func isComplete(_ screen: Screen) -> Bool {
        let rows = screen.sections.flatMap(\.rows)
        let isWaiting = rows.contains { $0.kind == .skeleton || $0.picture?.isLoaded == false }
        return screen.hasContent && !isWaiting
            && (screen.state == .fresh || screen.state == .quiet)
    }
}
