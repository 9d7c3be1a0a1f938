import Testing
import TidemarkResilience

@testable import TidemarkImages

struct DownloadMachineTests {
    private typealias Field = DownloadMachine.Field

    private func fields(_ pairs: KeyValuePairs<String, String>) -> HTTPFields {
        HTTPFields(pairs.map { ($0.key, $0.value) })
    }

    private func known(_ pairs: KeyValuePairs<String, String>) -> Validity? {
        Validity(fields(pairs), now: 0)
    }

    /// Returns a download of 1,000 bytes that broke after 400.
    private func broken(_ pairs: KeyValuePairs<String, String>) -> DownloadMachine {
        var machine = DownloadMachine(limit: 5_000)
        _ = machine.step(.begin)
        let start = machine.step(.head(status: 200, fields(pairs)))
        #expect(start == .receive(fromStart: true))
        #expect(machine.step(.bytes(400)) == .goOn)
        _ = machine.step(.broke)
        return machine
    }

    private func error(_ step: DownloadMachine.Step) -> PictureError? {
        if case .failed(let error, _) = step { error } else { nil }
    }

    private func kind(_ step: DownloadMachine.Step) -> Failure.Kind? {
        if case .failed(_, let failure) = step { failure.kind } else { nil }
    }

    private func hint(_ step: DownloadMachine.Step) -> Failure.Hint? {
        if case .failed(_, let failure) = step { failure.hint } else { nil }
    }

    @Test func `a whole file is finished`() {
        var machine = DownloadMachine(limit: 1_000)
        #expect(machine.step(.begin) == .ask([]))
        _ = machine.step(.head(status: 200, fields(["content-length": "1000"])))
        #expect(machine.step(.bytes(600)) == .goOn)
        #expect(machine.step(.bytes(400)) == .goOn)
        #expect(machine.step(.end) == .finished)
    }

    @Test func `a body that is shorter than was said broke off`() {
        var machine = broken(["content-length": "1000"])
        #expect(kind(machine.step(.end)) == .transient)
    }

