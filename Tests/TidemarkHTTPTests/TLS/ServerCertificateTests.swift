import Foundation
import Testing
import X509

@testable import TidemarkHTTP

struct ServerCertificateTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)
    private let day: TimeInterval = 86_400

    private func folder() -> String {
        FileManager.default.temporaryDirectory.path + "/tls-" + UUID().uuidString
    }

    @Test func `a certificate comes back from its text, with its own key alone`() throws {
        let made = try ServerCertificate(for: ["localhost", "127.0.0.1", "::1"], now: now)
        let text = try made.pem()
        let read = try #require(
            ServerCertificate(certificatePEM: text.certificate, keyPEM: text.key))
        #expect(read.certificate == made.certificate)
        let other = try ServerCertificate(for: ["localhost"], now: now).pem()
        #expect(ServerCertificate(certificatePEM: text.certificate, keyPEM: other.key) == nil)
        #expect(ServerCertificate(certificatePEM: "", keyPEM: text.key) == nil)
        #expect(ServerCertificate(certificatePEM: text.certificate, keyPEM: "x") == nil)
    }

    @Test func `it is good for its names, and until a month before its end`() throws {
        let names = ["localhost", "127.0.0.1", "::1", "Tidemark.test"]
        let made = try ServerCertificate(for: names, now: now)
        #expect(made.isGood(for: names, now: now))
        #expect(made.isGood(for: ["tidemark.test"], now: now))
        #expect(!made.isGood(for: ["localhost", "other.test"], now: now))
        #expect(!made.isGood(for: ["127.0.0.2"], now: now))
        #expect(made.isGood(for: names, now: now + 366 * day))
        #expect(!made.isGood(for: names, now: now + 367 * day))
        #expect(!made.isGood(for: names, now: now - day), "a clock that was set back")
    }

    @Test func `one in a folder is made once, and again when it must be`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func start(_ now: Date, _ names: [String] = []) throws -> Bool {
            try ServerTLS.kept(in: folder, for: names, now: now).isNew
        }
        #expect(try start(now))
        #expect(try !start(now))
        #expect(try start(now, ["tidemark.test"]))
        #expect(try !start(now), "more names than are needed")
        #expect(try start(now + 380 * day))
        try FileManager.default.removeItem(atPath: folder + "/" + ServerTLS.keyName)
        #expect(try start(now + 380 * day))
        try Data("damaged".utf8).write(
            to: URL(fileURLWithPath: folder + "/" + ServerTLS.certificateName))
        #expect(try start(now + 380 * day))
    }

    @Test func `its key is its owner's alone`() throws {
        let folder = folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try ServerTLS.kept(in: folder, for: [], now: now)
        let attributes = try FileManager.default.attributesOfItem(
            atPath: folder + "/" + ServerTLS.keyName)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `what is no certificate is told with its path`() {
        do throws(ServerTLSError) {
            _ = try ServerTLS(certificatePath: "/nowhere/a.crt", keyPath: "/nowhere/a.key")
            Issue.record("it was taken")
        } catch { #expect(error.message.contains("/nowhere/a.crt")) }
    }
}
