import ExampleKit
import Foundation
import TidemarkPhones

/// The slowest of many launches, and their 99th percentile where there are 200: to the first content, and of
/// that the part of the app alone, from its `init` on.
struct Slowest: Hashable, Sendable, Encodable {
    var launches = 0
    var worstMs: Double?
    var p99Ms: Double?
    var ofInitWorstMs: Double?
    var ofInitP99Ms: Double?

    /// To the first content: the 99th percentile where there is one, else the slowest.
    var ms: Double? { p99Ms ?? worstMs }
    /// The same, from the app's `init` on.
    var ofInitMs: Double? { ofInitP99Ms ?? ofInitWorstMs }
    /// What ``ms`` is.
    var name: String { (p99Ms == nil ? "slowest of " : "p99 of ") + "\(launches)" }
}

/// What launches of one app on one network came to. Each was a process of its own, and times are counted
/// from the moment at which it was asked for, as a person does who taps on an icon; `ofInit` are those of
/// the app alone, from its `init` on.
struct LaunchFigure: Encodable, Sendable {
    /// Launches of which ``firstContentMs`` is the median: as many of the one app as of the other.
    var launches = 0
    /// To the stamps of the device or of the server: the median; nil for nothing as long as anybody looked.
    var firstContentMs: Double?
    var firstContentOfInitMs: Double?
    /// Of all launches that were timed: on Tidemark these may be more.
    var slowest = Slowest()
    /// What the system and the program took to start, before the app's `init`: the median.
    var startMs: Double?
    /// To a profile: the median.
    var profileMs: Double?
    /// To what the server holds, just issued stamps among it: the median, and the worst. Nil when one did
    /// not come so far.
    var liveMs: Double?
    var liveWorstMs: Double?
    /// From the row to its picture, of those that came from the network: the median, and the worst.
    var pictureMs: Double?
    var pictureWorstMs: Double?
    /// How many these were.
    var picturesLoaded = 0
    /// To all of that, with the pictures of all rows on the screen: the worst.
    var completeMs: Double?
    /// Documents that the last of the launches was billed, by the server's meter; and what rules read.
    var reads: Int?
    var readsOfRules: Int?
    /// By how much a read with a deadline of 500 ms was late.
    var overDeadlineMs: Double?
    /// At the end, beside a full read: stamps that are not shown, and such as should not be.
    var missed: Int?
    var extra: Int?
    /// The last thing that the person was shown.
    var shown = "nothing"
    var isUsable = false
    /// Items of the last screen.
    var items = 0

    // MARK: What has to hold

    /// Of the app on Tidemark, in milliseconds.
    private static let most = (ofInit: 20.0, first: 1_000.0, overDeadline: 50.0, live: 3_000.0)
    /// A picture takes a round trip of 400 ms and what its bytes need. One that loses packets takes 400 ms
    /// more for each, and of those on the screen some do: the worst may have lost two.
    private static let picture = (median: 500.0, worst: 1_300.0)

    static func bar(of network: LaunchNetwork) -> String {
        var parts = [
            "first content at most 20 ms after the app's init and 1 s after its process was asked for (p99, "
                + "or the slowest of fewer than 200)",
            "no read over its deadline by more than 50 ms", "a way on",
        ]
        if network.reachesServer { parts.append("live, with 0 missed and all pictures") }
        if network == .threeG {
            parts.append("live within 3 s, a picture in at most 500 ms (median) and 1.3 s (worst)")
        }
        return parts.joined(separator: ", ")
    }

    /// What is wrong; empty where it holds. No time is among it.
    func wrongs(on network: LaunchNetwork) -> [String] {
        var wrongs: [String] = []
        if slowest.worstMs == nil { wrongs.append("a launch showed nothing") }
        if overDeadlineMs == nil { wrongs.append("no read with a deadline was timed") }
        if !isUsable { wrongs.append("the person had no way on: \(shown)") }
        if items == 0 { wrongs.append("no stamps were shown in the end") }
        guard network.reachesServer else { return wrongs }
        if liveWorstMs == nil { wrongs.append("a launch never showed what the server holds") }
        if completeMs == nil { wrongs.append("a launch never showed all pictures") }
        if missed != 0 { wrongs.append("\(missed ?? 0) stamps missed") }
        if extra != 0 { wrongs.append("\(extra ?? 0) stamps shown twice or wrongly") }
        if network == .threeG, pictureMs == nil { wrongs.append("no picture was timed") }
        return wrongs
    }

