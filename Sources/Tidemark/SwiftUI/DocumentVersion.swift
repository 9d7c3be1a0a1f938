extension DocumentSnapshot {
    /// Returns true if both snapshots show the same document with the same contents, independent of
    /// their age.
    func hasVersion(of other: DocumentSnapshot) -> Bool {
        documentPath == other.documentPath && document == other.document
    }
}
