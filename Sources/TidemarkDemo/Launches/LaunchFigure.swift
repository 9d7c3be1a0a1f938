import ExampleKit
import Foundation
import TidemarkPhones

/// The times of the slowest launch, and the 99th percentile if there are at least 200 launches.
/// They are the times to the first content, and their part since the app's `init`.
struct Slowest: Hashable, Sendable, Encodable {
    var launches = 0
    var worstMs: Double?
    var p99Ms: Double?
    var ofInitWorstMs: Double?
    var ofInitP99Ms: Double?

    /// The time to the first content: the 99th percentile if there is one, else the slowest.
    var ms: Double? { p99Ms ?? worstMs }
    /// The same time since the app's `init`.
    var ofInitMs: Double? { ofInitP99Ms ?? ofInitWorstMs }
    /// The name of the value in ``ms``.
    var name: String { (p99Ms == nil ? "slowest of " : "p99 of ") + "\(launches)" }
}

/// The results of one app's launches on one network. Each launch is a separate process. Times begin
/// when the process is requested, as when a user taps an icon; `ofInit` times begin at the app's
/// `init`.
struct LaunchFigure: Encodable, Sendable {
    /// The number of launches for the median ``firstContentMs``. It is the same for both apps.
    var launches = 0
    /// The median time to the first stamps, from the device or the server; nil if they did not
    /// appear in time.
    var firstContentMs: Double?
    var firstContentOfInitMs: Double?
    /// The slowest of all timed launches. The app on Tidemark can have more launches than the
    /// other.
    var slowest = Slowest()
    /// The median time before the app's `init`, which the system and the program take to start.
    var startMs: Double?
    /// The median time to a profile.
    var profileMs: Double?
    /// The median and the worst time until the launch shows the server's content, including newly
    /// issued stamps; nil if a launch never did.
    var liveMs: Double?
    var liveWorstMs: Double?
    /// The median and the worst time from a row to its picture, for pictures from the network.
    var pictureMs: Double?
    var pictureWorstMs: Double?
    /// The number of these pictures.
    var picturesLoaded = 0
    /// The worst time until all of this is shown, with the pictures of all visible rows.
    var completeMs: Double?
    /// The number of documents that the last launch was billed by the server's meter, and the
    /// number of reads by rules.
    var reads: Int?
    var readsOfRules: Int?
    /// The delay of a read after its deadline of 500 ms.
    var overDeadlineMs: Double?
    /// The number of stamps that are missing at the end, and of those that are wrong, compared with
    /// a full read.
    var missed: Int?
    var extra: Int?
    /// The last text that the user saw.
    var shown = "nothing"
    var isUsable = false
    /// The number of items on the last screen.
    var items = 0

    // MARK: What has to hold

    /// The limits for the app on Tidemark, in milliseconds.
    private static let most = (ofInit: 20.0, first: 1_000.0, overDeadline: 50.0, live: 3_000.0)
    /// The limits for a picture. It takes a round trip of 400 ms and the time for its bytes. Each
    /// lost packet adds 400 ms. Some of the pictures on the screen lose packets: the worst picture
    /// may lose two.
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

    /// Returns the failed requirements; empty if all hold. They include no times.
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

    /// Returns the times that exceeded their limits.
    func slow(on network: LaunchNetwork) -> [SlowTime] {
        func slow(_ name: String, figure: Double?, limit: Double) -> SlowTime? {
            figure.flatMap { SlowTime(name, $0, limit: limit) }
        }
        var times = [
            slow(
                "the app's first content (\(slowest.name)) ms", figure: slowest.ofInitMs,
                limit: Self.most.ofInit),
            slow("first content (\(slowest.name)) ms", figure: slowest.ms, limit: Self.most.first),
            slow(
                "a read over its deadline by ms", figure: overDeadlineMs,
                limit: Self.most.overDeadline),
        ]
        if network == .threeG {
            times += [
                slow("live (worst) ms", figure: liveWorstMs, limit: Self.most.live),
                slow("a picture (median) ms", figure: pictureMs, limit: Self.picture.median),
                slow("a picture (worst) ms", figure: pictureWorstMs, limit: Self.picture.worst),
            ]
        }
        return times.compactMap(\.self)
    }
}

extension LaunchFigure {
    /// - Parameters:
    ///   - firsts: The launches for the time to the first content only; empty to use the whole
    ///     launches.
    ///   - whole: The launches to their end, for all other figures.
    ///   - compared: The number of `firsts` for the median; nil for all.
    init(firsts: [PhoneUse], whole: [WholeLaunch], compared: Int? = nil) {
        let all = firsts.isEmpty ? whole.map(\.use) : firsts
        // A launch that showed nothing counts as infinitely slow.
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

/// The launches of both apps to their ends.
struct WholeLaunches: Sendable {
    var before: [WholeLaunch] = []
    var after: [WholeLaunch] = []
    /// The launches on Tidemark with their predicted bills.
    var planned: [PlannedLaunch] = []
}

/// A launch to its end: the app shows everything that appears without user action.
struct WholeLaunch: Sendable {
    let use: PhoneUse
    /// The ids that a full read found.
    let truth: [String]
    let bill: Bill
    /// True if the server could be reached. Without the server, the launch is never live.
    let isReached: Bool
    /// The rows whose pictures were not on the device. Both apps keep the pictures that they have
    /// shown.
    let fromNetwork: Set<String>

    /// The time until the screen shows the server's content, and nothing that looks outdated.
    var liveMs: Double? { isReached ? use.first(isLive) : nil }
    var completeMs: Double? { use.first { isLive($0) && $0.hasAllPictures } }

    private func isLive(_ screen: Screen) -> Bool {
        screen.isUpToDate && screen.documents == truth
    }

    /// The time for which each row was visible without its picture, for pictures from the network.
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