    /// Times that are longer than they may be.
    func slow(on network: LaunchNetwork) -> [SlowTime] {
        func slow(_ name: String, _ figure: Double?, _ limit: Double) -> SlowTime? {
            figure.flatMap { SlowTime(name, $0, limit: limit) }
        }
        var times = [
            slow(
                "the app's first content (\(slowest.name)) ms", slowest.ofInitMs,
                Self.most.ofInit),
            slow("first content (\(slowest.name)) ms", slowest.ms, Self.most.first),
            slow("a read over its deadline by ms", overDeadlineMs, Self.most.overDeadline),
        ]
        if network == .threeG {
            times += [
                slow("live (worst) ms", liveWorstMs, Self.most.live),
                slow("a picture (median) ms", pictureMs, Self.picture.median),
                slow("a picture (worst) ms", pictureWorstMs, Self.picture.worst),
            ]
        }
        return times.compactMap(\.self)
    }
}

extension LaunchFigure {
    /// - Parameters:
    ///   - firsts: Launches for the first content alone; none where the whole ones are all there are.
    ///   - whole: Launches to their end, on which all else is measured.
    ///   - compared: How many of `firsts` the median is of; nil for all.
    init(firsts: [PhoneUse], whole: [WholeLaunch], compared: Int? = nil) {
        let all = firsts.isEmpty ? whole.map(\.use) : firsts
        // A launch that showed nothing is no fast one.
        let contents = all.map { $0.first { !$0.documents.isEmpty } ?? .infinity }
        let starts = all.map { $0.begins ?? .infinity }
        let ofInit = zip(contents, starts).map { $0 - $1 }
        launches = min(compared ?? all.count, all.count)
        firstContentMs = Array(contents.prefix(launches)).share(0.5)
        firstContentOfInitMs = Array(ofInit.prefix(launches)).share(0.5)
        slowest = Slowest(
            launches: all.count, worstMs: contents.share(1), p99Ms: contents.p99,
            ofInitWorstMs: ofInit.share(1), ofInitP99Ms: ofInit.p99)
        startMs = starts.share(0.5)
        profileMs = whole.map { $0.use.first { $0.profile != nil } ?? .infinity }.share(0.5)
        let lives = whole.map { $0.liveMs ?? .infinity }
        (liveMs, liveWorstMs) = (lives.share(0.5), lives.share(1))
        let pictures = whole.flatMap(\.pictureMs)
        (pictureMs, pictureWorstMs) = (pictures.share(0.5), pictures.share(1))
        picturesLoaded = pictures.count
        completeMs = whole.map { $0.completeMs ?? .infinity }.share(1)
        guard let last = whole.last else { return }
        (reads, readsOfRules) = (last.bill.documents, last.bill.rules)
        let ids = last.use.last?.documents ?? []
        (missed, extra) = (
            Set(last.truth).subtracting(ids).count,
            Set(ids).subtracting(last.truth).count + ids.count - Set(ids).count
        )
        items = ids.count
        guard let screen = last.use.last else { return }
        isUsable = screen.isUsable
        shown =
            ids.isEmpty
            ? "a loading screen" : "\(items) items" + (screen.remark.map { ": " + $0 } ?? "")
    }
}

/// One launch to its end: all that the app shows when nobody does anything.
struct WholeLaunch: Sendable {
    let use: PhoneUse
    /// The ids that a full read found.
    let truth: [String]
    let bill: Bill
    /// Whether the server could be reached: without it, nothing is live.
    let isReached: Bool
    /// The rows whose pictures are not on the device before: both apps keep those that they have shown.
    let fromNetwork: Set<String>

    /// When it showed what the server holds, and nothing that a person takes for old.
    var liveMs: Double? { isReached ? use.first(isLive) : nil }
    var completeMs: Double? { use.first { isLive($0) && $0.hasAllPictures } }

    private func isLive(_ screen: Screen) -> Bool {
        screen.isUpToDate && screen.documents == truth
    }

    /// Of each picture that came from the network: how long its row was there without it.
    var pictureMs: [Double] {
        let ids = use.last.map { Set($0.pictures.keys) } ?? []
        return ids.intersection(fromNetwork).compactMap { id in
            guard let row = use.first({ $0.pictures[id] != nil }),
                let picture = use.first({ $0.pictures[id] == true })
            else { return nil }
            return picture - row
        }
    }
}
