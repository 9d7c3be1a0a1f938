/// Reduces a picture: each pixel of the result is the mean of the area that it covers, with the
/// shares of partly covered pixels, in integers. Alpha is multiplied into the colours first,
/// because invisible pixels must not colour visible ones.
///
/// The mean is computed from sRGB values without conversion, as browsers and ImageIO do.
struct AreaSampler {
    private let columns: Axis
    private let rows: Axis
    private let output: PictureSize

    /// Creates a sampler from a part of a decoded picture to its output.
    ///
    /// - Parameters:
    ///   - decoded: The size of the decoded picture, which is the whole stored picture, possibly at
    ///     a smaller scale.
    ///   - fit: The part of the stored picture that is shown, and its output size.
    init(decoded: PictureSize, stored: PictureSize, _ fit: Fit) {
        let across = Double(decoded.width) / Double(stored.width)
        let down = Double(decoded.height) / Double(stored.height)
        columns = Axis(
            from: fit.left * across, length: fit.width * across, of: decoded.width,
            to: fit.output.width)
        rows = Axis(
            from: fit.top * down, length: fit.height * down, of: decoded.height,
            to: fit.output.height)
        output = fit.output
    }

    /// - Parameters:
    ///   - pixels: Four bytes each, `stride` bytes a row.
    ///   - isPremultiplied: True if the colours are multiplied by alpha, or if there is no alpha.
    func sample(_ pixels: UnsafePointer<UInt8>, stride: Int, isPremultiplied: Bool) -> [UInt8] {
        let width = output.width
        var sums = [UInt32](repeating: 0, count: 4 * width)
        var totals = [UInt64](repeating: 0, count: 4 * width)
        return [UInt8](unsafeUninitializedCapacity: 4 * output.pixels) { result, count in
            for y in 0..<output.height {
                for index in totals.indices { totals[index] = 0 }
                let span = rows.spans[y]
                for (row, weight) in zip(span.first..., rows.weights[span.weights]) {
                    let line = pixels + row * stride
                    isPremultiplied ? add(line, &sums) : addMultiplied(line, &sums)
                    let weight = UInt64(weight)
                    for index in totals.indices {
                        totals[index] &+= UInt64(sums[index]) &* weight
                    }
                }
                let line = 4 * width * y
                for x in 0..<width {
                    let area = UInt64(columns.spans[x].total) * UInt64(span.total)
                    for channel in 0..<4 {
                        let mean = (totals[4 * x + channel] + area / 2) / area
                        result[line + 4 * x + channel] = UInt8(truncatingIfNeeded: mean)
                    }
                }
            }
            count = 4 * output.pixels
        }
    }

    /// Adds the weighted sums of a row. 255 times 256 times the longest side fits into 32 bits.
    private func add(_ line: UnsafePointer<UInt8>, _ sums: inout [UInt32]) {
        add(line, sums: &sums) { pixel in
            SIMD4(UInt32(pixel[0]), UInt32(pixel[1]), UInt32(pixel[2]), UInt32(pixel[3]))
        }
    }

    private func addMultiplied(_ line: UnsafePointer<UInt8>, _ sums: inout [UInt32]) {
        add(line, sums: &sums) { pixel in
            let alpha = UInt32(pixel[3])
            var value = SIMD4(UInt32(pixel[0]), UInt32(pixel[1]), UInt32(pixel[2]), 255)
            // The result is divided by 255 and rounded.
            value = value &* alpha &+ 128
            return (value &+ (value &>> 8)) &>> 8
        }
    }

    @inline(__always)
    private func add(
        _ line: UnsafePointer<UInt8>, sums: inout [UInt32],
        value: (UnsafePointer<UInt8>) -> SIMD4<UInt32>
    ) {
        columns.weights.withUnsafeBufferPointer { weights in
            for x in 0..<output.width {
                let span = columns.spans[x]
                var sum = SIMD4<UInt32>.zero
                var pixel = line + 4 * span.first
                for index in span.weights {
                    sum &+= value(pixel) &* weights[index]
                    pixel += 4
                }
                for channel in 0..<4 { sums[4 * x + channel] = sum[channel] }
            }
        }
    }

    /// A direction of the reduction: the source pixels of each result, and their weights in 256ths.
    private struct Axis {
        struct Span {
            let first: Int
            let weights: Range<Int>
            let total: UInt32
        }

        private(set) var spans: [Span] = []
        private(set) var weights: [UInt32] = []

        init(from start: Double, length: Double, of count: Int, to results: Int) {
            let end = count << 8
            for result in 0..<results {
                let (from, to) = (Double(result), Double(result + 1))
                var low = Int((256 * (start + length * from / Double(results))).rounded())
                var high = Int((256 * (start + length * to / Double(results))).rounded())
                // Rounding can leave the picture by a 256th, and can leave no part of a pixel.
                low = min(max(0, low), end - 1)
                high = min(max(low + 1, high), end)
                let begin = weights.count
                for pixel in (low >> 8)...((high - 1) >> 8) {
                    let share = min(high, (pixel + 1) << 8) - max(low, pixel << 8)
                    weights.append(UInt32(share))
                }
                spans.append(
                    Span(
                        first: low >> 8, weights: begin..<weights.count, total: UInt32(high - low)))
            }
        }
    }
}

extension Picture {
    /// Returns the picture turned from its stored orientation to upright.
    func upright(_ orientation: PictureOrientation) -> Picture {
        if orientation == .up { return self }
        let turned = orientation.isTransposed ? size.transposed : size
        let pixels = [UInt8](unsafeUninitializedCapacity: self.pixels.count) { result, count in
            for y in 0..<turned.height {
                for x in 0..<turned.width {
                    let source = orientation.source(x: x, y: y, in: size)
                    let from = 4 * (source.y * size.width + source.x)
                    let to = 4 * (y * turned.width + x)
                    for channel in 0..<4 { result[to + channel] = self.pixels[from + channel] }
                }
            }
            count = self.pixels.count
        }
        return Picture(size: turned, pixels: pixels)
    }
}
