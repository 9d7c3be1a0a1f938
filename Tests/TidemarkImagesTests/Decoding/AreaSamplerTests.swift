import Testing

@testable import TidemarkImages

struct AreaSamplerTests {
    /// Computes the same result in floating point, pixel by pixel.
    private func oracle(
        _ pixels: [UInt8], _ size: PictureSize, _ fit: Fit, isPremultiplied: Bool
    ) -> [Double] {
        let (across, down) = (
            fit.width / Double(fit.output.width), fit.height / Double(fit.output.height)
        )
        var result: [Double] = []
        for y in 0..<fit.output.height {
            for x in 0..<fit.output.width {
                let left = fit.left + Double(x) * across
                let top = fit.top + Double(y) * down
                var sums = [0.0, 0, 0, 0]
                for row in 0..<size.height {
                    let high = min(top + down, Double(row + 1)) - max(top, Double(row))
                    for column in 0..<size.width where high > 0 {
                        let wide =
                            min(left + across, Double(column + 1)) - max(left, Double(column))
                        if wide <= 0 { continue }
                        let offset = 4 * (row * size.width + column)
                        let alpha = Double(pixels[offset + 3]) / 255
                        for channel in 0..<4 {
                            var value = Double(pixels[offset + channel])
                            if !isPremultiplied, channel < 3 { value = (value * alpha).rounded() }
                            sums[channel] += value * wide * high
                        }
                    }
                }
                result += sums.map { $0 / (across * down) }
            }
        }
        return result
    }

    @Test func `each pixel is the mean of its area`() {
        var dice = PictureGenerator(seed: 11)
        for _ in 0..<150 {
            let size = PictureSize(
                width: 1 + Int(dice.next() % 40), height: 1 + Int(dice.next() % 40))
            let box = PictureSize(
                width: 1 + Int(dice.next() % 24), height: 1 + Int(dice.next() % 24))
            let mode: PictureFit = dice.next() % 2 == 0 ? .fit : .fill
            let isPremultiplied = dice.next() % 2 == 0
            let pixels = (0..<4 * size.pixels).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
            let fit = Fit(size, into: box, mode)
            let sampler = AreaSampler(decoded: size, stored: size, fit)
            let result = pixels.withUnsafeBufferPointer {
                sampler.sample(
                    $0.baseAddress!, stride: 4 * size.width, isPremultiplied: isPremultiplied)
            }
            let wanted = oracle(pixels, size, fit, isPremultiplied: isPremultiplied)
            #expect(result.count == wanted.count)
            // The sampler rounds shares to 256ths of a pixel.
            let worst = zip(result, wanted).map { abs(Double($0) - $1) }.max() ?? 0
            #expect(worst <= 3, "\(size) into \(box), \(mode): off by \(worst)")
        }
    }

    @Test func `the largest sums do not overflow`() {
        let size = PictureSize(width: 65_535, height: 2)
        let pixels = [UInt8](repeating: 255, count: 4 * size.pixels)
        let fit = Fit(size, into: PictureSize(width: 1, height: 1), .fit)
        let sampler = AreaSampler(decoded: size, stored: size, fit)
        let result = pixels.withUnsafeBufferPointer {
            sampler.sample($0.baseAddress!, stride: 4 * size.width, isPremultiplied: true)
        }
        #expect(result == [255, 255, 255, 255])
    }

    @Test func `a fit is never larger than its box or its picture`() {
        var dice = PictureGenerator(seed: 12)
        for _ in 0..<2_000 {
            let size = PictureSize(
                width: 1 + Int(dice.next() % 5_000), height: 1 + Int(dice.next() % 5_000))
            let box = PictureSize(
                width: 1 + Int(dice.next() % 600), height: 1 + Int(dice.next() % 600))
            for mode in PictureFit.allCases {
                let fit = Fit(size, into: box, mode)
                #expect(fit.output.width <= min(box.width, size.width))
                #expect(fit.output.height <= min(box.height, size.height))
                #expect(fit.left >= 0 && fit.left + fit.width <= Double(size.width) + 1e-6)
                #expect(fit.top >= 0 && fit.top + fit.height <= Double(size.height) + 1e-6)
                if mode == .fill, size.width >= box.width, size.height >= box.height {
                    #expect(fit.output == box)
                }
            }
        }
    }
}
