/// The request for Apple's decoder, and the place where its answer is drawn. Pure.
struct DrawPlan: Hashable, Sendable {
    /// The longest side of the thumbnail that is asked for, in pixels.
    let longestSide: Int
    /// The size of the upright picture that the decoder returns.
    let output: PictureSize

    init(_ plan: DecodePlan) {
        let stored = plan.header.stored
        let longest = Double(max(stored.width, stored.height)) * plan.fit.scale
        longestSide = max(1, Int((longest - 1e-9).rounded(.up)))
        output =
            plan.header.orientation.isTransposed ? plan.fit.output.transposed : plan.fit.output
    }

    /// The rectangle of a thumbnail: centred on the output, which the thumbnail covers completely.
    struct Place: Hashable, Sendable {
        var x, y, width, height: Int
    }

    /// - Parameter thumbnail: The size of the upright thumbnail. The decoder's rounding is not
    ///   defined: a thumbnail that is a pixel too small is drawn larger, so no edge stays empty.
    func place(of thumbnail: PictureSize) -> Place {
        let width = max(thumbnail.width, output.width)
        let height = max(thumbnail.height, output.height)
        return Place(
            x: (output.width - width) / 2, y: (output.height - height) / 2, width: width,
            height: height)
    }
}
