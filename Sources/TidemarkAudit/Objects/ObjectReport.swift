package import TidemarkModel

/// The result of an audit of objects.
package struct ObjectReport: Sendable {
    /// The number of findings of a kind, and the first 10,000.
    package struct Findings<Item: Sendable>: Sendable {
        package var count: Int
        package var items: [Item]
    }

    package var detectedAt: Timestamp
    package var objects: Int
    /// The number of documents whose field names an object.
    package var documents: Int
    package var objectsWithoutDocument: Findings<AuditedObject>
    package var documentsWithoutObject: Findings<ObjectNaming>
    /// The documents that state another size than their object has.
    package var otherSizes: Findings<ObjectNaming>
    /// The number of objects without a document that are too young to count: their document may
    /// still be on its way.
    package var tooYoung: Int
    /// The number of documents that Firestore bills for the audit, by its documented rules.
    package var reads: Int

    package var count: Int {
        objectsWithoutDocument.count + documentsWithoutObject.count + otherSizes.count
    }
}
