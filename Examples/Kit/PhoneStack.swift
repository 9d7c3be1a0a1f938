public import Tidemark
public import TidemarkApp

extension PhoneSettings {
    /// Returns the settings of an app with accounts. On a played phone, its buttons replace the
    /// system's signals, and files its keychain.
    ///
    /// - Parameter feeds: Returns the feeds of a user; the user is nil before signing in.
    public func stackSettings(
        feeds: @escaping @Sendable (Firestore, UserID?) throws -> [Feed]
    ) -> StackSettings {
        var settings = StackSettings(
            folder: folder, projectID: project, accounts: accountsEndpoint,
            firestore: firestoreSettings(), feeds: feeds)
        if production == nil {
            settings.signals = .none
            // The program that plays a phone is a command-line tool and has no keychain.
            settings.credentials = try? FileCredentialStore(folder: folder + "/secrets")
        }
        return settings
    }
}

extension Launch {
    /// Starts the launch, and reports its states until the task is cancelled or the launch is
    /// closed.
    ///
    /// - Parameter changed: Receives the machine now and after each of its steps.
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
    /// Makes the screen state of a feed's rows.
    ///
    /// - Parameter hasRows: True if rows are shown although a sync failed. Without rows, the screen
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
