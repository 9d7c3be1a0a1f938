import Testing

@testable import TidemarkFiles

struct TaskObserversTests {
    @Test func `an observer is told about its state alone`() {
        var observers = TaskObservers<String>()
        #expect(observers.add(for: .progress, "p") == (1, false))
        #expect(observers.add(for: .success, "s") == (2, false))
        #expect(observers.change(to: .progress) == ["p"])
        #expect(observers.change(to: .progress) == ["p"])
        #expect(observers.change(to: .success) == ["s"])
    }

    @Test func `a late observer is told at once, and only once after the end`() {
        var observers = TaskObservers<String>()
        #expect(observers.add(for: .unknown, "u").isDue == false)
        _ = observers.change(to: .progress)
        #expect(observers.add(for: .progress, "p").isDue)
        #expect(observers.change(to: .failure) == [])
        #expect(observers.add(for: .failure, "f").isDue)
        #expect(!observers.add(for: .success, "s").isDue)
        #expect(observers.change(to: .success) == [], "an ended task stays as it is")
        #expect(observers.status == .failure)
    }

    @Test func `observers are removed by handle, by state and all`() {
        var observers = TaskObservers<String>()
        let first = observers.add(for: .progress, "1").handle
        _ = observers.add(for: .progress, "2")
        _ = observers.add(for: .pause, "3")
        observers.remove(first)
        #expect(observers.change(to: .progress) == ["2"])
        observers.removeAll(for: .progress)
        #expect(observers.change(to: .progress) == [])
        #expect(observers.change(to: .pause) == ["3"])
        observers.removeAll()
        #expect(observers.change(to: .pause) == [])
    }
}
