import Foundation
import TestSupport
import Testing
import TidemarkModel

@testable import TidemarkObjects

/// Lists against a naive list of the tests' own.
struct ObjectListingTests {
    private static let seeds = SeedRange("TIDEMARK_LISTING_SEEDS", 0..<60)

    /// Makes all entries of a list from all names, without pages.
    private func naive(
        _ names: [String], _ prefix: String, _ delimiter: String?
    ) -> (names: [String], prefixes: [String]) {
        func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
        var found: [String] = []
        var prefixes: [String] = []
        for name in names.sorted(by: { bytes($0).lexicographicallyPrecedes(bytes($1)) })
        where bytes(name).starts(with: bytes(prefix)) {
            let rest = String(decoding: bytes(name).dropFirst(bytes(prefix).count), as: UTF8.self)
            if let delimiter, let end = rest.range(of: delimiter) {
                let joined = prefix + rest[..<end.upperBound]
                if prefixes.last != joined { prefixes.append(joined) }
            } else {
                found.append(name)
            }
        }
        return (found, prefixes)
    }

    @Test(.ownThread, arguments: seeds.shares)
    func `have every name once, in pages of every size`(seeds: Range<UInt64>) throws {
        for seed in seeds {
            var random = SeededRandom(seed: seed)
            let objects = try TestObjects()
            let parts = ["a", "b", "/", "/", "ab", "z", "é"]
            var names: Set<String> = []
            for _ in 0..<Int.random(in: 0...25, using: &random) {
                let count = Int.random(in: 1...5, using: &random)
                let name = (0..<count).map { _ in parts.randomElement(using: &random) ?? "a" }
                names.insert(name.joined())
            }
            for name in names { try objects.put(name, "x") }
            for _ in 0..<6 {
                let prefix = ["", "a", "a/", "/", "ab", "é"].randomElement(using: &random) ?? ""
                let delimiter = [nil, "/", "b"].randomElement(using: &random) ?? nil
                var listing = ObjectListing(bucket: "demo")
                (listing.prefix, listing.delimiter) = (prefix, delimiter)
                listing.limit = Int.random(in: 1...7, using: &random)
                var found: [String] = []
                var prefixes: [String] = []
                var pages = 0
                while true {
                    let page = try objects.core.list(listing)
                    #expect(page.objects.count + page.prefixes.count <= listing.limit)
                    found += page.objects.map(\.path.name)
                    prefixes += page.prefixes
                    pages += 1
                    guard let next = page.next, pages < 100 else { break }
                    listing.position = ListPosition(token: next.token)
                }
                let expected = naive(Array(names), prefix, delimiter)
                #expect(found == expected.names, "seed \(seed)")
                #expect(prefixes == expected.prefixes, "seed \(seed)")
            }
        }
    }

    @Test func `begin and end at the given names`() throws {
        let objects = try TestObjects()
        for name in ["a", "b", "c", "d"] { try objects.put(name, "x") }
        var listing = ObjectListing(bucket: "demo")
        (listing.startOffset, listing.endOffset) = ("b", "d")
        #expect(try objects.core.list(listing).objects.map(\.path.name) == ["b", "c"])
    }
}
