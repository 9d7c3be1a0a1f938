import Testing
import TidemarkModel

struct `List prices` {
    @Test func `are those of a location`() throws {
        #expect(try ReadPrices.of("nam5").per100000 == 0.06)
        #expect(try ReadPrices.of("us-west1").perGiBStored == 0.15)
    }

    @Test func `of a place that is not known are an error that says which are`() {
        let error = #expect(throws: ReadPrices.UnknownLocation.self) {
            try ReadPrices.of("mars-north1")
        }
        #expect(error?.description.contains("mars-north1") == true)
        #expect(error?.description.contains("eur3, nam5, us-central1, us-west1") == true)
    }
}
