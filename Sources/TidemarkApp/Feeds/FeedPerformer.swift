package import Tidemark

/// Performs what a feed's machine decides, on an engine: its records, its documents on disk, and its
/// reads. It decides nothing and waits for nothing; what becomes of an effect is told on the engine's
/// executor.
package struct FeedPerformer<Content: Hashable & Sendable>: Sendable {
    package typealias Machine = FeedMachine<Content>
    package typealias Report = @Sendable (Machine.Event) -> Void

    /// Of the user in whose time the feed was made: what it holds in memory is that user's.
    private let engine: UserSession
    private let definition: ParsedDefinition
    private let database: DatabaseID
    private let deadline: Duration?
    private let content: @Sendable (ViewDocument) -> Content

    /// - Parameters:
    ///   - deadline: For each page from the server; nil for the longest there is.
    ///   - content: What is shown of a document; called on the engine's executor.
    package init(
        _ definition: ParsedDefinition, _ engine: UserSession, in database: DatabaseID,
        deadline: Duration?, content: @escaping @Sendable (ViewDocument) -> Content
    ) {
        self.definition = definition
        self.engine = engine
        self.database = database
        self.deadline = deadline
        self.content = content
    }

    /// Begins an effect, in the order of the calls. ``FeedMachine/Effect/publish`` and
    /// ``FeedMachine/Effect/finish(_:_:)`` are the caller's.
    package func perform(_ effect: Machine.Effect, _ report: @escaping Report) {
        switch effect {
        case .load: load(report)
        case .declareIndexes:
            engine.declareIndexes(for: definition.indexed) { error in
                report(error.map { .failed(.indexes, FirestoreError($0)) } ?? .indexesDeclared)
            }
        case .fetch(let fetch): self.fetch(fetch, report)
        case .readItems(let end, let count, let action): read(below: end, count, action, report)
        case .readChanges(let paths): readChanges(paths, report)
        case .countUnread(let mark): countUnread(above: mark, report)
        case .save(let marks, let call):
            engine.setRecord(marks.encoded, forKey: definition.marksKey) { error in
                report(
                    error.map { .failed(.marks(call), FirestoreError($0)) } ?? .marksSaved(call))
            }
        case .publish, .finish: preconditionFailure("\(effect) is not for an engine")
        }
    }

    /// A record that cannot be read counts as nothing known: it costs a first read, and loses
    /// nothing.
    private func load(_ report: @escaping Report) {
        engine.record(forKey: definition.marksKey) { [engine, definition] result in
            let marks: Marks
            switch result {
            case .failure(let error): return report(.failed(.load, FirestoreError(error)))
            case .success(let bytes): marks = bytes.flatMap(Marks.init(encoded:)) ?? Marks()
            }
            engine.record(forKey: definition.progressKey) { result in
                let overlap = definition.overlap
                report(
                    Self.event(result, of: .load) { bytes in
                        let progress = bytes.flatMap { FeedProgress(encoded: $0, overlap: overlap) }
                        return .loaded(marks, progress ?? FeedProgress(overlap: overlap))
                    })
            }
        }
    }

    private func fetch(_ fetch: FeedFetch, _ report: @escaping Report) {
        let made = Made<FeedPage>()
        engine.fetch(
            definition.request(fetch.plan, in: database), deadline: deadline, tag: .current,
            records: { [definition] documents, readTime in
                let page = fetch.page(documents, readTime: readTime, definition)
                made.set(page)
                return [definition.progressKey: page.progress.encoded]
            },
            completion: { result in
                report(
                    Self.event(result, of: .page) { _ in
                        made.value.map { .fetched($0) }
                            ?? .failed(
                                .page,
                                FirestoreError(
                                    .internal, "A read ended without storing what it read."))
                    })
            })
    }

    /// The next items on disk below a position, or the newest: those that are neither marked as
    /// deleted nor cleared.
    private func read(
        below end: PagePosition?, _ count: Int, _ action: Timestamp?, _ report: @escaping Report
    ) {
        engine.cachedRows(
            of: definition.display(below: end, action: action, in: database), first: count,
            where: { [definition] in !definition.isDeleted($0.fields) },
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
            at: paths, andWrittenIn: definition.query,
            completion: { [definition, content] result in
                report(
                    Self.event(result, of: .changes) { documents in
                        .changesRead(
                            documents.mapValues { view in
                                guard let view, display.matches(view.path, view.document.fields)
                                else { return nil }
                                return definition.row(view, content)
                            })
                    })
            })
    }

    /// How many of all that is held are above the marks and not marked as deleted. No document is
    /// read for it.
    private func countUnread(above mark: Timestamp?, _ report: @escaping Report) {
        engine.cachedCounts(of: definition.counts(above: mark)) { result in
            report(
                Self.event(result, of: .count) { counts in
                    // All; of them those that have the field of deletes, and those whose is null.
                    .unreadCounted(
                        counts.count == 3
                            ? max(0, counts[0] - counts[1] + counts[2]) : counts[0])
                })
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
