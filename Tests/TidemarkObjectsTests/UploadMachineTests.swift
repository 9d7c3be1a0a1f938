import TestSupport
import Testing
import TidemarkModel

@testable import TidemarkObjects

/// The machine of one resumable upload, event by event.
struct UploadMachineTests {
    private func chunk(_ offset: Int64, _ length: Int64, isLast: Bool = false) -> UploadChunk {
        UploadChunk(offset: offset, length: length, isLast: isLast)
    }

    private func range(_ first: Int64, _ count: Int64, of total: Int64?) -> UploadChunk {
        UploadChunk(offset: first, length: count, total: total)
    }

    /// An upload with `received` stored bytes.
    private func machine(
        _ dialect: UploadDialect = .firebase, declared: Int64? = nil, received: Int64 = 0
    ) -> UploadMachine {
        UploadMachine(dialect: dialect, declared: declared, received: received, phase: .idle)
    }

    @Test func `a file in one request is stored and becomes an object`() {
        var upload = machine(declared: 100)
        #expect(
            upload.step(.chunk(chunk(0, 100, isLast: true), 1))
                == [.receive(1, UploadSpan(at: 0, skip: 0, most: 100))])
        #expect(
            upload.step(.ended(upTo: 100, isComplete: true, 1)) == [.save, .commit(1)])
        #expect(
            upload.step(.committed(generation: 7, 1)) == [.answer(1, .final(generation: 7))])
        #expect(upload.step(.query(2)) == [.answer(2, .final(generation: 7))])
        #expect(
            upload.step(.chunk(chunk(0, 100, isLast: true), 3))
                == [.answer(3, .final(generation: 7))], "a repeated request")
    }

    @Test func `a wrong offset is refused with production's sentence and changes nothing`() {
        var upload = machine(received: 262_144)
        let refusal = ObjectRefusal.invalid(
            "Client uploaded to the wrong offset (0 instead of 262144).")
        #expect(
            upload.step(.chunk(chunk(0, 262_144), 1))
                == [.answer(1, .refusal(refusal, state: .active, received: 262_144))])
        #expect(upload.step(.query(2)) == [.answer(2, .active(received: 262_144))])
    }

    @Test(arguments: [(Int64(60), false), (30, true), (61, true)])
    func `a size other than the declared one is refused before the bytes`(
        length: Int64, isLast: Bool
    ) {
        var upload = machine(declared: 100, received: 50)
        let effects = upload.step(.chunk(chunk(50, length, isLast: isLast), 1))
        guard case .answer(1, .refusal(let refusal, .active, 50)) = effects.first else {
            Issue.record("\(effects)")
            return
        }
        #expect(refusal.status == 400)
        #expect(upload.phase == .idle)
    }

    @Test func `an unknown size is checked at the end`() {
        var upload = machine(declared: 100)
        _ = upload.step(.chunk(UploadChunk(offset: 0, length: nil, isLast: true), 1))
        let effects = upload.step(.ended(upTo: 99, isComplete: true, 1))
        #expect(
            effects == [
                .save,
                .answer(
                    1, .refusal(.wrongSize(99, declared: 100), state: .active, received: 99)),
            ])
    }

    @Test func `a cut request keeps its synced bytes`() {
        var upload = machine()
        _ = upload.step(.chunk(chunk(0, 1_000_000, isLast: true), 1))
        #expect(upload.step(.stored(upTo: 524_288, 1)) == [.save])
        let effects = upload.step(.ended(upTo: 786_432, isComplete: false, 1))
        #expect(
            effects == [
                .save, .answer(1, .refusal(.cutOff, state: .active, received: 786_432)),
            ])
        #expect(upload.received == 786_432)
    }

    @Test func `a later request waits until the earlier one has stopped`() {
        var upload = machine()
        _ = upload.step(.chunk(chunk(0, 1_000_000), 1))
        #expect(upload.step(.query(2)) == [.stop(1)])
        #expect(upload.step(.query(3)) == [], "one stop is enough")
        let effects = upload.step(.ended(upTo: 262_144, isComplete: false, 1))
        #expect(
            effects == [
                .save, .answer(1, .refusal(.replaced, state: .active, received: 262_144)),
                .answer(2, .active(received: 262_144)), .answer(3, .active(received: 262_144)),
            ])
    }

    @Test func `requests wait while the object is made`() {
        var upload = machine(declared: 0)
        _ = upload.step(.chunk(chunk(0, 0, isLast: true), 1))
        #expect(upload.step(.ended(upTo: 0, isComplete: true, 1)) == [.commit(1)])
        #expect(upload.step(.query(2)) == [])
        #expect(upload.step(.cancel(3)) == [])
        #expect(
            upload.step(.committed(generation: 9, 1)) == [
                .answer(1, .final(generation: 9)), .answer(2, .final(generation: 9)),
                .answer(3, .refusal(.isFinal, state: .final, received: 0)),
            ])
    }

    @Test func `too many waiting requests push out the oldest`() {
        var upload = machine()
        _ = upload.step(.chunk(chunk(0, 10), 1))
        for call in 2..<(2 + UploadMachine.maxWaiting) { _ = upload.step(.query(call)) }
        #expect(
            upload.step(.query(99))
                == [.answer(2, .refusal(.replaced, state: .active, received: 0))])
    }

    @Test func `a refusal for good ends the upload, and a fault of the server does not`() {
        let denied = ObjectRefusal.forbidden("Permission denied.")
        for isForGood in [true, false] {
            var upload = machine()
            _ = upload.step(.chunk(chunk(0, 5, isLast: true), 1))
            _ = upload.step(.ended(upTo: 5, isComplete: true, 1))
            let effects = upload.step(.refused(denied, isForGood: isForGood, 1))
            let state: UploadState = isForGood ? .final : .active
            let answer = UploadEffect.answer(1, .refusal(denied, state: state, received: 5))
            #expect(effects == (isForGood ? [.save, .discard, answer] : [answer]))
            let again = upload.step(.chunk(chunk(5, 0, isLast: true), 2))
            #expect(
                again
                    == (isForGood
                        ? [.answer(2, .refusal(denied, state: .final, received: 5))]
                        : [.receive(2, UploadSpan(at: 5, skip: 0, most: nil))]))
        }
    }

    @Test func `a cancel removes the bytes, and can be repeated`() {
        var upload = machine(received: 5)
        #expect(upload.step(.cancel(1)) == [.save, .discard, .answer(1, .cancelled)])
        #expect(upload.step(.cancel(2)) == [.answer(2, .cancelled)])
        #expect(upload.step(.query(3)) == [.answer(3, .cancelled)])
        #expect(
            upload.step(.chunk(chunk(5, 1), 4))
                == [.answer(4, .refusal(.cancelled, state: .cancelled, received: 5))])
    }

    @Test func `a cancel after the end is refused`() {
        var upload = UploadMachine(
            dialect: .firebase, declared: nil, received: 3, phase: .final(generation: 1))
        #expect(
            upload.step(.cancel(1))
                == [.answer(1, .refusal(.isFinal, state: .final, received: 3))])
    }

    // MARK: Cloud Storage's protocol

    @Test func `stored bytes that are sent again are skipped`() {
        var upload = machine(.cloud, received: 262_144)
        #expect(
            upload.step(.chunk(range(0, 524_288, of: nil), 1))
                == [.receive(1, UploadSpan(at: 262_144, skip: 262_144, most: 262_144))])
        #expect(
            upload.step(.ended(upTo: 524_288, isComplete: true, 1))
                == [.save, .answer(1, .active(received: 524_288))])
        #expect(
            upload.step(.chunk(range(0, 262_144, of: nil), 2))
                == [.answer(2, .active(received: 524_288))], "nothing is new")
    }

    @Test func `bytes beyond the stored ones are refused with production's sentence`() {
        var upload = machine(.cloud, received: 10)
        let refusal = ObjectRefusal.beyondStored(sent: 20, stored: 10)
        #expect(
            upload.step(.chunk(range(20, 5, of: 25), 1))
                == [.answer(1, .refusal(refusal, state: .active, received: 10))])
        #expect(refusal.status == 503)
    }

    @Test func `an empty object needs no bytes`() {
        var upload = machine(.cloud)
        #expect(
            upload.step(.chunk(UploadChunk(offset: nil, length: nil, total: 0), 1))
                == [.commit(1)])
    }

    @Test func `another total than the stored size is answered with the stored size`() {
        var upload = machine(.cloud, received: 10)
        for total in [Int64(9), 11] {
            #expect(
                upload.step(.chunk(UploadChunk(offset: nil, length: nil, total: total), 1))
                    == [.answer(1, .active(received: 10))])
        }
    }
}
