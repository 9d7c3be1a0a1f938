#if canImport(BackgroundTasks) && !os(macOS)
    import BackgroundTasks
    import Foundation

    /// A task of the system, by its identifier in the app's `BGTaskSchedulerPermittedIdentifiers`.
    public struct BackgroundTask: Sendable {
        public enum Kind: Hashable, Sendable {
            /// Short, several times a day: for the data that the user sees next.
            case refresh
            /// Minutes, while the device is not used: for history.
            case processing(needsPower: Bool)
        }

        private let identifier: String
        private let kind: Kind
        private let interval: Duration
        private let time: Duration

        /// - Parameters:
        ///   - identifier: The identifier in the app's Info.plist.
        ///   - kind: The purpose of the task.
        ///   - interval: The minimum time until the next run; the system decides the actual time.
        ///   - time: The maximum duration of the work; the system may end the work earlier.
        public init(_ identifier: String, _ kind: Kind, every interval: Duration, time: Duration) {
            self.identifier = identifier
            self.kind = kind
            self.interval = interval
            self.time = time
        }

        /// Registers the work with the system. Call it once, before the app has finished its
        /// launch.
        ///
        /// - Returns: False if Info.plist does not list the identifier.
        @discardableResult
        public func register(_ work: @escaping @Sendable () -> BackgroundWork) -> Bool {
            BGTaskScheduler.shared.register(forTaskWithIdentifier: identifier, using: nil) { task in
                try? schedule()
                let end = TaskEnd(task)
                let running = Task { await end.notify(work().run(for: time).isComplete) }
                task.expirationHandler = { running.cancel() }
            }
        }

        /// Requests the next run. Call it when the app enters the background. Each run requests the
        /// next.
        ///
        /// - Throws: `BGTaskScheduler.Error`, for example if the user has turned background tasks
        ///   off.
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

    // @unchecked: the object only reports the end of the task, once, which any thread may do.
    private final class TaskEnd: @unchecked Sendable {
        private let task: BGTask
        init(_ task: BGTask) { self.task = task }
        func notify(_ isDone: Bool) { task.setTaskCompleted(success: isDone) }
    }
#endif
