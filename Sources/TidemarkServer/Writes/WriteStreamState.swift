import TidemarkModel

/// A connection of a write stream. Its first message opens the stream, or resumes a stream whose
/// connection was lost; every later message is a commit with an answer.
struct WriteStreamState {
    let context: CallContext
    /// The history of the stream. The first message sets it.
    var history: StreamHistory?

    /// The bill of the connection.
    var usage = Usage()

    var isOpen: Bool { history != nil }

    init(context: CallContext) { self.context = context }
}
