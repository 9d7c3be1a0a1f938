import ArgumentParser
import Foundation
import StampsCore
import Synchronization
import TidemarkHTTPClient
import TidemarkImages
import TidemarkResilience

/// The app that shows pictures, in a separate process, so that no other work uses its memory.
struct PictureAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "picture-app", abstract: "Show pictures, and print the cost.",
        shouldDisplay: false)

    @Option var side: Side
    @Option(help: "The address of the pictures, without the number at its end.") var address: String
    @Option(help: "The range of pictures to show, screen by screen.") var shown: String
    @Option(help: "Number of views on one screen.") var screen: Int
    @Option(help: "The folder of the disk cache.") var cache: String
    @Flag(help: "Prefetch the next screen.") var ahead = false
    @Flag(help: "Show everything a second time.") var again = false
    @Option(help: "Afterwards decode the first picture this many times, alone.") var decodes = 0
    @Flag(help: "Only decode the first picture, and print the memory that it needs.") var once =
        false

    private static let box = PictureSize(width: 56, height: 56)

    func run() async throws {
        let numbers = try shown.split(separator: ",").flatMap(Self.range)
        if once { return try decodeOnce(try await Self.file(url(numbers.first ?? 0))) }
        let before = PeakMemory.mebibytes
        switch side {
        case .before, .filtered: try await showWhole(numbers)
        case .after: try await showSmall(numbers)
        }
        print("figure MiB \(PeakMemory.mebibytes)")
        print("figure MiB-at-start \(before)")
        // The decoding follows the memory's figure, which the file is no part of, and has a
        // separate label.
        if decodes > 0 { try decode(try await Self.file("\(address)-decode/0")) }
    }

    /// Parses `7` or `0-999`.
    private static func range(_ text: Substring) throws -> [Int] {
        let ends = text.split(separator: "-").compactMap { Int($0) }
        guard let first = ends.first, let last = ends.last, first <= last else {
            throw ValidationError("\(text) is not a range")
        }
        return Array(first...last)
    }

    private func url(_ number: Int) -> String { "\(address)/\(number)" }

    // MARK: On Tidemark

    private func showSmall(_ numbers: [Int]) async throws {
        let pipeline = try ImagePipeline(folder: URL(fileURLWithPath: cache))
        let first = try await pass(numbers, pipeline)
        let figures = pipeline.figures
        let memory = again ? try await pass(numbers, pipeline) : nil
        print("figure shown \(first.shown)")
        print("figure first-screen-ms \(first.firstScreen.milliseconds)")
        print("figure all-ms \(first.all.milliseconds)")
        for (origin, times) in first.times { Self.report(times, as: "\(origin.rawValue)") }
        if let memory { Self.report(memory.times[.memory] ?? [], as: "again") }
        print("figure resumed \(figures.resumed)")
        print("figure decodes \(figures.decodes)")
        print("figure without-decoding \(figures.smallFiles)")
        print("figure received-bytes \(figures.bytesReceived)")
    }

    private struct Pass<Origin: Hashable> {
        var shown = 0
        var times: [Origin: [Duration]] = [:]
        var firstScreen = Duration.zero
        var all = Duration.zero
    }

    /// Shows the pictures screen by screen.
    private func pass(
        _ numbers: [Int], _ pipeline: ImagePipeline
    ) async throws -> Pass<LoadedPicture.Origin> {
        var pass = Pass<LoadedPicture.Origin>()
        let start = ContinuousClock.now
        let requests = numbers.compactMap { number in
            URL(string: url(number)).map { PictureRequest($0, size: Self.box) }
        }
        for first in stride(from: 0, to: requests.count, by: screen) {
            let views = requests[first..<min(first + screen, requests.count)]
            let next = requests[views.endIndex..<min(views.endIndex + screen, requests.count)]
            let prefetch = ahead ? pipeline.prefetch(Array(next)) : nil
            for (origin, time) in await show(views, pipeline) {
                pass.shown += 1
                pass.times[origin, default: []].append(time)
            }
            if first == 0 { pass.firstScreen = ContinuousClock.now - start }
            await prefetch?.finished()
        }
        await pipeline.settle()
        pass.all = ContinuousClock.now - start
        return pass
    }

    private func show(
        _ views: ArraySlice<PictureRequest>, _ pipeline: ImagePipeline
    ) async -> [(LoadedPicture.Origin, Duration)] {
        await withTaskGroup(of: (LoadedPicture.Origin, Duration)?.self) { group in
            for view in views {
                group.addTask {
                    let start = ContinuousClock.now
                    if pipeline.cached(view) != nil { return (.memory, .now - start) }
                    guard let loaded = try? await pipeline.picture(view) else { return nil }
                    return (loaded.origin, .now - start)
                }
            }
            return await group.reduce(into: [(LoadedPicture.Origin, Duration)]()) { all, one in
                if let one { all.append(one) }
            }
        }
    }

    // MARK: As it was

    /// Shows the pictures as `ImageManager` and Kingfisher did. Views that wait for the same
    /// picture share a download. The picture is decoded at full size and kept in memory, and the
    /// file is kept on disk. Nothing is decoded at a smaller size, and no download is resumed.
    private func showWhole(_ numbers: [Int]) async throws {
        let decodes = Mutex(0)
        let pictures = try KeptPictures(
            folder: URL(fileURLWithPath: cache), download: { try await Self.file($0) },
            make: { file in
                decodes.withLock { $0 += 1 }
                let picture = try PictureDecoding.picture(file, into: Self.largest, .fit)
                return (picture, picture.pixels.count)
            })
        let first = await passWhole(numbers, pictures)
        let count = decodes.withLock { $0 }
        let second = again ? await passWhole(numbers, pictures) : nil
        print("figure shown \(first.shown)")
        print("figure first-screen-ms \(first.firstScreen.milliseconds)")
        print("figure all-ms \(first.all.milliseconds)")
        print("figure decodes \(count)")
        for (origin, times) in first.times { Self.report(times, as: origin.rawValue) }
        // Pictures that do not fit into memory are read from disk and decoded again.
        if let second { Self.report(second.times.values.flatMap(\.self), as: "again") }
    }

    /// Shows the pictures screen by screen.
    private func passWhole(
        _ numbers: [Int], _ pictures: KeptPictures<Picture>
    ) async -> Pass<KeptPictures<Picture>.Origin> {
        var pass = Pass<KeptPictures<Picture>.Origin>()
        let start = ContinuousClock.now
        for first in stride(from: 0, to: numbers.count, by: screen) {
            let views = numbers[first..<min(first + screen, numbers.count)]
            let shown = await withTaskGroup(
                of: (KeptPictures<Picture>.Origin, Duration)?.self
            ) { group in
                for view in views {
                    group.addTask {
                        let start = ContinuousClock.now
                        let shown = try? await pictures.picture(url(view))
                        return shown.map { ($0.origin, .now - start) }
                    }
                }
                return await group.reduce(
                    into: [(KeptPictures<Picture>.Origin, Duration)]()
                ) { all, one in
                    if let one { all.append(one) }
                }
            }
            pass.shown += shown.count
            for (origin, time) in shown { pass.times[origin, default: []].append(time) }
            if first == 0 { pass.firstScreen = ContinuousClock.now - start }
        }
        pass.all = ContinuousClock.now - start
        return pass
    }

    private static let largest = PictureSize(width: 10_000, height: 10_000)

    private static let session = HTTPSession(maxRedirects: 0, silence: .seconds(60))

    private static func file(_ url: String) async throws -> [UInt8] {
        let answer = try await session.answer(to: HTTPRequest("GET", url), upTo: 64 << 20)
        guard answer.status == 200 else { throw PictureError.notFound }
        return answer.body
    }

    private static let stamp = PictureSize(width: 64, height: 48)

    private func decoded(_ file: [UInt8]) throws -> Picture {
        switch side {
        case .before, .filtered: try PictureDecoding.picture(file, into: Self.largest, .fit)
        case .after: try PictureDecoding.picture(file, into: Self.box, .fill)
        }
    }

    /// Measures the memory that decoding a file adds: that of the decoder and the picture. The file
    /// is already in memory.
    ///
    /// A small picture is decoded first, because the decoder's code then is in memory. That memory
    /// belongs to the program, and is larger in a larger program. The memory that the large picture
    /// needs is not yet allocated.
    private func decodeOnce(_ file: [UInt8]) throws {
        var generator = PictureGenerator(seed: 1)
        guard let stamp = PictureEncoder.jpeg(generator.photograph(Self.stamp), Self.stamp) else {
            throw PictureError.unsupported("JPEG")
        }
        _ = try decoded(stamp)
        PeakMemory.restart()
        let before = PeakMemory.mebibytes
        let picture = try decoded(file)
        print("figure MiB \(PeakMemory.mebibytes - before)")
        print("figure picture-KiB \(Double(picture.pixels.count) / 1_024)")
        print("figure shown 1")
    }

    private func decode(_ file: [UInt8]) throws {
        var times: [Duration] = []
        for _ in 0..<decodes {
            let start = ContinuousClock.now
            _ = try decoded(file)
            times.append(.now - start)
        }
        Self.report(times, as: "decode-alone")
    }

    // MARK: Figures

    private static func report(_ times: [Duration], as name: String) {
        let milliseconds = times.map(\.milliseconds)
        guard let median = milliseconds.share(0.5), let last = milliseconds.share(1) else { return }
        print("figure \(name)-median-ms \(median)")
        if let p99 = milliseconds.p99 { print("figure \(name)-p99-ms \(p99)") }
        print("figure \(name)-longest-ms \(last)")
    }
}
