import Dispatch
package import Tidemark

/// The parts of a client that a live pipeline uses.
package struct LiveClient: Sendable {
    package typealias Job = @Sendable () -> Void
    package typealias ViewObserver = @Sendable (Result<ViewSnapshot, SyncError>) -> Void
    package typealias Listen =
        @Sendable (QueryValue, SyncEngine.ListenOptions, @escaping ViewObserver) ->
        any CancellableCall

    let engine: SyncEngine
    let database: DatabaseID
    let environment: SyncEnvironment
    let tag: ReadTag
    let listen: Listen
    /// Runs computations later, one after the other.
    let run: @Sendable (@escaping Job) -> Void

    /// - Parameters:
    ///   - listen: Starts a listener of the engine.
    ///   - run: Runs a computation later. Computations do not overlap.
    package init(
        engine: SyncEngine, database: DatabaseID, environment: SyncEnvironment,
        tag: ReadTag = ReadTag(), listen: @escaping Listen,
        run: @escaping @Sendable (@escaping Job) -> Void
    ) {
        self.engine = engine
        self.database = database
        self.environment = environment
        self.tag = tag
        self.listen = listen
        self.run = run
    }

    /// A client whose computations have a queue of the system.
    init(_ firestore: Firestore, tag: ReadTag) {
        let queue = DispatchQueue(label: "tidemark.pipeline", qos: .userInitiated)
        let engine = firestore.engine
        self.init(
            engine: engine, database: firestore.databaseID, environment: firestore.environment,
            tag: tag, listen: { engine.listen($0, $1, observer: $2) },
            run: { job in queue.async(execute: job) })
    }
}
