import Testing

@testable import TidemarkImages

struct ValidityTests {
    /// The time Sun, 06 Nov 1994 08:49:37 GMT, which is RFC 9110's example.
    private let now: Int64 = 784_111_777
    private let date = "Sun, 06 Nov 1994 08:49:37 GMT"

    private func seconds(_ fields: (name: String, value: String)...) -> Int64? {
        Validity(HTTPFields(fields), now: 1_000 * now).map { $0.freshMilliseconds / 1_000 }
    }

    @Test func `dates are read as they are written`() {
        #expect(HTTPDate.seconds(date) == now)
        #expect(HTTPDate.seconds("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(HTTPDate.seconds("Tue, 29 Feb 2000 23:59:59 GMT") == 951_868_799)
        for text in [
            "", "0", "-1", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 32 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
        ] {
            #expect(HTTPDate.seconds(text) == nil, "\(text)")
        }
    }

    @Test func `max-age says how long`() {
        #expect(seconds(("Cache-Control", "public, max-age=60")) == 60)
        #expect(seconds(("cache-control", "MAX-AGE=\"60\"")) == 60)
        #expect(seconds(("cache-control", "max-age=60"), ("age", "20")) == 40)
        #expect(seconds(("cache-control", "max-age=60"), ("age", "90")) == 0)
        #expect(seconds(("cache-control", "max-age=60, max-age=1")) == 60, "the first counts")
        #expect(seconds(("cache-control", "max-age=99999999999")) == Validity.longest)
        #expect(seconds(("cache-control", "max-age=soon")) == 0)
        #expect(seconds(("cache-control", "max-age=-1")) == 0)
        #expect(
            seconds(("cache-control", "s-maxage=600, max-age=5")) == 5, "this cache is one person's"
        )
        #expect(seconds(("cache-control", "private, max-age=0")) == 0)
    }

    @Test func `Expires counts from the server's own date`() {
        let fields = ("expires", "Sun, 06 Nov 1994 09:49:37 GMT")
        #expect(seconds(fields) == 3_600)
        #expect(seconds(fields, ("date", "Sun, 06 Nov 1994 09:19:37 GMT")) == 1_800)
        #expect(seconds(("expires", "0")) == 0)
        #expect(seconds(fields, ("cache-control", "max-age=7")) == 7, "max-age wins")
    }

    @Test func `without a word a tenth of its age is a guess, up to a day`() {
        #expect(seconds(("last-modified", "Sun, 06 Nov 1994 08:32:57 GMT")) == 100)
        #expect(seconds(("last-modified", "Sun, 06 Nov 1984 08:32:57 GMT")) == 86_400)
        #expect(seconds(("last-modified", "Sun, 06 Nov 2094 08:32:57 GMT")) == 0)
        #expect(seconds() == 0)
    }

    @Test func `no-store keeps nothing, no-cache asks always`() {
        #expect(Validity(HTTPFields([("cache-control", "no-store, max-age=9")]), now: 0) == nil)
        let asks = Validity(HTTPFields([("cache-control", "no-cache, max-age=9")]), now: 0)
        #expect(asks?.freshMilliseconds == 0 && asks?.mustAsk == true)
        let varies = Validity(HTTPFields([("vary", "*"), ("cache-control", "max-age=9")]), now: 0)
        #expect(varies?.freshMilliseconds == 0)
        let must = Validity(
            HTTPFields([("cache-control", "max-age=9, must-revalidate")]), now: 0)
        #expect(must?.freshMilliseconds == 9_000 && must?.mustAsk == true)
    }

    @Test func `is fresh from when it was stored until it is not`() throws {
        let validity = try #require(
            Validity(HTTPFields([("cache-control", "max-age=10")]), now: 5_000))
        #expect(validity.isFresh(at: 5_000) && validity.isFresh(at: 14_999))
        #expect(!validity.isFresh(at: 15_000))
        #expect(!validity.isFresh(at: 4_999), "a clock that was set back")
    }

    @Test func `a renewal keeps what it does not say anew`() throws {
        let old = try #require(
            Validity(
                HTTPFields([
                    ("cache-control", "max-age=10"), ("etag", "\"1\""), ("last-modified", date),
                ]), now: 0))
        let same = try #require(old.renewed(by: HTTPFields(), now: 20_000))
        #expect(same.etag == "\"1\"" && same.lastModified == date)
        #expect(same.isFresh(at: 29_000) && !same.isFresh(at: 30_000))
        let longer = old.renewed(by: HTTPFields([("cache-control", "max-age=99")]), now: 20_000)
        #expect(longer?.isFresh(at: 118_000) == true)
        let never = old.renewed(by: HTTPFields([("cache-control", "no-cache")]), now: 20_000)
        #expect(never?.isFresh(at: 20_000) == false)
    }
}
