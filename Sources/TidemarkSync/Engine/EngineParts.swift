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
        connection = ListenConnection(context, storage, meter, reachability)
        queries = ListenedQueries()
        views = QueryViews(context, storage, queries, held, reachability)
        remote = RemoteListening(
            context, storage, slices, meter, connection, queries, held, views)
        listeners = Listeners(
            context, storage, indexes, slices, meter, reachability, queries, views, remote)

        garbage = GarbageCollector(context, storage, views)
        writing = WriteDelivery(context, storage, views, SharedWrites(context, storage))

        calls = OneShotCalls(context, storage, meter, reachability, connection, views)
        cache = CacheReads(context, storage, slices, indexes)
        let answers = AnswerStore(context, storage, views)
        reads = OneShotReads(
            context, meter, reachability, connection, queries, calls, answers, cache)
        fetches = Fetches(context, storage, meter, calls, answers, cache)

        exchange = CacheExchange(context, storage, queries, views, remote, writing, garbage)
        users = UserChanges(context, storage, writing, views, exchange)
        sharing = CacheSharing(context, storage, slices, listeners, exchange, writing)
    }
}
