/// Samples of one kind and day as a blob of a dozen bytes each: differences, as variable-length
/// numbers.
enum SampleCoding {
    /// - Parameter samples: The samples of a kind, in order.
    static func encode(_ samples: [PackedSample]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(samples.count * 14)
        var previous: Int64 = 0
        for sample in samples {
            put(UInt64(bitPattern: zigzag(sample.start &- previous)), &bytes)
            put(UInt64(sample.duration), &bytes)
            put(UInt64(bitPattern: zigzag(sample.value)), &bytes)
            put(UInt64(sample.source), &bytes)
            put(UInt64(sample.zone) << 1 | (sample.isEntered ? 1 : 0), &bytes)
            put(UInt64(bitPattern: zigzag(Int64(sample.startOffset))), &bytes)
            put(
                UInt64(bitPattern: zigzag(Int64(sample.endOffset) - Int64(sample.startOffset))),
                &bytes)
            previous = sample.start
        }
        return bytes
    }

    /// Returns nil if the bytes are not samples of these sources.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, kind: HealthKind, sourceHashes: [UInt64]
    ) -> [PackedSample]? {
        var samples: [PackedSample] = []
        var place = 0
        var previous: Int64 = 0
        while place < bytes.count {
            guard let step = take(bytes, &place), let duration = take(bytes, &place),
                let value = take(bytes, &place), let source = take(bytes, &place),
                let zone = take(bytes, &place), let offset = take(bytes, &place),
                let change = take(bytes, &place), source < sourceHashes.count,
                duration <= PackedSample.maxDuration, zone >> 1 <= UInt16.max
            else { return nil }
            let (start, overflow) = previous.addingReportingOverflow(unzigzag(step))
            let startOffset = unzigzag(offset)
            let (endOffset, wraps) = startOffset.addingReportingOverflow(unzigzag(change))
            guard !overflow, !wraps, PackedSample.starts.contains(start),
                let startOffset = Int16(exactly: startOffset),
                let endOffset = Int16(exactly: endOffset)
            else { return nil }
            samples.append(
                PackedSample(
                    kind: kind, start: start, duration: UInt32(duration), value: unzigzag(value),
                    source: UInt16(source), sourceHash: sourceHashes[Int(source)],
                    zone: UInt16(zone >> 1), startOffset: startOffset, endOffset: endOffset,
                    isEntered: zone & 1 == 1))
            previous = start
        }
        return samples
    }

    @inline(__always)
    private static func zigzag(_ number: Int64) -> Int64 { (number << 1) ^ (number >> 63) }
    @inline(__always)
    private static func unzigzag(_ number: UInt64) -> Int64 {
        Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    @inline(__always)
    private static func put(_ number: UInt64, _ bytes: inout [UInt8]) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    @inline(__always)
    private static func take(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while place < bytes.count, shift < 64 {
            let byte = bytes[place]
            place += 1
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}
