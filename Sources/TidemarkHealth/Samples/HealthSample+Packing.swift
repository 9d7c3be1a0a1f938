import Foundation

extension HealthSample {
    enum Packing: Hashable {
        case sample(PackedSample)
        /// The sample is time in bed, which does not state whether the user slept.
        case ignored
        case bad(BadRecord.Reason)
    }

    /// Packs the sample like an export's record of the same measurement.
    func packed(_ names: inout NameTables) -> Packing {
        guard let first = Self.seconds(start) else { return .bad(.outOfRange) }
        guard let last = Self.seconds(end) else { return .bad(.badDate(attribute: "endDate")) }
        let duration = last - first
        if duration < 0 { return .bad(.endsBeforeItStarts) }
        if duration > PackedSample.maxDuration { return .bad(.lastsTooLong) }
        let amount: Int64
        switch millionths(duration) {
        case .value(let found): amount = found
        case .ignored: return .ignored
        case .bad(let reason): return .bad(reason)
        }
        guard let number = names.number(of: source) else { return .bad(.tooManySources) }
        let zone = metadata["HKTimeZone"].map { names.zone(named: $0) } ?? 0
        return .sample(
            PackedSample(
                kind: kind, start: first, duration: UInt32(duration), value: amount,
                source: number, sourceHash: names.sourceHashes[Int(number)], zone: zone,
                startOffset: offset(start), endOffset: offset(end),
                isEntered: metadata["HKWasUserEntered"] == "1"))
    }

    private enum Amount {
        case value(Int64)
        case ignored
        case bad(BadRecord.Reason)
    }

    private func millionths(_ duration: Int64) -> Amount {
        switch value {
        case .category(let category):
            guard kind == .sleep else { return .bad(.badValue) }
            return switch category {
            case 0: .ignored
            case 2: .value(0)
            case 1, 3, 4, 5: .value(max(duration, 1) * Decimal6.one)
            default: .bad(.badValue)
            }
        case .quantity(let number, let unit):
            guard kind != .sleep, number >= 0 || kind.mayBeNegative else { return .bad(.badValue) }
            guard let factor = kind.factor(unit: unit) else { return .bad(.badUnit) }
            // The value is computed in two steps, like the text of an export, so the same
            // measurement gives the same number.
            guard let written = Decimal6.of(number) else { return .bad(.badValue) }
            if factor == 1 { return .value(written) }
            guard let value = Decimal6.of(Double(written) / 1_000_000 * factor) else {
                return .bad(.badValue)
            }
            return .value(value)
        }
    }

    /// Returns whole seconds, rounded down as an export writes them; nil for an implausible date.
    private static func seconds(_ date: Date) -> Int64? {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        guard seconds >= Double(PackedSample.starts.lowerBound),
            seconds <= Double(PackedSample.starts.upperBound)
        else { return nil }
        return Int64(seconds)
    }

    private func offset(_ date: Date) -> Int16 { Int16(timeZone.secondsFromGMT(for: date) / 60) }
}
