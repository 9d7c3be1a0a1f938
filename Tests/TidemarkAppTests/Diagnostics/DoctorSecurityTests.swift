import Foundation
import Testing
import TidemarkHTTP
import TidemarkServer
import TidemarkTesting

@testable import TidemarkDiagnosis

/// Tests a doctor over sockets against real servers, with certificates made by the test. The doctor
/// must distinguish bad TLS from a wrong clock, an impostor from a proxy, and a portal from an
/// outage.
@Suite(.serialized) struct `A doctor of TLS` {
    private let known = TestCertificate.Authority(name: "known here")
    private let stranger = TestCertificate.Authority(name: "a stranger")

    /// - Parameter proxy: The proxy in the device's settings.
    private func diagnose(
        _ speech: PlacedServer.Speech, _ certificate: TestCertificate?, usesTLS: Bool = true,
        proxy: String? = nil, clockAhead: Int64? = nil
    ) async throws -> DiagnosisReport {
        let server = try await PlacedServer.start(speech, tls: certificate)
        let report = try await diagnose(
            port: server.port, usesTLS: usesTLS, proxy: proxy, clockAhead: clockAhead)
        await server.stop()
        return report
    }

    private func diagnose(
        port: Int, usesTLS: Bool = true, proxy: String? = nil, clockAhead: Int64? = nil
    ) async throws -> DiagnosisReport {
        var doctor = Doctor(
            DiagnosisTarget(host: "localhost", port: port, usesTLS: usesTLS, project: "local"))
        doctor.authorities = [known.certificate.pem]
        doctor.proxy = proxy
        doctor.clockAhead = clockAhead
        // Every server here answers, and a busy machine must not cause a finding.
        doctor.stepTime = .seconds(40)
        doctor.slowAfter = doctor.stepTime
        return try await doctor.diagnose(after: .zero)
    }

    private func detail(
        _ name: DiagnosisReport.Step.Name, _ report: DiagnosisReport
    ) -> String { report.steps.first { $0.name == name }?.detail ?? "" }

    private func certificate(
        _ hosts: [String] = ["localhost"], by authority: TestCertificate.Authority? = nil,
        from: String = "2020-01-01", until: String = "2045-01-01"
    ) -> TestCertificate {
        TestCertificate(
            hosts: hosts, by: authority ?? known, from: TestCertificate.day(from),
            until: TestCertificate.day(until))
    }

    private func page(_ status: String, _ headers: String...) -> PlacedServer.Speech {
        .text("HTTP/1.1 \(status)\r\n\(headers.map { $0 + "\r\n" }.joined())\r\n")
    }

    private func date(_ date: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return "Date: " + format.string(from: date)
    }

    // MARK: Good ones

