#if os(Linux)
    // Declarations of Foundation that Linux lacks.
    import FoundationNetworking
    import Synchronization

    /// The identifiers of the background configurations that were made.
    let stubBackgroundIdentifiers = Mutex<[String]>([])

    extension URLSessionConfiguration {
        /// Apple's documentation: URLSessionConfiguration, `background(withIdentifier:)`.
        class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
            stubBackgroundIdentifiers.withLock { $0.append(identifier) }
            return .ephemeral
        }

        /// Apple's documentation: URLSessionConfiguration, `sessionSendsLaunchEvents`.
        var sessionSendsLaunchEvents: Bool {
            get { true }
            set { precondition(newValue, "the system would not launch the app") }
        }
    }
#endif
