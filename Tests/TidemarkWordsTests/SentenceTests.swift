import Testing
import TidemarkWords

struct `A sentence for a person` {
    private let sentence = Sentence(
        "file.unreadable", "%1$@ cannot be read: %2$@.", arguments: ["a %2$@", "it is locked"])

    @Test func `is English where the app has no table`() {
        #expect(sentence.localized() == "a %2$@ cannot be read: it is locked.")
        #expect("\(sentence)" == sentence.localized())
    }

    @Test func `is filled in the order of another language`() {
        let german = sentence.localized { key in
            key == "file.unreadable" ? "%2$@: %1$@ ist nicht lesbar (100 %)." : nil
        }
        #expect(german == "it is locked: a %2$@ ist nicht lesbar (100 %).")
        #expect(sentence.localized { _ in nil } == sentence.localized())
    }

    @Test(arguments: ["%3$@ %0$@ %$@ %1$ %1@ %", "%99999999999999999999$@", "%%"])
    func `leaves alone what is no place of an argument`(format: String) {
        #expect(sentence.localized { _ in format } == format)
    }
}
