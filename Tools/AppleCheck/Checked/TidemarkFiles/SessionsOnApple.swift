#if os(Linux)
    // Declarations of Foundation that Linux lacks.
    import FoundationNetworking
    import Synchronization

    /// The identifiers of the background configurations that were made.
    let stubBackgroundIdentifiers = Mutex<[String]>([])

    extension URLSessionConfiguration {
        /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/background(withidentifier:)
        class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
            stubBackgroundIdentifiers.withLock { $0.append(identifier) }
            return .ephemeral
        }

        /// https://developer.apple.com/documentation/foundation/urlsessionconfiguration/sessionsendslaunchevents
        var sessionSendsLaunchEvents: Bool {
            get { true }
            set { precondition(newValue, "the system would not launch the app") }
        }
    }
#endif
