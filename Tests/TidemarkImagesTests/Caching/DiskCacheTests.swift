import Foundation
import Testing

@testable import TidemarkImages

struct DiskCacheTests {
    private let place = Place([:])
    private static let day: Int64 = 86_400_000
    private static let now: Int64 = 1_800_000_000_000

    private func open(limit: Int = 100_000, now: Int64 = now) throws -> DiskCache {
        try DiskCache(place.folder, limit: limit, maximumAge: 10 * Self.day, now: now)
    }

    private func id(_ name: String) -> PictureID { PictureID(address: name, version: nil) }

    private func record(_ name: String, _ bytes: [UInt8]) throws -> PictureRecord {
        let digest = bytes.withUnsafeBytes { Hexadecimal.digest($0) }
        let validity = try #require(
            Validity(
                HTTPFields([("cache-control", "max-age=60"), ("etag", "\"1\"")]), now: Self.now))
        return PictureRecord(
            address: name, version: nil, digest: digest, byteCount: bytes.count, validity: validity)
    }

    @discardableResult
    private func store(
        _ cache: DiskCache, _ name: String, _ bytes: [UInt8], now: Int64 = now
    ) throws -> Bool {
        let path = cache.unfinishedPath()
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return try cache.store(try record(name, bytes), id(name), from: path, now: now)
    }

    private func has(_ cache: DiskCache, _ name: String, now: Int64 = now) -> Bool {
        cache.record(id(name), now: now) != nil
    }

    @Test func `keeps what it was given, also for the next process`() throws {
        let bytes = Samples.photograph
        do {
            let cache = try open()
            #expect(try store(cache, "a", bytes))
        }
        let cache = try open()
        let record = try #require(cache.record(id("a"), now: Self.now))
        let kept = try #require(MappedFile(cache.path(record, id("a"))))
        #expect(Array(kept.bytes) == bytes)
        #expect(cache.bytes > bytes.count && cache.bytes < bytes.count + 1_000)
    }

    @Test func `what was used the longest ago goes first`() throws {
        let cache = try open(limit: 10_000)
        let bytes = [UInt8](repeating: 1, count: 2_500)
        for name in ["a", "b", "c"] { try store(cache, name, bytes) }
        #expect(has(cache, "a"), "used")
        try store(cache, "d", bytes)
        #expect(has(cache, "a") && !has(cache, "b") && has(cache, "c") && has(cache, "d"))
        #expect(cache.bytes <= 10_000)
        #expect(try place.files().count == 6, "of each a record and its bytes")
    }

    @Test func `what does not fit is not kept, and costs nothing else its place`() throws {
        let cache = try open(limit: 5_000)
        try store(cache, "a", [1, 2, 3])
        #expect(try !store(cache, "b", [UInt8](repeating: 1, count: 6_000)))
        #expect(has(cache, "a"))
    }

    @Test func `what nobody looked at for too long goes`() throws {
        var cache = try open()
        try store(cache, "a", [1])
        try store(cache, "b", [2])
        let later = Self.now + 6 * Self.day
        #expect(has(cache, "b", now: later))
        // Another process sees only the times of the files. The wall clock sets them.
        let names = try place.files().filter { $0.hasPrefix(id("a").description) }
        for name in names {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: Double(Self.now) / 1_000)],
                ofItemAtPath: place.folder.appendingPathComponent(name).path)
        }
        cache = try open(now: Self.now + 12 * Self.day)
        #expect(!has(cache, "a", now: later) && has(cache, "b", now: later))
    }

    @Test func `leftovers of a process that was killed are swept`() throws {
        do {
            let cache = try open()
            try store(cache, "a", [1])
            try Data([1]).write(to: URL(fileURLWithPath: cache.unfinishedPath()))
        }
        let other = { (name: String) in place.folder.appendingPathComponent(name) }
        try Data([1]).write(to: other("\(id("b"))-0123456789abcdef.body"))
        try Data([1]).write(to: other("something else"))
        // The process was killed after it wrote the new picture and before it removed the old.
        try Data([1, 2]).write(to: other("\(id("a"))-fedcba9876543210.body"))
        let cache = try open()
        #expect(has(cache, "a") && !has(cache, "b"))
        #expect(try place.files().count == 2)
        let unfinished = place.folder.appendingPathComponent("unfinished").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: unfinished).isEmpty)
    }

    @Test func `opening reads nothing, the first use does`() throws {
        try store(try open(), "a", [1])
        let other = place.folder.appendingPathComponent("something else").path
        try Data([1]).write(to: URL(fileURLWithPath: other))
        let cache = try open()
        #expect(FileManager.default.fileExists(atPath: other))
        #expect(cache.count == 1)
        #expect(!FileManager.default.fileExists(atPath: other))
    }

    @Test func `a record or a body that is damaged is a miss, and goes`() throws {
        let cache = try open()
        for (name, suffix) in [("a", ".record"), ("b", ".body")] {
            try store(cache, name, Samples.jpeg)
            let file = try #require(
                try place.files().first {
                    $0.hasPrefix(id(name).description) && $0.hasSuffix(suffix)
                })
            try Data([1, 2, 3]).write(to: place.folder.appendingPathComponent(file))
            #expect(!has(cache, name))
        }
        #expect(try place.files().isEmpty)
        #expect(cache.bytes == 0)
    }

    @Test func `a record of another picture is none`() throws {
        let cache = try open()
        try store(cache, "a", [1])
        try store(cache, "b", [2])
        let path = { (name: String) in
            place.folder.appendingPathComponent(PictureRecord.name(id(name)))
        }
        try Data(contentsOf: path("a")).write(to: path("b"))
        #expect(!has(cache, "b") && has(cache, "a"))
    }

    @Test func `small pictures live and die with theirs`() throws {
        let cache = try open()
        try store(cache, "a", Samples.jpeg)
        let small = Picture(
            size: PictureSize(width: 2, height: 1), pixels: [1, 2, 3, 255, 5, 6, 7, 255])
        let sized = SizedID(id: id("a"), size: small.size, mode: .fill)
        let first = try record("a", Samples.jpeg)
        try cache.store(small: small, sized, of: first)
        #expect(cache.small(sized, of: first) == small)
        #expect(try place.files().count == 3)
        try store(cache, "a", Samples.png)
        #expect(cache.small(sized, of: try record("a", Samples.png)) == nil)
        #expect(try place.files().count == 2)
        // This small picture is late: its original has been replaced.
        try cache.store(small: small, sized, of: first)
        #expect(try place.files().count == 2)
    }

    @Test func `a small picture that is damaged is a miss, and goes`() throws {
        let cache = try open()
        try store(cache, "a", Samples.jpeg)
        let small = Picture(size: PictureSize(width: 1, height: 1), pixels: [1, 2, 3, 255])
        let sized = SizedID(id: id("a"), size: small.size, mode: .fit)
        let record = try record("a", Samples.jpeg)
        try cache.store(small: small, sized, of: record)
        let file = place.folder.appendingPathComponent(record.smallName(sized))
        var data = try Data(contentsOf: file)
        data[data.count - 2] ^= 1
        try data.write(to: file)
        #expect(cache.small(sized, of: record) == nil)
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(has(cache, "a"))
    }

    @Test func `every cut of a small file is refused`() throws {
        let small = Picture(size: PictureSize(width: 3, height: 2), pixels: Array(0..<24))
        let bytes = Array(SmallFile.bytes(small))
        #expect(SmallFile.picture(bytes) == small)
        for length in bytes.indices { #expect(SmallFile.picture(Array(bytes[..<length])) == nil) }
    }
}
