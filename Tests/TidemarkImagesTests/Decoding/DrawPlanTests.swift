import Testing

@testable import TidemarkImages

/// Checks the size that Apple's decoder is asked for, and where its picture is drawn.
struct `A plan to draw` {
    private func plan(
        _ width: Int, _ height: Int, into box: Int, _ mode: PictureFit,
        _ orientation: PictureOrientation = .up
    ) throws -> DrawPlan {
        let header = try PictureHeader(
            .jpeg, width: width, height: height, orientation: orientation, wholeBytes: 0)
        return DrawPlan(DecodePlan(header, into: PictureSize(width: box, height: box), mode))
    }

    @Test func `asks for the side that is needed`() throws {
        #expect(try plan(400, 200, into: 100, .fit).longestSide == 100)
        #expect(try plan(400, 200, into: 100, .fill).longestSide == 200)
        #expect(try plan(50, 20, into: 100, .fit).longestSide == 50, "never larger than it is")
        #expect(try plan(1, 1, into: 1, .fit).longestSide == 1)
    }

    @Test func `is upright`() throws {
        let turned = try plan(400, 200, into: 100, .fit, .right)
        #expect(turned.output == PictureSize(width: 50, height: 100))
        #expect(turned.longestSide == 100)
    }

    @Test func `has its middle in the middle`() throws {
        let place = try plan(400, 200, into: 100, .fill)
            .place(of: PictureSize(width: 200, height: 100))
        #expect(place == DrawPlan.Place(x: -50, y: 0, width: 200, height: 100))
    }

    @Test func `covers all, whatever the decoder rounds`() throws {
        for (width, height) in [(99, 38), (1_000, 3), (3, 1_000), (4_032, 3_024), (641, 479)] {
            for mode in PictureFit.allCases {
                let plan = try plan(width, height, into: 64, mode)
                // A decoder gives the longest side as requested, and rounds the other side down.
                let scale = min(1, Double(plan.longestSide) / Double(max(width, height)))
                let place = plan.place(
                    of: PictureSize(
                        width: max(1, Int(Double(width) * scale)),
                        height: max(1, Int(Double(height) * scale))))
                #expect(place.x <= 0 && place.y <= 0)
                #expect(place.x + place.width >= plan.output.width)
                #expect(place.y + place.height >= plan.output.height)
            }
        }
    }
}
