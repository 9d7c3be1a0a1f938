import TidemarkModel

/// One connection of a write stream. Its first message opens the stream, or takes up one whose
/// connection was lost; every later one is a commit with one answer.
struct WriteStreamState {
    let context: CallContext
    /// Set by the first message.
    var history: StreamHistory?

    /// What was billed on it.
    var usage = Usage()

    var isOpen: Bool { history != nil }

    init(context: CallContext) { self.context = context }
}
