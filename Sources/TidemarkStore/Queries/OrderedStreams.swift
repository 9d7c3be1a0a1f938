import TidemarkModel

/// Merges several streams in the query's order, without duplicate rows.
final class MergeStream: RowStream {
    private struct Head {
        let stream: any RowStream
        var row: QueryRow
        var key: [UInt8]
    }

    private let query: CompiledQuery
    private var waiting: [any RowStream]
    private var heads: [Head] = []
    private var last: Int64?

    init(_ streams: [any RowStream], _ query: CompiledQuery) {
        waiting = streams
        self.query = query
    }

    func next() throws(StoreError) -> QueryRow? {
        while let stream = waiting.popLast() { try advance(stream) }
        while let least = heads.indices.min(by: {
            KeyRange.precedes(heads[$0].key, heads[$1].key)
        }) {
            let head = heads.remove(at: least)
            try advance(head.stream)
            // Copies of a row have the same key in every stream, so they are adjacent.
            if head.row.id == last { continue }
            last = head.row.id
            return head.row
        }
        return nil
    }

    private func advance(_ stream: any RowStream) throws(StoreError) {
        guard let row = try stream.next() else { return }
        guard let key = query.orderKey(row.document.path, row.document.contents) else {
            preconditionFailure("an ordered stream has rows without an order")
        }
        heads.append(Head(stream: stream, row: row, key: key))
    }
}

/// The rows of some streams, sorted in the query's order and without duplicates.
///
/// Keeps the order keys of the first `capacity` rows only, and reads those rows again.
final class SortedStream: RowStream {
    private struct Item {
        let key: [UInt8]
        let id: Int64
    }

    private let connection: Connection
    private let query: CompiledQuery
    private let capacity: Int
    private var streams: [any RowStream]
    private var items: [Item] = []
    private var position = 0

    init(
        _ streams: [any RowStream], query: CompiledQuery, capacity: Int, connection: Connection
    ) {
        self.streams = streams
        self.query = query
        self.capacity = capacity
        self.connection = connection
    }

    func next() throws(StoreError) -> QueryRow? {
        if !streams.isEmpty { try drain() }
        while position < items.count {
            position += 1
            // The row does not exist if the caller has removed it between two rows.
            guard let row = try connection.row(id: items[position - 1].id) else { continue }
            return QueryRow(row)
        }
        return nil
    }

    private func drain() throws(StoreError) {
        let room = max(2 * min(capacity, Int.max / 4), 64)
        for stream in streams {
            while let row = try stream.next() {
                guard let key = query.orderKey(row.document.path, row.document.contents) else {
                    continue
                }
                items.append(Item(key: key, id: row.id))
                if items.count >= room { sort() }
            }
        }
        sort()
        streams = []
    }

    private func sort() {
        items.sort { KeyRange.precedes($0.key, $1.key) }
        var kept: [Item] = []
        kept.reserveCapacity(min(items.count, capacity))
        for item in items where kept.count < capacity && kept.last?.id != item.id {
            kept.append(item)
        }
        items = kept
    }
}
