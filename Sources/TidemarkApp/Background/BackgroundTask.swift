#if canImport(BackgroundTasks) && !os(macOS)
    import BackgroundTasks
    import Foundation

    /// A task of the system's, by its identifier in `BGTaskSchedulerPermittedIdentifiers` of the app.
    public struct BackgroundTask: Sendable {
        public enum Kind: Hashable, Sendable {
            /// Short, several times a day: for what the person looks at next.
            case refresh
            /// Minutes, while nobody uses the device: for history.
            case processing(needsPower: Bool)
        }

        private let identifier: String
        private let kind: Kind
        private let interval: Duration
        private let time: Duration

        /// - Parameters:
        ///   - identifier: As the app's Info.plist lists it.
        ///   - kind: What for.
        ///   - interval: Not sooner again; when really, the system decides.
        ///   - time: What the work may take; the system may end it before.
        public init(_ identifier: String, _ kind: Kind, every interval: Duration, time: Duration) {
            self.identifier = identifier
            self.kind = kind
            self.interval = interval
            self.time = time
        }

        /// Tells the system what to do. Once, before the app has finished its launch.
        ///
        /// - Returns: False when Info.plist does not list the identifier.
        @discardableResult
        public func register(_ work: @escaping @Sendable () -> BackgroundWork) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                try? schedule()
                let end = TaskEnd(task)
                let running = Task { await end.tell(work().run(for: time).isComplete) }
                task.expirationHandler = { running.cancel() }
            }
        }

        /// Asks for the next one: when the app goes to the background. Each one that runs asks for its next.
        ///
        /// - Throws: `BGTaskScheduler.Error`, such as where the person has turned it off.
        public func schedule() throws {
            let request: BGTaskRequest
            switch kind {
            case .refresh: request = BGAppRefreshTaskRequest(identifier: identifier)
            case .processing(let needsPower):
                let processing = BGProcessingTaskRequest(identifier: identifier)
                processing.requiresNetworkConnectivity = true
                processing.requiresExternalPower = needsPower
                request = processing
            }
            let seconds = Double(interval.components.seconds)
            request.earliestBeginDate = Date(timeIntervalSinceNow: seconds)
            try BGTaskScheduler.shared.submit(request)
        }
    }

    // @unchecked: only its end is told, once, which any thread may do.
    private final class TaskEnd: @unchecked Sendable {
        private let task: BGTask
        init(_ task: BGTask) { self.task = task }
        func tell(_ isDone: Bool) { task.setTaskCompleted(success: isDone) }
    }
#endif
