import TidemarkHTTP
import TidemarkModel

/// Edits from a page that are written together or not at all.
///
/// The JSON form is `{"writes": [{"path": "rooms/blue", "update": "2026-…Z", "fields": {…}}, …]}`.
/// `update` is the update time that the page showed: the write fails if the document has another.
/// If `update` is missing, the write fails for a document that exists. If `fields` is missing, the
/// write deletes the document.
struct BatchOrder: Decodable {
    let writes: [Write]

    /// The maximum number of writes in a batch.
    static let maxWrites = 500

    struct Write: Decodable {
        let path: String
        let update: String?
        /// The fields; nil deletes the document.
        let fields: MapValue?

        private enum Key: String, CodingKey { case path, update, fields }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            path = try container.decode(String.self, forKey: .path)
            update = try container.decodeIfPresent(String.self, forKey: .update)
            let hasFields = container.contains(.fields)
            fields = hasFields ? try FieldsJSON(from: decoder).fields : nil
        }

        func mutation() throws(PageRefusal) -> Mutation {
            let document: DocumentPath
            do throws(InvalidPath) { document = try DocumentPath(path) } catch {
                throw PageRefusal(400, "\(path): \(error.message)")
            }
            return Mutation(
                path: document, fields.map { .set($0) } ?? .delete,
                precondition: try Precondition(update: update))
        }
    }

    /// - Throws: A sentence about the error in an invalid batch.
    static func mutations(in body: [UInt8]) throws(PageRefusal) -> [Mutation] {
        let order: BatchOrder
        do { order = try JSONValueDecoder().decode(BatchOrder.self, from: body) } catch {
            throw PageRefusal(400, "This is not a batch: \(PageRefusal.sentence(error))")
        }
        guard (1...maxWrites).contains(order.writes.count) else {
            throw PageRefusal(400, "A batch must have 1 to \(maxWrites) writes.")
        }
        var mutations: [Mutation] = []
        for write in order.writes { mutations.append(try write.mutation()) }
        return mutations
    }
}

extension Precondition {
    /// - Parameter update: The update time that the page showed; nil if the document did not exist.
    init(update: String?) throws(PageRefusal) {
        guard let update else {
            self = .exists(false)
            return
        }
        guard let time = Timestamp(rfc3339: update) else {
            throw PageRefusal(400, "\"update\" must be a time, as in 2026-11-24T10:00:00.000001Z.")
        }
        self = .updateTime(time)
    }
}
