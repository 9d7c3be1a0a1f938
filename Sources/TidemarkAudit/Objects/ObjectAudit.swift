package import TidemarkModel

/// Finds the objects of a bucket that no document names, and the documents that name an object that
/// is missing or has another size, in constant memory. Changes nothing.
///
/// Compares pages of both sides as they arrive, in the order of the objects' names. Checks each
/// finding once more, because the two sides were not read at the same moment. Costs a read for each
/// document that names an object, and a read for each check.
package struct ObjectAudit: Sendable {
    private let objects: ObjectDirectory
    private let documents: FileFieldDirectory
    private let prefix: String
    private let grace: Int64
    private let now: @Sendable () -> Timestamp

    /// - Parameters:
    ///   - objects: The objects of the bucket.
    ///   - documents: The documents that name objects.
    ///   - prefix: Only objects whose names begin with this text count.
    ///   - grace: The minimum age of an object to count, in whole seconds.
    ///   - now: Returns the current time.
    package init(
        objects: ObjectDirectory, documents: FileFieldDirectory, prefix: String = "",
        grace: Duration, now: @escaping @Sendable () -> Timestamp
    ) {
        self.objects = objects
        self.documents = documents
        self.prefix = prefix
        self.grace = grace.components.seconds
        self.now = now
    }

    /// - Throws: ``AuditError`` or `RPCStatus` if the comparison did not complete.
    package func run() async throws -> ObjectReport {
        var reads = 0
        let merge = try await merge(&reads)
        var report = ObjectReport(
            detectedAt: now(), objects: merge.counts.objects, documents: merge.counts.documents,
            objectsWithoutDocument: .init(count: 0, items: []),
            documentsWithoutObject: .init(count: 0, items: []),
            otherSizes: .init(count: 0, items: []), tooYoung: 0, reads: 0)
        report.objectsWithoutDocument = try await confirmed(
            merge.withoutDocument, tooYoung: &report.tooYoung, reads: &reads)
        report.documentsWithoutObject = try await confirmed(
            merge.withoutObject, reads: &reads, where: { _, object in object == nil })
        report.otherSizes = try await confirmed(
            merge.otherSizes, reads: &reads,
            where: { naming, object in object != nil && naming.size != object?.size })
        report.reads = reads
        return report
    }

    private func merge(_ reads: inout Int) async throws -> ObjectMerge {
        var merge = ObjectMerge(fields: documents.fields.count)
        var mark: String?
        var last: [Int: ObjectNaming] = [:]
        while true {
            try Task.checkCancellation()
            switch merge.step() {
            case .done: return merge
            case .objects:
                let page = try await objects.page(withPrefix: prefix, after: mark)
                mark = page.next
                try merge.take(page.objects, isLast: page.next == nil)
            case .documents(let field):
                let page = try await documents.page(
                    ofField: field, withPrefix: prefix, after: last[field])
                reads += max(1, page.count)
                last[field] = page.last
                try merge.take(
                    page, ofField: field, isLast: page.count < FileFieldDirectory.pageSize)
            }
        }
    }

    // MARK: Looking again

    private func confirmed(
        _ found: ObjectMerge.Found<AuditedObject>, tooYoung: inout Int, reads: inout Int
    ) async throws -> ObjectReport.Findings<AuditedObject> {
        let youngest = now().seconds - grace
        let old = found.items.filter { $0.createdAt <= youngest }
        tooYoung = found.items.count - old.count
        var items: [AuditedObject] = []
        for start in stride(from: 0, to: old.count, by: FileFieldDirectory.lookupSize) {
            try Task.checkCancellation()
            let part = old[start..<min(start + FileFieldDirectory.lookupSize, old.count)]
            var named: Set<[UInt8]> = []
            for field in documents.fields.indices {
                let namings = try await documents.namings(of: part.map(\.name), inField: field)
                reads += max(1, namings.count)
                named.formUnion(namings.map { Array($0.object.utf8) })
            }
            for object in part where !named.contains(Array(object.name.utf8)) {
                if try await objects.object(object.name) != nil { items.append(object) }
            }
        }
        return .init(count: items.count + found.count - found.items.count, items: items)
    }

    /// - Parameter isWrong: Judges a document as it is now, and the object that it names.
    private func confirmed(
        _ found: ObjectMerge.Found<ObjectNaming>, reads: inout Int,
        where isWrong: (ObjectNaming, AuditedObject?) -> Bool
    ) async throws -> ObjectReport.Findings<ObjectNaming> {
        var items: [ObjectNaming] = []
        for naming in found.items {
            try Task.checkCancellation()
            // The object first: a document that is deleted with its object loses the object last.
            let object = try await objects.object(naming.object)
            guard isWrong(naming, object) else { continue }
            reads += 1
            guard let now = try await documents.now(naming),
                now.object.hasSameBytes(as: naming.object), isWrong(now, object)
            else { continue }
            items.append(now)
        }
        return .init(count: items.count + found.count - found.items.count, items: items)
    }
}
