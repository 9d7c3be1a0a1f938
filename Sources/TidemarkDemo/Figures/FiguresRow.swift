import Tidemark
import TidemarkApp
import TidemarkLivePipelines
import TidemarkModel

/// Figures over a list of the user, such as the unread messages of each person. The device was away
/// while the list changed, and one more document changes on the open screen.
///
/// The old app listens to the whole list and counts it in its own code. On Tidemark, a feed reads
/// what changed, and one live pipeline computes the figures on the device.
struct FiguresRow: ScenarioRow {
    /// A document of the list: its id, and the fields that are written.
    struct Write: Sendable {
        let id: String
        let fields: MapValue
    }

    /// The figures of a list. The pipeline and the code of the app as it was are written
    /// separately, so one can be compared with the other.
    struct Figures: Sendable {
        /// Returns the pipeline of the list's figures.
        let pipeline: @Sendable (Tidemark.Pipeline) -> Tidemark.Pipeline
        /// Returns a row of the pipeline as it is shown; nil for a row that is not.
        let shown: @Sendable (PipelineResult) -> String?
        /// Returns the figures of downloaded documents.
        let counted: @Sendable ([MapValue]) -> Set<String>
    }

    let name: String
    let slug: String
    /// The id of the list's collection, below the user's document.
    let list: String
    /// The field with a document's own time.
    let time: String
    let figures: Figures
    /// The documents at the last use.
    let held: [Write]
    /// The changes while the device is away, at most one of each document.
    let changes: [Write]
    /// The change on the open screen.
    let last: Write
    /// The word indexes that the pipeline searches.
    var words: [WordIndex] = []

    /// A change of an old document does not pass a filter by time.
    let isFilteredAsBefore = true

    /// The row reads what changed, and once a listener that finds nothing new at first.
    var bar: Bar {
        let reads = changes.count + 2
        return Bar(
            reads: reads, fewer: 1 - Double(reads) / Double(held.count), isKnownToDevice: true)
    }

    func user(_ side: Side) -> String { "\(slug)-\(side.rawValue)" }

    private func path(_ side: Side) -> String { "users/\(user(side))/\(list)" }

    private func mutation(_ write: Write, _ side: Side) -> Mutation {
        Mutation(
            path: DocumentPath(unchecked: "\(path(side))/\(write.id)"),
            .patch(write.fields, mask: write.fields.entries.map { FieldPath(name: $0.key) }),
            transforms: [FieldTransform(FieldPath(name: ItemFields.updatedAt), .serverTimestamp)])
    }

    private func mutations(_ writes: [Write]) -> [Mutation] {
        sides.flatMap { side in writes.map { mutation($0, side) } }
    }

    var seed: [Mutation] { mutations(held) }
    var news: [Mutation] { mutations(changes) }

    /// The figures that only the last change makes.
    private var awaited: Set<String> {
        var fields: [String: MapValue] = [:]
        for write in held + changes { Self.apply(write, to: &fields) }
        let before = figures.counted(Array(fields.values))
        Self.apply(last, to: &fields)
        return figures.counted(Array(fields.values)).subtracting(before)
    }

    private static func apply(_ write: Write, to fields: inout [String: MapValue]) {
        for entry in write.fields.entries {
            fields[write.id, default: MapValue()][entry.key] = entry.value
        }
    }

    // MARK: What is done

    func lastUse(_ side: Side, _ firestore: Firestore) async throws {
        switch side {
        case .before, .filtered:
            let all = documents(side, firestore)
            // tidemark:ignore unbounded-listener the app as it was
            for try await snapshot in all.snapshots(includeMetadataChanges: true) {
                if !snapshot.metadata.isFromCache { break }
            }
        case .after:
            try await model(firestore).untilFresh()
            if !words.isEmpty { try await firestore.setWordIndexes(words) }
        }
    }

    /// Predicts the changes of the list, and the one on the open screen. The pipeline counts on the
    /// device.
    func forecast(_ firestore: Firestore) async throws -> Forecast? {
        let last = mutation(last, .after)
        let news = changes.map { mutation($0, .after) }
        let written = WrittenDocuments(held.map { mutation($0, .after) } + news + [last])
        var forecast = Forecast()
        try await forecast.add(
            Feed(definition(firestore)), changed: written.rows(news.map(\.path)))
        forecast.addUpdates("changes on the open screen", of: written.rows([last.path]))
        return forecast
    }

    func use(_ side: Side, _ visit: Visit) async throws -> [ShownItem] {
        switch side {
        case .before, .filtered: try await download(visit)
        case .after: try await follow(visit)
        }
    }

    private func documents(_ side: Side, _ firestore: Firestore) -> CollectionReference {
        firestore.collection(path(side))
    }

    /// The list's content is not shown here, but its figures are.
    private struct Document: Decodable, Sendable {}

    @MainActor
    private func model(_ firestore: Firestore) throws -> FeedModel<Document> {
        FeedModel(try TypedFeed(of: Document.self, definition(firestore)))
    }

    private func definition(_ firestore: Firestore) -> FeedDefinition {
        FeedDefinition(
            query: documents(.after, firestore), itemTime: time,
            way: .changeTime(ItemFields.updatedAt, deletedField: ItemFields.deletedAt))
    }

    @MainActor
    private func follow(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let pipeline = figures.pipeline(firestore.pipeline().collection(path(.after)))
        if !words.isEmpty {
            try await firestore.setWordIndexes(words)
            let held = try await pipeline.execute(source: .cache)
            if !held.results.isEmpty { visit.sawContent() }
        }
        var snapshots = pipeline.snapshots(source: .cache).makeAsyncIterator()
        if let first = try await snapshots.next(), !first.results.isEmpty { visit.sawContent() }
        let model = try model(firestore)
        try await model.untilFresh()
        visit.isUpToDate()
        try await model.untilLive()
        try await visit.happens([mutation(last, .after)])
        let awaited = awaited
        while let snapshot = try await snapshots.next() {
            let shown = snapshot.results.compactMap(figures.shown)
            if awaited.isSubset(of: shown) { return shown.map(Self.item) }
        }
        throw CancellationError()
    }

    /// Plays the app as it was.
    private func download(_ visit: Visit) async throws -> [ShownItem] {
        let firestore = try await visit.firestore()
        let awaited = awaited
        var isUpToDate = false
        let all = documents(.before, firestore)
        // tidemark:ignore unbounded-listener the app as it was
        for try await snapshot in all.snapshots(includeMetadataChanges: true) {
            let shown = figures.counted(snapshot.documents.compactMap(\.fields))
            if snapshot.metadata.isFromCache {
                if !shown.isEmpty { visit.sawContent() }
                continue
            }
            if !isUpToDate {
                isUpToDate = true
                visit.isUpToDate()
                try await visit.happens([mutation(last, .before)])
            }
            if awaited.isSubset(of: shown) { return shown.map(Self.item) }
        }
        throw CancellationError()
    }

    private static func item(_ text: String) -> ShownItem { ShownItem(id: text, version: .min) }

    func truth(_ side: Side, _ server: DirectServer) async throws -> Truth {
        let documents = try await server.documents(in: CollectionPath(unchecked: path(side)))
        let counted = figures.counted(documents.map(\.fields))
        return Truth(living: Dictionary(uniqueKeysWithValues: counted.map { ($0, .min) }))
    }
}
