/// The parts of an engine, in the order of their creation. Each part gets the earlier parts that it
/// uses, and reaches all others only through the engine's loop (Decisions/0031).
struct EngineParts {
    let storage: CacheStorage
    let indexes: IndexBuilder
    let slices: SlicedReads
    let meter: BillingMeter
    let reachability: Reachability

    // Parts for listening.
    let connection: ListenConnection
    let queries: ListenedQueries
    let views: QueryViews
    let remote: RemoteListening
    let listeners: Listeners

    let garbage: GarbageCollector
    let writing: WriteDelivery
    let files: FileDelivery

    // Parts for one-shot calls.
    let calls: OneShotCalls
    let cache: CacheReads
    let reads: OneShotReads
    let fetches: Fetches

    let exchange: CacheExchange
    let users: UserChanges
    let sharing: CacheSharing

    init(_ context: EngineContext, _ storage: CacheStorage) {
        self.storage = storage
        indexes = IndexBuilder(context, storage)
        slices = SlicedReads(context, indexes)
        meter = BillingMeter(context, storage)
        reachability = Reachability(context)

        let held = HeldTargets(context.configuration.stormBounds)
        connection = ListenConnection(
            context, storage: storage, meter: meter, reachability: reachability)
        queries = ListenedQueries()
        views = QueryViews(
            context, storage: storage, queries: queries, held: held, reachability: reachability)
        remote = RemoteListening(
            context, storage: storage, slices: slices, meter: meter, connection: connection,
            queries: queries, held: held, views: views)
        listeners = Listeners(
            context, storage: storage, indexes: indexes, slices: slices, meter: meter,
            reachability: reachability, queries: queries, views: views, remote: remote)

        garbage = GarbageCollector(context, storage: storage, views: views)
        writing = WriteDelivery(
            context, storage: storage, views: views, shared: SharedWrites(context, storage))
        files = FileDelivery(context, storage: storage, writing: writing)

        calls = OneShotCalls(
            context, storage: storage, meter: meter, reachability: reachability,
            connection: connection, views: views)
        cache = CacheReads(context, storage: storage, slices: slices, indexes: indexes)
        let answers = AnswerStore(context, storage: storage, views: views)
        reads = OneShotReads(
            context, meter: meter, reachability: reachability, connection: connection,
            queries: queries, listeners: listeners, calls: calls, answers: answers, cache: cache)
        fetches = Fetches(
            context, storage: storage, meter: meter, calls: calls, answers: answers, cache: cache)

        exchange = CacheExchange(
            context, storage: storage, listened: queries, views: views, remote: remote,
            writing: writing, garbage: garbage)
        users = UserChanges(
            context, storage: storage, writing: writing, views: views, exchange: exchange)
        sharing = CacheSharing(
            context, storage: storage, slices: slices, listeners: listeners, exchange: exchange,
            writing: writing)
    }
}
