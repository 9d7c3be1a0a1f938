import Foundation
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkServer
import TidemarkTesting

@testable import TidemarkDiagnosis

/// Tests a doctor against a real server behind a simulated network.
@Suite(.serialized) struct `A doctor` {
    private func diagnose(_ profile: String) async throws -> DiagnosisReport {
        let local = try LocalFirestore.start()
        let socket = try await local.serve()
        let gate = NetworkGate(host: "127.0.0.1", port: 0)
        let network = try #require(NetworkProfile(rawValue: profile))
        let port = try await gate.open(to: socket.port, network)
        var doctor = Doctor(
            DiagnosisTarget(host: "127.0.0.1", port: port, usesTLS: false, project: "local"))
        // The long limit keeps a busy machine from changing a verdict. A network without any answer
        // gets a short limit, because the step always waits until the end.
        doctor.stepTime = profile == "blackhole" ? .seconds(3) : .seconds(40)
        doctor.slowAfter = doctor.stepTime
        let report = try await doctor.diagnose(after: .zero)
        await gate.close()
        await local.stop()
        return report
    }

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("healthy", Verdict.healthy), ("refuse", .backendDown), ("blackhole", .silence),
            ("captive", .captivePortal),
        ])
    func `says what is wrong with the network`(profile: String, verdict: Verdict) async throws {
        let report = try await diagnose(profile)
        #expect(report.verdict == verdict, "\(report.steps)")
        let failures = report.steps.dropLast().filter { !$0.isOK }
        #expect(failures.isEmpty, "it ends at what fails")
        #expect(report.steps.allSatisfy { !$0.detail.isEmpty })
    }

    @Test(.timeLimit(.minutes(2))) func `ends at once when it is not wanted any more`()
        async throws
    {
        let doctor = Doctor(
            DiagnosisTarget(host: "127.0.0.1", port: 1, usesTLS: false, project: "p"))
        let task = Task { try await doctor.diagnose(after: .seconds(3_600)) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    /// Cancels the diagnosis at many different moments. Callbacks that arrive later find that their
    /// thread has ended.
    @Test(.timeLimit(.minutes(2))) func `ends at any moment`() async throws {
        let local = try LocalFirestore.start()
        let port = try await local.serve().port
        let target = DiagnosisTarget(
            host: "127.0.0.1", port: port, usesTLS: false, project: "local")
        var ended = 0
        for moment in 0..<150 {
            let task = Task { try await Doctor(target).diagnose(after: .zero) }
            for _ in 0..<moment * 5 { await Task.yield() }
            task.cancel()
            do { _ = try await task.value } catch is CancellationError { ended += 1 }
        }
        #expect(ended > 0)
        await local.stop()
    }

    /// A refusal of a document that the app does not use says nothing about the app.
    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            (nil, Verdict.healthy), ("rooms/blue", .healthy), ("secrets/one", .forbidden),
        ])
    func `tells a refusal of what the app reads from one of what it does not`(
        document: String?, verdict: Verdict
    ) async throws {
        let rules = """
            rules_version = '2';
            service cloud.firestore {
              match /databases/{database}/documents {
                match /rooms/{room} { allow read; }
              }
            }
            """
        let local = try LocalFirestore.start(rules: rules)
        var doctor = Doctor(
            DiagnosisTarget(
                host: "127.0.0.1", port: try await local.serve().port, usesTLS: false,
                project: "local"))
        doctor.document = document
        doctor.stepTime = .seconds(40)
        doctor.slowAfter = doctor.stepTime
        #expect(try await doctor.diagnose(after: .zero).verdict == verdict)
        await local.stop()
    }

    @Test func `says which document or database is none before it asks anybody`() async throws {
        var doctor = Doctor(
            DiagnosisTarget(host: "127.0.0.1", port: 1, usesTLS: false, project: "p"))
        doctor.document = "rooms"
        await #expect(throws: InvalidPath.self) { try await doctor.diagnose(after: .zero) }
        doctor.document = nil
        doctor.target.database = "a/b"
        await #expect(throws: InvalidPath.self) { try await doctor.diagnose(after: .zero) }
    }

    @Test(.timeLimit(.minutes(2))) func `knows no such name when there is none`() async throws {
        var doctor = Doctor(
            DiagnosisTarget(host: "nothing.invalid", port: 443, usesTLS: true, project: "p"))
        doctor.stepTime = .seconds(4)
        let report = try await doctor.diagnose(after: .zero)
        #expect([Verdict.nameUnknown, .namesFail, .noNetwork].contains(report.verdict))
    }
}
