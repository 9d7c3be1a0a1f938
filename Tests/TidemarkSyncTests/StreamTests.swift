import Testing
import TidemarkModel

@testable import TidemarkSync

struct OnlineStateTests {
    @Test func `ten seconds without a word make it offline`() {
        var machine = OnlineState()
        #expect(machine.step(.streamStarting) == [.schedule(.seconds(10))])
        #expect(machine.step(.streamStarting).isEmpty, "one timer")
        #expect(machine.step(.timerFired) == [.changed(.offline)])
        #expect(machine.step(.streamStarting).isEmpty, "offline is remembered")
        #expect(machine.step(.heard) == [.changed(.online)])
    }

    @Test func `one failure is enough, but a stream that worked gets another chance`() {
        var machine = OnlineState()
        _ = machine.step(.streamStarting)
        #expect(machine.step(.heard) == [.cancelTimer, .changed(.online)])
        #expect(machine.step(.streamFailed) == [.changed(.unknown)])
        #expect(machine.step(.streamFailed) == [.changed(.offline)])
        #expect(machine.step(.mayBeBack) == [.changed(.unknown)])
    }

    @Test func `a timer that fires after the answer does nothing`() {
        var machine = OnlineState()
        _ = machine.step(.streamStarting)
        _ = machine.step(.heard)
        #expect(machine.step(.timerFired).isEmpty)
    }
}

struct StreamLifecycleTests {
    private let timers = StreamLifecycle.Timers(
        backoff: .listenBackoff, idle: .listenIdle, healthy: .listenHealthy)
    private let start = StreamLifecycle.Event.start(elapsed: .zero, jitter: 0.5)
    private let gone = RPCStatus(.unavailable, "gone")

    @Test func `a first start opens at once and is healthy after ten seconds`() {
        var machine = StreamLifecycle(timers)
        #expect(machine.step(start) == [.open, .schedule(.listenHealthy, .seconds(10))])
        #expect(machine.step(start).isEmpty)
        _ = machine.step(.healthyElapsed)
        #expect(machine.state == .healthy)
    }

    @Test func `delays grow from nothing by half, up to a minute, and start over on progress`() {
        var machine = StreamLifecycle(timers)
        var delays: [Duration] = []
        for attempt in 0..<15 {
            // `elapsed` is zero, because no delay would remain a long time after the previous
            // attempt.
            _ = machine.step(.start(elapsed: .zero, jitter: 0.5))
            _ = machine.step(.backoffElapsed)
            if attempt == 13 { _ = machine.step(.progressed) }
            #expect(
                machine.step(.ended(gone)) == [.cancel(.listenHealthy), .failed(gone)])
            for effect in machine.step(.start(elapsed: .zero, jitter: 0.5)) {
                if case .schedule(.listenBackoff, let delay) = effect { delays.append(delay) }
            }
        }
        #expect(Array(delays.prefix(4)) == [.zero, .seconds(1), .seconds(1.5), .seconds(2.25)])
        #expect(delays[12] == .seconds(60))
        #expect(delays[13] == .zero)
    }

    @Test func `a server that has had too much is left alone for a minute`() {
        var machine = StreamLifecycle(timers)
        _ = machine.step(start)
        _ = machine.step(.ended(RPCStatus(.resourceExhausted, "quota")))
        #expect(machine.step(start) == [.schedule(.listenBackoff, .seconds(60))])
    }

    @Test func `an idle stream is closed after a minute, unless it is used`() {
        var machine = StreamLifecycle(timers)
        _ = machine.step(start)
        #expect(machine.step(.idle) == [.schedule(.listenIdle, .seconds(60))])
        #expect(machine.step(.idle).isEmpty)
        #expect(machine.step(.used) == [.cancel(.listenIdle)])
        #expect(machine.step(.idleElapsed).isEmpty)
        _ = machine.step(.idle)
        #expect(
            machine.step(.idleElapsed) == [.cancel(.listenIdle), .cancel(.listenHealthy), .close])
        #expect(machine.state == .initial)
    }

    @Test func `what ends after it was stopped ends quietly`() {
        var machine = StreamLifecycle(timers)
        _ = machine.step(start)
        #expect(machine.step(.stop) == [.cancel(.listenHealthy), .close])
        #expect(machine.step(.ended(gone)).isEmpty)
        #expect(machine.step(.stop).isEmpty)
    }

    @Test func `a wait that is inhibited ends at once`() {
        var machine = StreamLifecycle(timers)
        _ = machine.step(start)
        _ = machine.step(.ended(gone))
        _ = machine.step(start)
        #expect(machine.state == .backoff)
        #expect(
            machine.step(.inhibitBackoff)
                == [
                    .cancel(.listenBackoff), .open, .schedule(.listenHealthy, .seconds(10)),
                ])
    }
}

struct WriteStreamTests {
    private let start = WriteStream.Event.lifecycle(.start(elapsed: .zero, jitter: 0.5))
    private let write = [Mutation(path: DocumentPath(unchecked: "a/b"), .delete)]

    private func ready() -> WriteStream {
        var machine = WriteStream()
        _ = machine.step(start)
        _ = machine.step(.received(WriteResponse(streamToken: [1])))
        return machine
    }

    @Test func `it shakes hands first and echoes the newest token`() {
        var machine = WriteStream()
        #expect(
            machine.step(start)
                == [
                    .lifecycle(.open), .request(WriteRequest()),
                    .lifecycle(.schedule(.writeHealthy, .seconds(10))),
                ])
        #expect(!machine.isReady)
        #expect(machine.step(.received(WriteResponse(streamToken: [1]))) == [.ready(nil)])
        #expect(
            machine.step(.send(write))
                == [.request(WriteRequest(streamToken: [1], mutations: write))])
        let response = WriteResponse(
            streamToken: [2], results: [], commitTime: Timestamp(microseconds: 5))
        #expect(
            machine.step(.received(response))
                == [.committed(results: [], commitTime: Timestamp(microseconds: 5))])
        #expect(
            machine.step(.send(write))
                == [.request(WriteRequest(streamToken: [2], mutations: write))])
    }

    @Test func `it says goodbye with an empty write`() {
        var machine = ready()
        #expect(
            machine.step(.lifecycle(.stop))
                == [
                    .lifecycle(.cancel(.writeHealthy)), .request(WriteRequest(streamToken: [1])),
                    .lifecycle(.close),
                ])
        #expect(!machine.isReady)
    }

    @Test func `a failure says whether the handshake was over`() {
        let gone = RPCStatus(.unavailable, "gone")
        var machine = ready()
        #expect(
            machine.step(.lifecycle(.ended(gone))).last == .failed(gone, wasReady: true))
        machine = WriteStream()
        _ = machine.step(start)
        #expect(
            machine.step(.lifecycle(.ended(gone))).last == .failed(gone, wasReady: false))
    }
}
