/// The state that all parts of a decoding share.
final class DecodingSource {
    let bytes: [UInt8]
    let options: Firestore.Decoder.Options
    let serverTimestamps: ServerTimestampBehavior
    let reference: DocumentReference?
    /// The client of the decoded references.
    let firestore: Firestore?

    init(
        _ bytes: [UInt8], options: Firestore.Decoder.Options,
        serverTimestamps: ServerTimestampBehavior, reference: DocumentReference?,
        firestore: Firestore? = nil
    ) {
        self.firestore = reference?.firestore ?? firestore
        self.bytes = bytes
        self.options = options
        self.serverTimestamps = serverTimestamps
        self.reference = reference
    }
}
