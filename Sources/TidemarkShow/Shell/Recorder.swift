import Foundation
import Synchronization
import TidemarkPhones

/// A state of a show and its time.
struct Moment: Codable, Equatable, Sendable {
    /// The seconds since the show began.
    var at: Double
    var state: ShowState
}

/// Records a show in a file, one line of JSON per state.
final class Recorder: Sendable {
    /// The maximum size of a recording in bytes. The show continues after it.
    static let maxBytes = 256 << 20

    private struct State {
        var file: FileHandle?
        var bytes = 0
    }

    private let start = ContinuousClock.now
    private let state: Mutex<State>

    /// - Throws: An error if the file cannot be created.
    init(_ path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil),
            let file = FileHandle(forWritingAtPath: path)
        else { throw OrderError("The recording \(path) cannot be written.") }
        state = Mutex(State(file: file))
    }

    func write(_ shown: ShowState) {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let line = JSONLine.encode(Moment(at: seconds, state: shown))
        state.withLock { state in
            guard state.bytes + line.count <= Self.maxBytes else { return }
            state.bytes += line.count
            try? state.file?.write(contentsOf: line)
        }
    }

    func close() { state.withLock { try? $0.file.take()?.close() } }
}

/// A recorded show. Each reader sees it from the beginning.
struct Playback: ShowSource {
    let moments: [Moment]

    /// - Throws: A sentence if the file is not a recording.
    init(_ path: String) throws(OrderError) {
        guard let data = FileManager.default.contents(atPath: path) else {
            throw OrderError("There is no recording \(path).")
        }
        var moments: [Moment] = []
        for line in data.split(separator: UInt8(ascii: "\n")) {
            // The last line is incomplete if the show was killed.
            guard let moment = JSONLine.decode(Moment.self, Data(line)) else { break }
            moments.append(moment)
        }
        guard !moments.isEmpty else { throw OrderError("\(path) is not a recording of a show.") }
        self.init(moments)
    }

    init(_ moments: [Moment]) {
        precondition(!moments.isEmpty)
        self.moments = moments.map { moment in
            var moment = moment
            moment.state.isRecording = true
            return moment
        }
    }

    func current() -> ShowState { moments[0].state }

    func states() -> AsyncStream<ShowState> {
        let (states, input) = AsyncStream.makeStream(
            of: ShowState.self, bufferingPolicy: .bufferingNewest(1))
        let task = Task { [moments] in
            var last = moments[0].at
            for moment in moments {
                try? await Task.sleep(for: .seconds(max(0, moment.at - last)))
                if Task.isCancelled { return }
                last = moment.at
                input.yield(moment.state)
            }
        }
        input.onTermination = { _ in task.cancel() }
        return states
    }

    func order(_ order: ShowOrder) throws(OrderError) {
        throw OrderError("This is a recording. It accepts no commands.")
    }
}
