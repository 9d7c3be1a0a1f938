import Foundation
import TidemarkSystem

/// How long somebody has waited who has typed `make demo`, from the start of the demo on.
struct DemoTimes: Hashable, Sendable, Encodable {
    /// Seconds.
    static let (mostFirstTable, mostPlay) = (10.0, 360.0)

    /// When the table of the three clients was there, in seconds.
    let firstTable: Double
    /// When all was played, in seconds.
    let play: Double
    /// Whether they are held to the most that they may be.
    let isJudged: Bool

    /// How much of each core was at work in the minute before, 1 for all of it; nil where that is not known. After a build
    /// it is near 1, and the demo takes longer than it does by itself.
    let load: Double?

    private static let mostLoad = 0.5
    /// How much longer it may take where the machine was busy before.
    private static let allowance = 2.0

    private var wasBusy: Bool { (load ?? 0) > Self.mostLoad }

    /// Sentences; none when both hold, or are not judged.
    var complaints: [String] {
        isJudged ? exceeded(wasBusy ? Self.allowance : 1) : []
    }

    /// What is said in the place of complaints where the machine was busy before.
    var remark: String? {
        let exceeded = exceeded(1)
        guard isJudged, wasBusy, complaints.isEmpty, !exceeded.isEmpty, let load else {
            return nil
        }
        return
            (exceeded + [
                "That is not held against it: the machine was busy before it began "
                    + "(\(Bar.number(load)) of each core)."
            ]).joined(separator: " ")
    }

    private func exceeded(_ allowance: Double) -> [String] {
        let (mostFirstTable, mostPlay) = (
            allowance * Self.mostFirstTable, allowance * Self.mostPlay
        )
        var sentences: [String] = []
        if firstTable > mostFirstTable {
            sentences.append(
                "The first table came after \(Bar.number(firstTable)) s, and "
                    + "\(Bar.number(mostFirstTable)) s are the most.")
        }
        if play > mostPlay {
            sentences.append(
                "The demo took \(Bar.number(play)) s, and \(Bar.number(mostPlay)) s are the most.")
        }
        return sentences
    }

    /// For ``load``, now.
    static func loadOfMachine() -> Double? {
        var averages = [0.0]
        guard getloadavg(&averages, 1) == 1 else { return nil }
        return averages[0] / Double(ProcessInfo.processInfo.activeProcessorCount)
    }
}
