package import ExampleKit

/// One use of an app: its process from launch to end, and the screens that it showed.
package struct PhoneUse: Sendable {
    /// A screen, with the time in milliseconds from the request of the process until the screen was
    /// shown.
    package struct ShownScreen: Sendable {
        package let screen: Screen
        package let ms: Double

        package init(_ screen: Screen, _ ms: Double) { (self.screen, self.ms) = (screen, ms) }
    }

    /// The user's next action after a screen.
    package enum Next: Sendable {
        case wait
        case tap(String, text: String = "")
        /// Ends the app normally.
        case close
        /// Kills the app, like `kill -9`.
        case kill
        /// Kills the app after the user has looked at the screen for this time.
        case killAfter(Duration)
    }

    /// The time in milliseconds until the app's `init` began, which the system and the program took
    /// to start; nil if it never began.
    package var begins: Double?
    package var screens: [ShownScreen] = []
    /// The names of the reached steps of a sign-up.
    package var reached: [String] = []
    /// True if the user ended the app; false if the time ran out.
    package var isFinished = false

    package init() {}

    /// Plays the use, and returns when its process has ended.
    ///
    /// - Parameters:
    ///   - app: The example's name.
    ///   - clock: The time by which the phone's clock is ahead, in seconds.
    ///   - killAt: The step of a sign-up at which the process kills itself; 0 for none.
    ///   - patience: The maximum duration, after which the process is killed.
    ///   - next: Returns the user's next action after each screen.
    package static func play(
        _ app: String, side: PhoneSide, settings: PhoneSettings, clock: Double = 0,
        killAt: Int = 0, patience: Duration, next: (PhoneUse) -> Next
    ) async throws -> PhoneUse {
        let phone = PhoneProcess(
            app: app, side: side, settings: settings, clock: clock, killAt: killAt)
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
                use.screens.append(ShownScreen(screen, ms))
                use.follow(next(use), on: phone)
            }
        }
        deadline.cancel()
        return use
    }

    private mutating func follow(_ next: Next, on phone: PhoneProcess) {
        switch next {
        case .wait: return
        case .tap(let id, let text): return phone.notify(.tap(id: id, text: text))
        case .close: phone.notify(.close)
        case .kill: phone.kill9()
        case .killAfter(let time):
            Task {
                try await Task.sleep(for: time)
                phone.kill9()
            }
        }
        isFinished = true
    }

    /// Returns the time of the first screen for which `holds` is true; nil if there was none.
    package func first(_ holds: (Screen) -> Bool) -> Double? {
        screens.first { holds($0.screen) }?.ms
    }

    package var last: Screen? { screens.last?.screen }
}
