import Synchronization
package import Tidemark

/// Performs the effects of a feed's machine on an engine: its records, its documents on disk, and
/// its reads. The performer makes no decisions and does not wait. The results of effects are
/// reported on the engine's executor.
package struct FeedPerformer<Content: Hashable & Sendable>: Sendable {
    package typealias Machine = FeedMachine<Content>
    package typealias Report = @Sendable (Machine.Event) -> Void

    /// The session of the user who was signed in when the feed was made. The feed's data in memory
    /// belong to that user.
    private let engine: UserSession
    private let definition: ParsedDefinition
    private let database: DatabaseID
    private let deadline: Duration?
    private let content: @Sendable (ViewDocument) -> Content
    private let listeners = FeedListeners()
    /// The changes that other reads and writes make to the feed's documents.
    private let changes: CacheChanges

    /// - Parameters:
    ///   - deadline: The maximum time for each page from the server; nil for the longest possible
    ///     time.
    ///   - content: Returns the shown content of a document; called on the engine's executor.
    package init(
        _ definition: ParsedDefinition, _ engine: UserSession, in database: DatabaseID,
        deadline: Duration?, content: @escaping @Sendable (ViewDocument) -> Content
    ) {
        self.definition = definition
        self.engine = engine
        self.database = database
        self.deadline = deadline
        self.content = content
        changes = CacheChanges(of: definition.query)
        listeners.keep(engine.follow(changes), as: Self.changes)
    }

    /// Reports each time that the device's own writes have changed documents of the feed.
    package func followOwn(_ report: @escaping Report) { changes.onOwnChange { report(.written) } }

    /// Ends all listeners.
    package func close() { listeners.close() }

    /// The keys of the timer and the changes, which no listener has.
    private static var timer: Int { 0 }
    private static var changes: Int { -1 }

    /// Starts an effect; effects run in the order of the calls. The caller handles `publish`,
    /// `notify` and `finish`.
    ///
    /// - Parameter tag: The tag under which the reads are counted.
    package func perform(
        _ effect: Machine.Effect, tag: ReadTag = ReadTag(), _ report: @escaping Report
    ) {
        switch effect {
        case .load: load(report)
        case .declareIndexes:
            engine.declareIndexes(for: definition.indexed) { error in
                report(error.map { .failed(.indexes, FirestoreError($0)) } ?? .indexesDeclared)
            }
        case .fetch(let fetch): self.fetch(fetch, tag: tag, report: report)
        case .readItems(let end, let count, let base):
            read(below: end, count: count, base: base, report: report)
        case .readChanges(let paths): readChanges(paths, report)
        case .count(let base): count(from: base, report)
        case .save(let marks, let call):
            engine.setRecord(marks.encoded, forKey: definition.marksKey) { error in
                report(
                    error.map { .failed(.marks(call), FirestoreError($0)) } ?? .marksSaved(call))
            }
        case .compare(let range, let expected, let readTime):
            engine.compare(
                definition.items(in: range, database), itemTime: definition.itemTime,
                version: definition.version, expected: expected, at: readTime,
                deadline: deadline, tag: tag,
                completion: { report(Self.event($0, of: .page) { .compared($0) }) })
        case .countChanges(let since, let most):
            countChanges(since, upTo: most, tag: tag, report: report)
        case .saveProgress(let progress):
            engine.setRecord(progress.encoded, forKey: definition.progressKey) { error in
                report(error.map { .failed(.page, FirestoreError($0)) } ?? .progressSaved)
            }
        case .listen(let listen): self.listen(listen, tag: tag, report: report)
        case .wait(let duration):
            listeners.keep(engine.wait(duration) { report(.waited) }, as: Self.timer)
        case .unlisten(let number): listeners.cancel(number)
        case .readShared: readShared(tag, report)
        case .awaitListener(let number):
            let wait = engine.awaitListener(deadline: deadline, tag: tag) { error in
                report(.listenerOverdue(number, FirestoreError(error)))
            }
            listeners.keep(wait, as: number)
        case .share(let marks): share(marks, report)
        case .publish, .notify, .finish: preconditionFailure("\(effect) is not for an engine")
        }
    }

    /// Loads the feed's records. An unreadable record counts as an empty one: this costs a first
    /// read, and loses no data.
    private func load(_ report: @escaping Report) {
        engine.record(forKey: definition.marksKey) { result in
            let marks: Marks
            switch result {
            case .failure(let error): return report(.failed(.load, FirestoreError(error)))
            case .success(let bytes): marks = bytes.flatMap(Marks.init(encoded:)) ?? Marks()
            }
            loadProgress { result in
                report(Self.event(result, of: .load) { .loaded(marks, $0) })
            }
        }
    }

    /// Loads the progress. A feed without one begins with the result of an earlier listener, if the
    /// cache has one; otherwise with nothing.
    private func loadProgress(
        _ completion: @escaping @Sendable (Result<FeedProgress, SyncError>) -> Void
    ) {
        let overlap = definition.rules.overlap
        engine.record(forKey: definition.progressKey) { [self] result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let bytes?):
                let progress = FeedProgress(encoded: bytes, overlap: overlap)
                completion(.success(progress ?? FeedProgress(overlap: overlap)))
            case .success(nil): begin(completion)
            }
        }
    }

    private func begin(
        _ completion: @escaping @Sendable (Result<FeedProgress, SyncError>) -> Void
    ) {
        let begun = ResultBox<FeedProgress>()
        engine.begin(
            with: definition.query, by: definition.itemTime,
            made: { [definition, database] known in
                let made = FeedProgress.beginning(
                    with: known.documents.map(definition.bookRow), asOf: known.readTime,
                    isAll: known.isAll, rules: definition.rules)
                guard let (progress, covered) = made else { return nil }
                begun.set(progress)
                return FeedPageRecords(
                    records: [definition.progressKey: progress.encoded],
                    complete: definition.items(in: covered, database))
            },
            completion: { [definition] result in
                let nothing = FeedProgress(overlap: definition.rules.overlap)
                // A feed whose cache cannot be written begins with nothing, and says so when it
                // reads.
                let progress = (try? result.get()).flatMap { _ in begun.value }
                completion(.success(progress ?? nothing))
            })
    }

    private func fetch(_ fetch: FeedFetch, tag: ReadTag, report: @escaping Report) {
        let made = ResultBox<FeedPage>()
        engine.fetchPage(
            definition.request(fetch.plan, in: database), deadline: deadline, tag: tag,
            made: { [definition, database] documents, readTime in
                let page = fetch.page(documents, readTime: readTime, definition)
                made.set(page)
                return FeedPageRecords(
                    records: [definition.progressKey: page.progress.encoded],
                    complete: page.covered.map { definition.items(in: $0, database) },
                    followed: page.followed.map { listen in
                        FollowedQuery(
                            definition.request(listen, in: database),
                            rows: page.progress.cursor.seen.keys.sorted())
                    })
            },
            completion: { result in
                report(
                    Self.event(result, of: .page) { stored in
                        made.value.map { .fetched($0, stored: stored) }
                            ?? .failed(
                                .page,
                                FirestoreError(
                                    .internal, "A read ended without storing what it read."))
                    })
            })
    }

    private func countChanges(
        _ since: Timestamp, upTo most: Int, tag: ReadTag, report: @escaping Report
    ) {
        engine.countOnServer(
            definition.changes(since: since), upTo: most, deadline: deadline, tag: tag,
            completion: { result in
                report(
                    Self.event(result, of: .changeCount) { count in
                        .changesCounted(
                            CountedChanges(since: since, count: count.documents),
                            readTime: count.readTime)
                    })
            })
    }

    private func listen(_ listen: FeedListen, tag: ReadTag, report: @escaping Report) {
        let options = SyncEngine.ListenOptions(includeMetadataChanges: true, tag: tag)
        let observe: @Sendable (Result<ViewSnapshot, SyncError>) -> Void = { [definition] result in
            switch result {
            case .success(let snapshot):
                report(.heard(FeedHeard(snapshot, of: listen, definition)))
            case .failure(let error):
                report(.listenFailed(listen.number, FirestoreError(error)))
            }
        }
        let handle =
            if case .marks = listen.question {
                engine.listen(document: definition.sharedPath, options, observer: observe)
            } else {
                engine.listen(
                    definition.request(listen, in: database), options, observer: observe)
            }
        listeners.keep(handle, as: listen.number)
    }

    private func readShared(_ tag: ReadTag, _ report: @escaping Report) {
        guard let shared = definition.shared else { preconditionFailure("nothing is shared") }
        engine.fetchDocument(shared.path, deadline: deadline, tag: tag) { result in
            report(
                Self.event(result, of: .page) { read in
                    guard case .fresh(let readTime) = read.freshness else {
                        return .failed(
                            .page, FirestoreError(.unavailable, "The server was not asked."))
                    }
                    let view = read.documents.first
                    var marks = shared.marks(view?.document.fields)
                    marks.isOwnAlone = view?.hasCommittedMutations ?? false
                    return .sharedRead(marks, readTime: readTime)
                })
        }
    }

    /// Writes the marks in the form that the device has found: the sync that reported the server's
    /// time has read them.
    private func share(_ marks: SharedMarks, _ report: @escaping Report) {
        guard let shared = definition.shared else { preconditionFailure("nothing is shared") }
        engine.cachedDocuments(
            at: [shared.path], andWrittenIn: definition.query,
            completion: { [engine, definition] result in
                let view = (try? result.get())?[shared.path] ?? nil
                var mutation = shared.mutation(marks, found: view?.document.fields)
                #if TIDEMARK_DEFECTS
                    if definition.rules.defects.contains(.sharedMarkOverwritten),
                        let action = marks.action
                    {
                        var fields = MapValue()
                        fields[shared.action] = SharedMarkFields.number(action)
                        mutation = Mutation(
                            path: shared.path, .patch(fields, mask: [shared.action]))
                    }
                #endif
                engine.write([mutation]) { event in
                    if case .failed(let error) = event {
                        report(.failed(.share, FirestoreError(error)))
                    }
                }
            })
    }

    /// Reads the next items on disk that are not marked as deleted, below a position (or the
    /// newest) and from `base` up.
    private func read(
        below end: PagePosition?, count: Int, base: CoveragePosition, report: @escaping Report
    ) {
        engine.cachedRows(
            of: definition.display(below: end, from: base, in: database), first: count,
            where: { [definition] document in
                !definition.isDeleted(document.fields)
                    && definition.isPlaced(document, atLeast: base)
            },
            completion: { [definition, content] result in
                report(
                    Self.event(result, of: .items) { rows in
                        .itemsRead(
                            rows.documents.compactMap { definition.row($0, content) },
                            hasMore: rows.hasMore, rowsScanned: rows.rowsScanned)
                    })
            })
    }

    private func readChanges(_ paths: [DocumentPath], _ report: @escaping Report) {
        let display = PreparedQuery(definition.display, in: database)
        engine.cachedDocuments(
            at: paths, andIn: changes, andWrittenIn: definition.query,
            completion: { [definition, content] result in
                report(
                    Self.event(result, of: .changes) { documents in
                        guard let documents else { return .outgrown }
                        return .changesRead(
                            documents.mapValues { view in
                                guard let view, display.matches(view.path, view.document.fields)
                                else { return nil }
                                return definition.row(view, content)
                            })
                    })
            })
    }

    /// Counts the held items from `base` up that are not marked as deleted. Reads no document.
    private func count(from base: CoveragePosition, _ report: @escaping Report) {
        let queries = definition.counts(from: base, in: database)
        engine.cachedCounts(of: queries) { [definition] result in
            report(Self.event(result, of: .count) { .counted(definition.count($0)) })
        }
    }

    private static func event<Success>(
        _ result: Result<Success, SyncError>, of work: Machine.Work,
        _ event: (Success) -> Machine.Event
    ) -> Machine.Event {
        switch result {
        case .success(let success): event(success)
        case .failure(let error): .failed(work, FirestoreError(error))
        }
    }
}