    @Test(.timeLimit(.minutes(2)))
    func `reads through TLS, and shows the certificate's dates`() async throws {
        let local = try LocalFirestore.start()
        let port = try await local.serve().port
        let report = try await diagnose(.of(port: port), certificate())
        #expect(report.verdict == .healthy, "\(report.steps)")
        #expect(
            detail(.security, report)
                == "certificate from 2020-01-01T00:00:00Z until 2045-01-01T00:00:00Z")
        #expect(detail(.connection, report).hasSuffix("port \(report.target.port)"))
        #expect(detail(.protocolSpoken, report) == "HTTP/2")
        // The server's time is in November 2023, and its answer contains the time.
        #expect(try #require(report.evidence.clockAhead) > 86_400)
        #expect(detail(.read, report).contains("this device's clock is"))
        await local.stop()
    }

    // MARK: Dates

    @Test(.timeLimit(.minutes(2)))
    func `says that a certificate has run out, by a clock that its server agrees with`()
        async throws
    {
        let old = certificate(until: "2021-01-01")
        let report = try await diagnose(page("404 Not Found", date(Date())), old)
        #expect(report.verdict == .certificateExpired, "\(report.steps)")
        #expect(report.steps.last?.name == .security)
        #expect(detail(.security, report).contains("until 2021-01-01T00:00:00Z"))
        #expect(detail(.security, report).contains("HTTP status 404"))
        #expect(try #require(report.evidence.clockAhead).magnitude < 60)
    }

    @Test(.timeLimit(.minutes(2)))
    func `says so too where the server tells no time, unless the app knows better`() async throws {
        let local = try LocalFirestore.start()
        let port = try await local.serve().port
        let old = certificate(until: "2021-01-01")
        let report = try await diagnose(.of(port: port), old)
        #expect(report.verdict == .certificateExpired, "\(report.steps)")
        #expect(report.evidence.clockAhead == nil)
        let known = try await diagnose(.of(port: port), old, clockAhead: 200_000_000)
        #expect(known.verdict == .clockWrong, "\(known.steps)")
        await local.stop()
    }

    /// The certificate ended in 2021, and the server's answer says that it is 2020. It looks like
    /// this on a device whose clock is years ahead.
    @Test(.timeLimit(.minutes(2)))
    func `says that the clock is wrong where the server's says so`() async throws {
        let then = TestCertificate.day("2020-06-01")
        let report = try await diagnose(
            page("404 Not Found", date(then)), certificate(until: "2021-01-01"))
        #expect(report.verdict == .clockWrong, "\(report.steps)")
        let ahead = Int64(Date().timeIntervalSince(then))
        #expect(abs(try #require(report.evidence.clockAhead) - ahead) < 60)
        #expect(detail(.security, report).contains("s ahead"))
    }

    /// A clock that was never set is so far behind that no certificate is valid yet.
    @Test(.timeLimit(.minutes(2)))
    func `says that the clock is wrong where no certificate holds yet`() async throws {
        let later = certificate(from: "2044-01-01")
        let silent = try await diagnose(page("404 Not Found"), later)
        #expect(silent.verdict == .clockWrong, "\(silent.steps)")
        let dated = try await diagnose(
            page("404 Not Found", date(TestCertificate.day("2044-06-01"))), later)
        #expect(dated.verdict == .clockWrong, "\(dated.steps)")
        #expect(detail(.security, dated).contains("s behind"))
        let agreed = try await diagnose(page("404 Not Found", date(Date())), later)
        #expect(agreed.verdict == .certificateUntrusted, "the clock is right: \(agreed.steps)")
    }

    // MARK: Impostors, proxies and portals

    @Test(.timeLimit(.minutes(2)))
    func `names whom a certificate is for when it is for others`() async throws {
        let others = certificate(["other.example", "www.other.example"])
        let report = try await diagnose(page("404 Not Found"), others)
        #expect(report.verdict == .certificateUntrusted, "\(report.steps)")
        #expect(report.evidence.securing == .otherName)
        #expect(
            detail(.security, report).contains(
                "for other.example, www.other.example and not for localhost"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `tells a certificate of its own maker from a stranger's`() async throws {
        let own = TestCertificate(hosts: ["localhost"])
        let itself = try await diagnose(page("404 Not Found"), own)
        #expect(itself.verdict == .certificateUntrusted, "\(itself.steps)")
        #expect(detail(.security, itself).contains("signed by itself"))
        let strangers = try await diagnose(page("404 Not Found"), certificate(by: stranger))
        #expect(strangers.verdict == .certificateUntrusted, "\(strangers.steps)")
        #expect(detail(.security, strangers).contains("signed by an unknown issuer"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `blames a proxy that is named for a certificate that is not known`() async throws {
        let report = try await diagnose(
            page("404 Not Found"), certificate(by: stranger), proxy: "proxy.example:3128")
        #expect(report.verdict == .proxy, "\(report.steps)")
        #expect(detail(.interface, report).hasSuffix("proxy proxy.example:3128"))
    }

    @Test(.timeLimit(.minutes(2)), arguments: [true, false])
    func `finds a portal behind a certificate`(isKnown: Bool) async throws {
        // A known authority signed the portal's own name, or a stranger signed the name that was
        // called.
        let theirs = isKnown ? certificate(["login.example"]) : certificate(by: stranger)
        let report = try await diagnose(
            page("302 Found", "Location: https://login.example/"), theirs)
        #expect(report.verdict == .captivePortal, "\(report.steps)")
        #expect(detail(.security, report).contains("HTTP status 302 to https://login.example/"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `finds a portal where TLS was expected`() async throws {
        let local = try LocalFirestore.start()
        let gate = NetworkGate(host: "127.0.0.1", port: 0)
        let port = try await gate.open(to: try await local.serve().port, .captive)
        let report = try await diagnose(port: port)
        #expect(report.verdict == .captivePortal, "\(report.steps)")
        #expect(detail(.security, report).contains("HTTP status 302"))
        await gate.close()
        await local.stop()
    }

    @Test(.timeLimit(.minutes(2)))
    func `says that a server without TLS is another one than was asked for`() async throws {
        let local = try LocalFirestore.start()
        let report = try await diagnose(port: try await local.serve().port)
        #expect(report.verdict == .wrongService, "\(report.steps)")
        #expect(detail(.security, report).contains("without trust: HTTP/2"))
        await local.stop()
    }

    // MARK: Without TLS

    @Test(
        .timeLimit(.minutes(2)),
        arguments: [
            ("407 Proxy Authentication Required", Verdict.proxy), ("503 Unavailable", .backendDown),
            ("504 Gateway Timeout", .backendDown), ("429 Too Many Requests", .quota),
            ("511 Network Authentication Required", .captivePortal),
            ("302 Found\r\nLocation: http://login.example/", .captivePortal),
            ("200 OK\r\nContent-Type: text/html", .captivePortal), ("400 Bad", .wrongService),
        ])
    func `hears from an HTTP status who is in the way`(status: String, verdict: Verdict)
        async throws
    {
        let report = try await diagnose(page(status), nil, usesTLS: false)
        #expect(report.verdict == verdict, "\(report.steps)")
        #expect(detail(.protocolSpoken, report).hasPrefix("HTTP status \(status.prefix(3))"))
    }

    // MARK: What is left behind

    @Test(.timeLimit(.minutes(2)))
    func `leaves no connection and no thread to a server that never answers`() async throws {
        let server = try await PlacedServer.start(.nothing)
        let probe = NetworkProbe()
        let place = ProbedPlace(host: "127.0.0.1", address: "127.0.0.1", port: server.port)
        let speaking = Task { await probe.speak(place, usesTLS: false) }
        for await _ in server.connections { break }
        #expect(!probe.isOver)
        probe.close()
        #expect(await speaking.value.finding == .closed)
        #expect(probe.isOver)
        // Calls after `close()` do not begin.
        #expect(await probe.speak(place, usesTLS: true).finding == .closed)
        #expect(await probe.connect(to: ["127.0.0.1"], port: server.port) != .refused)
        await server.stop()
    }
}
