import ExampleKit

/// The first use of a phone, on a good network: until its first screen is complete.
enum FirstUse {
    static func play(
        _ example: Example, _ side: PhoneSide, _ settings: PhoneSettings, clock: Double,
        patience: Duration
    ) async {
        let phone = PhoneProcess(example.name, side, settings, clock: clock)
        guard let news = try? await phone.start() else { return }
        let deadline = Task {
            try await Task.sleep(for: patience)
            phone.kill9()
        }
        var hasSignedIn = false
        for await told in news {
            guard case .screen(let screen, _) = told else { continue }
            if !hasSignedIn, screen.controls.contains(where: { $0.id == "signIn" }) {
                hasSignedIn = true
                phone.tell(.tap(id: "signIn", text: ""))
            }
            if isComplete(screen) { phone.tell(.close) }
        }
        deadline.cancel()
    }

    private static func isComplete(_ screen: Screen) -> Bool {
        let isWaiting = screen.sections.contains { $0.rows.contains { $0.kind == .skeleton } }
        return screen.hasContent && !isWaiting
            && (screen.state == .fresh || screen.state == .quiet)
    }
}
