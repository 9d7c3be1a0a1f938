#if canImport(os)
    public import os

    extension LogSink {
        /// The system's log, for Console and for reports of testers.
        ///
        /// An error is logged as a fault with private text, because it can name fields and
        /// documents. Lines that ``Firestore/enableLogging(_:)`` enables contain no data of a user,
        /// and are public.
        public static func system(_ logger: Logger) -> LogSink {
            LogSink { line in
                switch line.level {
                case .debug: logger.debug("\(line.text, privacy: .public)")
                case .advice: logger.notice("\(line.text, privacy: .public)")
                case .fault: logger.fault("\(line.text, privacy: .private)")
                }
            }
        }
    }
#endif
