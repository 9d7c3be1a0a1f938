/// A request for the objects of a bucket, in the byte order of their names.
package struct ObjectListing: Hashable, Sendable {
    /// The maximum number of objects and prefixes on a page.
    package static let maxResults = 1_000

    package var bucket: String
    package var prefix = ""
    /// Names that contain the delimiter after the prefix are joined into one prefix; nil for none.
    package var delimiter: String?
    /// The first name, by bytes; nil for the start of the bucket.
    package var startOffset: String?
    /// The first name after the range; nil for the end of the bucket.
    package var endOffset: String?
    /// True if an object whose name ends with the delimiter is listed beside its prefix.
    package var includesTrailingDelimiter = false
    /// The position after an earlier page.
    package var position: ListPosition?
    package var limit = ObjectListing.maxResults

    package init(bucket: String) { self.bucket = bucket }
}

/// A position in a list: the first name that can follow, as bytes.
package struct ListPosition: Hashable, Sendable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The position after a name.
    init(after name: String) { bytes = Array(name.utf8) + [0] }

    /// The position after all names with a prefix; nil if none can follow.
    init?(afterPrefix prefix: [UInt8]) {
        guard let next = prefix.successorOfAll else { return nil }
        bytes = next
    }
}

package struct ObjectPage: Hashable, Sendable {
    package var objects: [StoredObject] = []
    package var prefixes: [String] = []
    /// The position of the next page; nil if this is the last page.
    package var next: ListPosition?
}

extension ObjectsCore {
    package func list(_ listing: ObjectListing) throws(ObjectRefusal) -> ObjectPage {
        try ObjectPath.check(bucket: listing.bucket)
        return try read { transaction in
            try Self.page(listing, in: ObjectTable(transaction: transaction))
        }
    }

    private static func page(
        _ listing: ObjectListing, in table: ObjectTable
    ) throws -> ObjectPage {
        let prefix = Array(listing.prefix.utf8)
        let delimiter = Array((listing.delimiter ?? "").utf8)
        var start = largest([prefix, Array((listing.startOffset ?? "").utf8)])
        if let position = listing.position { start = largest([start, position.bytes]) }
        let ends = [prefix.successorOfAll, listing.endOffset.map { Array($0.utf8) }]
        let end = ends.compactMap { $0 }.min { $0.lexicographicallyPrecedes($1) }
        let limit = max(1, min(listing.limit, ObjectListing.maxResults))
        var page = ObjectPage()
        while true {
            let room = max(0, limit - page.objects.count - page.prefixes.count)
            // The query reads one object more than fits: it shows that another page follows. A new
            // search skips joined names, so a list reads few of them.
            let rows = try table.objects(
                in: listing.bucket, from: start, to: end,
                limit: delimiter.isEmpty ? room + 1 : min(room + 1, 100))
            var skipsTo: [UInt8]?
            for object in rows {
                if page.objects.count + page.prefixes.count >= limit {
                    page.next = ListPosition(start)
                    return page
                }
                if let joined = joinedPrefix(
                    of: object.path.name, after: prefix.count, delimiter: delimiter)
                {
                    page.prefixes.append(String(decoding: joined, as: UTF8.self))
                    if listing.includesTrailingDelimiter,
                        joined.elementsEqual(object.path.name.utf8)
                    {
                        page.objects.append(object)
                    }
                    guard let next = ListPosition(afterPrefix: joined) else { return page }
                    skipsTo = next.bytes
                    start = next.bytes
                    break
                }
                page.objects.append(object)
                start = ListPosition(after: object.path.name).bytes
            }
            if rows.isEmpty { return page }
            if skipsTo == nil, delimiter.isEmpty, rows.count <= room { return page }
        }
    }

    private static func largest(_ names: [[UInt8]]) -> [UInt8] {
        names.max { $0.lexicographicallyPrecedes($1) } ?? []
    }

    /// Returns the name up to the first delimiter after the prefix; nil if there is none.
    private static func joinedPrefix(
        of name: String, after prefixLength: Int, delimiter: [UInt8]
    ) -> [UInt8]? {
        if delimiter.isEmpty { return nil }
        let bytes = Array(name.utf8)
        var at = prefixLength
        while at + delimiter.count <= bytes.count {
            let end = at + delimiter.count
            if bytes[at..<end].elementsEqual(delimiter) { return Array(bytes[..<end]) }
            at += 1
        }
        return nil
    }
}

extension [UInt8] {
    /// The smallest name that is after all names with this prefix; nil if there is none.
    fileprivate var successorOfAll: [UInt8]? {
        var bytes = self
        while let last = bytes.popLast() {
            if last < 0xFF { return bytes + [last + 1] }
        }
        return nil
    }
}
