#if canImport(os)
    public import os

    extension LogSink {
        /// The system's log, for Console and for reports of testers.
        ///
        /// What goes wrong is a fault, whose text is private: it may name fields and documents. What is
        /// logged after ``Firestore/enableLogging(_:)`` names nothing of a person, and is public.
        public static func system(_ logger: Logger) -> LogSink {
            LogSink { line in
                switch line.level {
                case .debug: logger.debug("\(line.text, privacy: .public)")
                case .fault: logger.fault("\(line.text, privacy: .private)")
                }
            }
        }
    }
#endif
