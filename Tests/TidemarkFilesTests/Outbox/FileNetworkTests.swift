import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkTesting

@testable import TidemarkFiles

/// Files that exclude networks, over HTTP on this machine.
@Suite(.timeLimit(.minutes(2))) struct FileNetworkTests {
    private struct Place {
        let local: LocalFirestore
        let storage: V0Storage
        let folder: TemporaryFolder
        let address: String

        func phone() throws -> Phone { try Phone(local, folder: folder, address: address) }
    }

    private func play(_ body: @escaping @Sendable (Place) async throws -> Void) async throws {
        let storage = V0Storage()
        let folder = try TemporaryFolder()
        try await storage.serve { address in
            let local = try LocalFirestore.start()
            try await body(
                Place(local: local, storage: storage, folder: folder, address: address))
            await local.stop()
        }
    }

    private func upload(_ byte: UInt8, _ networks: NetworkRules = []) -> FileUpload {
        FileUpload(
            data: Data([byte]), folder: "f", contentType: "image/png", networks: networks)
    }

    @Test func `a file waits for Wi-Fi, says why, and lets others overtake it`() async throws {
        try await play { place in
            let phone = try place.phone()
            phone.outbox.setNetwork(isExpensive: true, isConstrained: true)
            await phone.outbox.start()
            let film = try await phone.send(upload(1, [.wifiOnly]), with: "1")
            let both = try await phone.send(upload(2, [.wifiOnly, .notOnLowData]), with: "2")
            let photo = try await phone.send(upload(3), with: "3")
            try await photo.acknowledged()
            try await until { try await phone.outbox.waitingFiles().count == 2 }
            let states = try await phone.outbox.waitingFiles().map(\.state)
            #expect(
                states == [
                    .waitingForNetwork(.wifiOnly), .waitingForNetwork([.wifiOnly, .notOnLowData]),
                ])
            #expect(place.storage.objects.count == 1)
            phone.outbox.setNetwork(isExpensive: false, isConstrained: true)
            try await film.acknowledged()
            try await until {
                try await phone.outbox.waitingFiles().map(\.state)
                    == [.waitingForNetwork(.notOnLowData)]
            }
            phone.outbox.setNetwork(isExpensive: false, isConstrained: false)
            try await both.acknowledged()
            try await phone.sendAll()
            #expect(place.storage.objects.count == 3)
            await phone.kill()
        }
    }

    /// The outbox looks at a window of the queue, which the waiting files would fill.
    @Test func `many files that wait for Wi-Fi keep no other file back`() async throws {
        try await play { place in
            let phone = try place.phone()
            phone.outbox.setNetwork(isExpensive: true, isConstrained: false)
            await phone.outbox.start()
            for number in 0..<20 {
                _ = try await phone.send(upload(1, .wifiOnly), with: "film\(number)")
            }
            try await phone.send(upload(2), with: "photo").acknowledged()
            #expect(place.storage.objects.count == 1)
            phone.outbox.setNetwork(isExpensive: false, isConstrained: false)
            try await phone.sendAll()
            #expect(place.storage.objects.count == 21)
            await phone.kill()
        }
    }

    /// The last chunk is refused until the network has changed, so the upload cannot be over.
    @Test func `an upload stops when its network is excluded, and continues after a kill`()
        async throws
    {
        try await play { place in
            let size = 2_000_000
            place.storage.setFault { request, _ in
                request.command == "upload" || request.command == "start" ? nil : .before(503)
            }
            let first = try place.phone()
            let film = try place.folder.write("film.mov", size: size)
            _ = try await first.send(
                FileUpload(film, folder: "f", networks: .notOnLowData), with: "1")
            await first.outbox.start()
            try await until {
                place.storage.requests.contains { $0.command == "upload, finalize" }
            }
            first.outbox.setNetwork(isExpensive: true, isConstrained: true)
            try await until { await first.outbox.running.isEmpty }
            let waiting = try #require(try await first.outbox.waitingFiles().first)
            #expect(waiting.state == .waitingForNetwork(.notOnLowData) && waiting.sent > 0)
            await first.kill()
            place.storage.setFault(nil)
            let requests = place.storage.requests.count
            let bytes = place.storage.bytesReceived

            let second = try place.phone()
            second.outbox.setNetwork(isExpensive: true, isConstrained: true)
            await second.outbox.start()
            try await second.send(upload(2), with: "2").acknowledged()
            #expect(place.storage.requests.count == requests + 2, "nothing of the film is sent")
            second.outbox.setNetwork(isExpensive: true, isConstrained: false)
            try await second.sendAll()
            #expect(place.storage.objects.count == 2)
            #expect(place.storage.bytesReceived - bytes <= size - Int(waiting.sent) + 1)
            await second.kill()
        }
    }

    /// A call between a failed request and the wait behind it was once lost, and the upload waited
    /// for its whole time.
    @Test func `a wake ends the next wait, unless a request has begun since`() async throws {
        let clock = StandingClock()
        let control = RunControl()
        control.beginRequest()
        control.wake()
        await control.sleep(.seconds(60), on: clock)
        #expect(clock.sleepers == 0)
        control.wake()
        control.beginRequest()
        let wait = Task { await control.sleep(.seconds(60), on: clock) }
        try await until { clock.sleepers == 1 }
        control.wake()
        await wait.value
    }

    /// The phone's clock stands still, so only the client's call ends the wait.
    @Test func `the client passes on that the network may be back`() async throws {
        try await play { place in
            let clock = StandingClock()
            let phone = try Phone(
                place.local, folder: place.folder, address: place.address, clock: clock)
            // The first failure has no wait.
            place.storage.setFault { _, number in number < 2 ? .before(503) : nil }
            await phone.outbox.start()
            let receipt = try await phone.send(upload(1), with: "1")
            try await until { clock.sleepers > 0 }
            #expect(place.storage.requests.count == 2)
            phone.firestore.networkMayBeBack()
            try await receipt.acknowledged()
            #expect(place.storage.objects.count == 1)
            await phone.kill()
        }
    }
}