/// The open listeners of a feed.
final class FeedListeners: Sendable {
    private let handles = Mutex<[Int: any CancellableCall]>([:])

    deinit { close() }

    func keep(_ handle: any CancellableCall, as number: Int) {
        handles.withLock { $0[number] = handle }
    }

    func cancel(_ number: Int) { handles.withLock { $0.removeValue(forKey: number) }?.cancel() }

    func close() {
        let all = handles.withLock { handles in
            defer { handles = [:] }
            return handles.values
        }
        for handle in all { handle.cancel() }
    }
}

extension FeedHeard {
    init(_ snapshot: ViewSnapshot, of listen: FeedListen, _ definition: ParsedDefinition) {
        number = listen.number
        readTime = snapshot.isFromCache ? nil : snapshot.readTime
        // A pending write can hide a row that still takes a place in the listener's limit.
        isFull = max(snapshot.count, snapshot.syncedCount) >= listen.limit
        if case .marks = listen.question {
            (changed, rows) = ([], [])
            let view = snapshot.documents.first
            mark = definition.shared?.marks(view?.document.fields)
            mark?.isOwnAlone = view?.hasCommittedMutations ?? false
            return
        }
        changed = snapshot.changes.map(\.document.path)
        let documents = snapshot.documents
        rows = documents.filter { !$0.hasLocalMutations }.map { definition.bookRow($0.document) }
        // A document that another read has changed since then can have another position now.
        isPage =
            isFull && snapshot.showsTarget
            && documents.allSatisfy { view in
                !view.hasLocalMutations && !view.hasCommittedMutations
                    && readTime.map { view.document.updateTime <= $0 } ?? false
            }
        #if TIDEMARK_DEFECTS
            if definition.rules.defects.contains(.listenerTakenForPage) { isPage = isFull }
        #endif
    }
}
