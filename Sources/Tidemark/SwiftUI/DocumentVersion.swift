extension DocumentSnapshot {
    /// Whether both show the same document with the same contents, whatever is known of their age.
    func hasVersion(of other: DocumentSnapshot) -> Bool {
        documentPath == other.documentPath && document == other.document
    }
}
