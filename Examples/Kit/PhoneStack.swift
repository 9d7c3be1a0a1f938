public import Tidemark
public import TidemarkApp

extension PhoneSettings {
    /// The parts of an app with accounts, on this phone. The signals of the system come from the phone's
    /// buttons.
    ///
    /// - Parameter feeds: Those of a user, of whom nil is nobody.
    public func stackSettings(
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed]
    ) -> StackSettings {
        var settings = StackSettings(
            folder: folder, projectID: project, accounts: .local(accounts),
            firestore: firestoreSettings(), feeds: feeds)
        settings.signals = .none
        return settings
    }
}

extension Launch {
    /// Starts, and passes on what the launch shows until the task is cancelled or the launch is closed.
    ///
    /// - Parameter changed: Called with the machine now and after each of its steps.
    public func start(
        _ changed: @escaping @Sendable (LaunchMachine) -> Void
    ) -> Task<Void, Never> {
        let machines = machines
        let watching = Task { for await machine in machines { changed(machine) } }
        start()
        return watching
    }
}

extension Screen.State {
    /// Of a feed's rows.
    ///
    /// - Parameter hasRows: Whether some are shown while a sync has failed; without any, the screen
    ///   offers the control `refresh`.
    public init(_ phase: FeedPhase, hasRows: Bool) {
        self =
            switch phase {
            case .loading: .loading
            case .fresh: .fresh
            case .stale(let age): .stale(age: age?.seconds, reason: "Looking for news.")
            case .failed(let error):
                hasRows
                    ? .stale(age: nil, reason: error.message)
                    : .failed(reason: error.message, wayOut: "refresh")
            }
    }
}

extension Duration {
    public var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