    @Test func `what broke off is resumed, if it is the same`() {
        var machine = broken(["content-length": "1000", "etag": "\"a\""])
        #expect(machine.canResume)
        let ask = machine.step(.begin)
        #expect(
            ask
                == .ask([
                    Field(name: "range", value: "bytes=400-"),
                    Field(name: "if-range", value: "\"a\""),
                ]))
        let head = machine.step(.head(status: 206, fields(["content-range": "bytes 400-999/1000"])))
        #expect(head == .receive(fromStart: false))
        _ = machine.step(.bytes(600))
        #expect(machine.step(.end) == .finished)
        #expect(machine.received == 1_000 && machine.resumptions == 1)
    }

    @Test func `another file is taken from its start`() {
        var machine = broken(["content-length": "1000", "etag": "\"a\""])
        _ = machine.step(.begin)
        let head = machine.step(
            .head(status: 200, fields(["content-length": "700", "etag": "\"b\""])))
        #expect(head == .receive(fromStart: true))
        #expect(machine.received == 0)
        _ = machine.step(.bytes(700))
        #expect(machine.step(.end) == .finished)
    }

    @Test(arguments: [
        "bytes 0-999/1000", "bytes 400-999/900", "bytes 400-999/1001", "bytes 400-999/*", "",
        "bytes 400-1000/1000", "bytes 999-400/1000", "items 400-999/1000",
    ])
    func `a rest that does not fit is not put behind`(range: String) {
        var machine = broken(["content-length": "1000", "etag": "\"a\""])
        _ = machine.step(.begin)
        let head = machine.step(.head(status: 206, fields(["content-range": range])))
        #expect(kind(head) == .transient)
        #expect(machine.step(.begin) == .ask([]), "the next begins from nothing")
    }

    @Test func `only what says that it is the same byte by byte is resumed`() {
        #expect(!broken(["etag": "W/\"a\""]).canResume)
        #expect(!broken([:]).canResume)
        #expect(!broken(["etag": "\"a\"", "accept-ranges": "none"]).canResume)
        let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
        #expect(!broken(["last-modified": modified]).canResume)
        #expect(!broken(["last-modified": modified, "date": modified]).canResume)
        let later = "Sun, 06 Nov 1994 08:50:37 GMT"
        #expect(broken(["last-modified": modified, "date": later]).canResume)
    }

    @Test func `a rest that is not there begins anew`() {
        var machine = broken(["content-length": "1000", "etag": "\"a\""])
        _ = machine.step(.begin)
        #expect(kind(machine.step(.head(status: 416, HTTPFields()))) == .transient)
        #expect(machine.step(.begin) == .ask([]))
    }

    @Test func `what is kept is asked after`() {
        var tagged = DownloadMachine(
            known: known(["etag": "W/\"a\"", "last-modified": "x"]), limit: 10)
        #expect(tagged.step(.begin) == .ask([Field(name: "if-none-match", value: "W/\"a\"")]))
        #expect(tagged.step(.head(status: 304, HTTPFields())) == .notModified(HTTPFields()))
        var dated = DownloadMachine(known: known(["last-modified": "x"]), limit: 10)
        #expect(dated.step(.begin) == .ask([Field(name: "if-modified-since", value: "x")]))
        var none = DownloadMachine(limit: 10)
        _ = none.step(.begin)
        #expect(kind(none.step(.head(status: 304, HTTPFields()))) == .transient)
    }

    @Test func `too many bytes end it, said or not`() {
        var machine = DownloadMachine(limit: 1_000)
        _ = machine.step(.begin)
        let said = machine.step(.head(status: 200, fields(["content-length": "1001"])))
        #expect(error(said) == .tooManyBytes(1_001) && kind(said) == .permanent)
        _ = machine.step(.head(status: 200, HTTPFields()))
        _ = machine.step(.bytes(1_000))
        #expect(error(machine.step(.bytes(1))) == .tooManyBytes(nil))
        var resumed = broken(["content-length": "1000", "etag": "\"a\""])
        _ = resumed.step(.begin)
        let large = resumed.step(
            .head(status: 206, fields(["content-range": "bytes 400-9999/10000"])))
        #expect(kind(large) == .transient, "another size is another file")
    }

    @Test func `more than was said is not believed`() {
        var machine = broken(["content-length": "1000", "etag": "\"a\""])
        _ = machine.step(.head(status: 200, fields(["content-length": "1000"])))
        #expect(kind(machine.step(.bytes(1_001))) == .transient)
        #expect(!machine.canResume)
    }

    @Test(arguments: [
        (404, PictureError.notFound, Failure.Kind.permanent), (410, .notFound, .permanent),
        (403, .refused(status: 403), .permanent), (401, .refused(status: 401), .permanent),
        (302, .refused(status: 302), .permanent),
        (500, .serverFailed(status: 500, retryAfter: nil), .transient),
        (501, .serverFailed(status: 501, retryAfter: nil), .permanent),
        (503, .serverFailed(status: 503, retryAfter: nil), .transient),
        (429, .serverFailed(status: 429, retryAfter: nil), .throttled),
    ])
    func `a status says whether it is worth trying again`(
        status: Int, wanted: PictureError, retried: Failure.Kind
    ) {
        var machine = DownloadMachine(limit: 10)
        _ = machine.step(.begin)
        let step = machine.step(.head(status: status, HTTPFields()))
        #expect(error(step) == wanted && kind(step) == retried)
    }

    @Test func `the server says when`() {
        var machine = DownloadMachine(limit: 10)
        let date = "Sun, 06 Nov 1994 08:49:37 GMT"
        for (value, wanted) in [
            ("7", Duration.seconds(7)), ("Sun, 06 Nov 1994 08:50:07 GMT", .seconds(30)),
        ] {
            _ = machine.step(.begin)
            let step = machine.step(
                .head(status: 503, fields(["retry-after": value, "date": date])))
            #expect(hint(step) == .after(wanted))
        }
    }
}
