import TidemarkModel

/// The player's writes in order. A history and a seed determine all of them.
struct HistoryScript: Sendable {
    struct Step: Sendable {
        /// The time of the server's clock, in seconds since 1970.
        let time: Int64
        let mutation: Mutation
    }

    let steps: [Step]
    /// The number of items, without the edits and deletes.
    let items: Int

    /// Adds an edit of an older item after every 50th event, and a mark of deletion after every
    /// 200th.
    ///
    /// - Parameter field: The field with the item's own time.
    init(
        _ history: History, collection: CollectionPath, at field: String = ItemFields.time,
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var living: [HistoryEvent] = []
        var steps: [Step] = []
        for (index, event) in history.events.enumerated() {
            steps.append(
                Step(
                    time: event.committedAt, mutation: Self.insert(event, collection, at: field)))
            let number = index + 1
            if number.isMultiple(of: 50), let edited = living.randomElement(using: &random) {
                steps.append(
                    Step(
                        time: event.committedAt,
                        mutation: Self.edit(edited, number: number, collection: collection)))
            }
            if number.isMultiple(of: 200), !living.isEmpty {
                let deleted = living.remove(at: Int.random(in: 0..<living.count, using: &random))
                steps.append(
                    Step(
                        time: event.committedAt,
                        mutation: Self.delete(
                            deleted, time: event.committedAt, collection: collection)))
            }
            living.append(event)
        }
        self.steps = steps
        items = history.events.count
    }

    private static let touched = FieldTransform(
        FieldPath(name: ItemFields.updatedAt), .serverTimestamp)

    /// - Parameter time: The field with the item's own time.
    static func insert(
        _ event: HistoryEvent, _ collection: CollectionPath, at time: String = ItemFields.time
    ) -> Mutation {
        Mutation(
            path: path(event, collection),
            .set([
                ItemFields.author: .string(event.author), ItemFields.text: .string(event.text),
                time: .timestamp(Timestamp(seconds: event.authoredAt, nanoseconds: 0)),
            ]), transforms: [touched])
    }

    static func edit(
        _ event: HistoryEvent, number: Int, collection: CollectionPath
    ) -> Mutation {
        let text = Value.string(event.text + " (edited at event \(number))")
        return Mutation(
            path: path(event, collection),
            .patch([ItemFields.text: text], mask: [FieldPath(name: ItemFields.text)]),
            transforms: [touched], precondition: .exists(true))
    }

    static func delete(
        _ event: HistoryEvent, time: Int64, collection: CollectionPath
    ) -> Mutation {
        let mark = Value.timestamp(Timestamp(seconds: time, nanoseconds: 0))
        return Mutation(
            path: path(event, collection),
            .patch([ItemFields.deletedAt: mark], mask: [FieldPath(name: ItemFields.deletedAt)]),
            transforms: [touched], precondition: .exists(true))
    }

    private static func path(_ event: HistoryEvent, _ collection: CollectionPath) -> DocumentPath {
        DocumentPath(unchecked: collection.text + "/" + event.id)
    }
}

/// The fields of an item, for all clients of the demo. They are those of a message in `Examples`.
enum ItemFields {
    static let author = "author"
    static let text = "text"
    /// The item's own time, which its author's device sets.
    static let time = "sentAt"
    /// The server's time of the last change.
    static let updatedAt = "updatedAt"
    /// The time of the deletion, on deleted items only. A feed of changes sees a delete only if it
    /// is a change.
    static let deletedAt = "deletedAt"
}
