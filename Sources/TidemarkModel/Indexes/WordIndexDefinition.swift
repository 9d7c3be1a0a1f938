/// An index of the words in some fields, over all collections with one id.
package struct WordIndexDefinition: Hashable, Sendable {
    package let collectionID: String
    /// The fields with texts. Texts inside their arrays and maps belong to them.
    package let fields: [FieldPath]

    /// - Precondition: There is a field, and none occurs twice.
    package init(collectionID: String, fields: [FieldPath]) {
        precondition(!fields.isEmpty && Set(fields).count == fields.count)
        self.collectionID = collectionID
        self.fields = fields
    }
}
