import Testing
import Tidemark

@testable import TidemarkApp

struct `Earlier searches` {
    private func cache(_ capacity: Int = 10) -> SearchCache<String> {
        SearchCache(lifetime: .seconds(300), capacity: capacity) { $0 }
    }

    @Test func `answer for five minutes, and not at the end of them`() {
        var cache = cache()
        cache.store("an", ["anna", "anton"], isComplete: false, at: .zero)
        #expect(cache.answer("an", limit: 20, at: .seconds(299))?.rows == ["anna", "anton"])
        #expect(cache.answer("an", limit: 20, at: .seconds(299))?.age == .seconds(299))
        #expect(cache.answer("an", limit: 20, at: .seconds(300)) == nil)
        let old = cache.answer("anna", limit: 20, at: .seconds(900), isAnyAge: true)
        #expect(old == nil, "there may be others")
        #expect(cache.answer("an", limit: 20, at: .seconds(900), isAnyAge: true)?.rows.count == 2)
    }

    @Test func `answer longer prefixes when they are complete, and only then`() {
        var cache = cache()
        cache.store("a", ["abel", "anna", "anton"], isComplete: true, at: .zero)
        let longer = cache.answer("ann", limit: 20, at: .seconds(10))
        #expect(longer?.rows == ["anna"] && longer?.isComplete == true)
        #expect(longer?.age == .seconds(10))
        #expect(cache.answer("ax", limit: 20, at: .zero)?.rows == [], "there is none, it knows")
        #expect(cache.answer("b", limit: 20, at: .zero) == nil)
        cache.store("a", ["abel", "anna"], isComplete: false, at: .zero)
        #expect(cache.answer("ann", limit: 20, at: .zero) == nil)
    }

    @Test func `prefer the prefix itself to a shorter one`() {
        var cache = cache()
        cache.store("a", ["anna"], isComplete: true, at: .zero)
        cache.store("an", ["anna", "anton"], isComplete: true, at: .seconds(100))
        #expect(cache.answer("an", limit: 20, at: .seconds(100))?.rows.count == 2)
        #expect(cache.answer("ann", limit: 20, at: .seconds(310))?.rows == ["anna"])
        #expect(cache.answer("a", limit: 20, at: .seconds(310)) == nil, "that one is too old")
    }

    @Test func `are bounded: what was used the longest ago goes`() {
        var cache = cache(3)
        for prefix in ["a", "b", "c"] {
            cache.store(prefix, [], isComplete: false, at: .zero)
        }
        _ = cache.answer("a", limit: 20, at: .zero)
        cache.store("d", [], isComplete: false, at: .zero)
        #expect(cache.count == 3)
        #expect(cache.answer("b", limit: 20, at: .zero) == nil)
        #expect(cache.answer("a", limit: 20, at: .zero) != nil)
    }
}

struct `Text that is searched` {
    @Test func `is without case, accents, width and spare white space`() {
        #expect(SearchText.normalized("  Ånna \t MARIE\n") == "anna marie")
        #expect(SearchText.normalized("José") == SearchText.normalized("jose\u{301}"))
        #expect(SearchText.normalized("Ｊｏｈｎ") == "john")
        #expect(SearchText.normalized("ﬁne") == "fine", "a ligature is two letters")
        #expect(SearchText.normalized("") == "" && SearchText.normalized(" \u{a0}") == "")
        #expect(SearchText.normalized("İstanbul") == SearchText.normalized("istanbul"))
    }

    @Test func `is the same when it is normalised again`() {
        for text in ["ǅungla", "İ", "ﬃ", "Ⅷ", "ß", "㎏", "é\u{323}", "漢字 かな ｶﾅ", "🇩🇪 Flag"] {
            let once = SearchText.normalized(text)
            #expect(SearchText.normalized(once).hasSameBytes(as: once), "\(text)")
        }
    }

    @Test func `keeps the space that ends a word`() {
        #expect(SearchText.prefix("Ann ") == "ann ")
        #expect(SearchText.prefix(" ") == "")
        #expect("ann marie".hasBytePrefix(SearchText.prefix("Ann  ")))
        #expect(!"anna".hasBytePrefix(SearchText.prefix("Ann ")))
    }
}
