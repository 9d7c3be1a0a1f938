package import ExampleKit

/// One use of an app: its process from its launch to its end, and what it showed meanwhile.
package struct PhoneUse: Sendable {
    /// A screen, and how many milliseconds after its process was asked for it was there.
    package struct Sight: Sendable {
        package let screen: Screen
        package let ms: Double

        package init(_ screen: Screen, _ ms: Double) { (self.screen, self.ms) = (screen, ms) }
    }

    /// What the person does, having seen a screen.
    package enum Next: Sendable {
        case wait
        case tap(String, text: String = "")
        /// Ends the app in good order.
        case close
        /// As `kill -9`.
        case kill
        /// The same, when they have looked at it for so long.
        case killAfter(Duration)
    }

    /// When the app's `init` began, in milliseconds; what is before it, the system and the program took to
    /// start. Nil where it never did.
    package var begins: Double?
    package var sights: [Sight] = []
    /// The steps of a sign-up, by their names.
    package var reached: [String] = []
    /// Whether the person ended it, and not the lack of time.
    package var isFinished = false

    package init() {}

    /// Plays it, and returns when its process has ended.
    ///
    /// - Parameters:
    ///   - app: The example's name.
    ///   - clock: Seconds that the phone's clock is ahead.
    ///   - killAt: The step of a sign-up at which the process kills itself; 0 for none.
    ///   - patience: How long it may take; then it is killed.
    ///   - next: Asked after each screen.
    package static func play(
        _ app: String, _ side: PhoneSide, _ settings: PhoneSettings, clock: Double = 0,
        killAt: Int = 0, patience: Duration, next: (PhoneUse) -> Next
    ) async throws -> PhoneUse {
        let phone = PhoneProcess(app, side, settings, clock: clock, killAt: killAt)
        return try await play(phone, patience: patience, next: next)
    }

    static func play(
        _ phone: PhoneProcess, patience: Duration, next: (PhoneUse) -> Next
    ) async throws -> PhoneUse {
        let news = try await phone.start()
        let deadline = Task {
            try await Task.sleep(for: patience)
            phone.kill9()
        }
        var use = PhoneUse()
        for await told in news {
            switch told {
            case .begins(let ms): use.begins = ms
            case .reached(let step): use.reached.append(step)
            case .plan: break
            case .screen(let screen, let ms):
                if use.isFinished { continue }
                use.sights.append(Sight(screen, ms))
                use.follow(next(use), on: phone)
            }
        }
        deadline.cancel()
        return use
    }

    private mutating func follow(_ next: Next, on phone: PhoneProcess) {
        switch next {
        case .wait: return
        case .tap(let id, let text): return phone.tell(.tap(id: id, text: text))
        case .close: phone.tell(.close)
        case .kill: phone.kill9()
        case .killAfter(let time):
            Task {
                try await Task.sleep(for: time)
                phone.kill9()
            }
        }
        isFinished = true
    }

    /// When the first screen was there of which this holds; nil for never.
    package func first(_ holds: (Screen) -> Bool) -> Double? {
        sights.first { holds($0.screen) }?.ms
    }

    package var last: Screen? { sights.last?.screen }
}
