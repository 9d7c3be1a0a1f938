/// The predicted and the billed reads of each open of Tidemark's client.
struct OpenPredictions: Sendable {
    private(set) var opens = 0
    /// The number of opens whose prediction was exact.
    private(set) var exact = 0
    /// The sums of the predictions.
    private(set) var atLeast = 0
    private(set) var atMost = 0
    /// The opens that were billed differently, as sentences.
    private(set) var complaints: [String] = []

    /// Records an open.
    ///
    /// - Parameters:
    ///   - predicted: The predicted number of reads; nil if the answers have more rows than a page,
    ///     so that the number of requests depends on the sizes of pages.
    ///   - least: The number of reads that such an open costs at least: a read for each row.
    mutating func add(_ predicted: Int?, billed: Int, atLeast least: Int) {
        opens += 1
        if predicted != nil { exact += 1 }
        // Each page has a row at least, and the end costs a count, a page and a listener.
        let range = predicted.map { $0...$0 } ?? least...(2 * least + 3)
        atLeast += range.lowerBound
        atMost += range.upperBound
        guard !range.contains(billed) else { return }
        let text = predicted.map(String.init) ?? "\(range.lowerBound) to \(range.upperBound)"
        complaints.append(
            "Open \(opens) was predicted to cost \(text) reads, and \(billed) were billed.")
    }

    /// The predictions in words.
    var text: String {
        if atLeast == atMost {
            return "predicted before each open: \(grouped(atLeast)) reads in all"
        }
        return """
            predicted before each open: \(grouped(atLeast)) to \(grouped(atMost)) reads in all, because \
            \(opens - exact) opens have answers of several pages
            """
    }
}
