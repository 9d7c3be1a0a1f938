import Testing

@testable import TidemarkHealth

struct `The scanner` {
    static let steps = """
        <Record type="HKQuantityTypeIdentifierStepCount" sourceName="Phone" unit="count" \
        startDate="2024-02-25 08:10:00 +0700" endDate="2024-02-25 08:20:00 +0700" value="120"/>
        """

    @Test func `reads a record`() throws {
        let (samples, scanner) = try scan(exportText(Self.steps))
        let sample = try #require(samples.first)
        #expect(samples.count == 1)
        #expect(sample.kind == .steps)
        #expect(sample.start == 1_708_823_400)
        #expect(sample.duration == 600)
        #expect(sample.value == 120 * Decimal6.one)
        #expect(sample.startOffset == 420 && sample.endOffset == 420 && sample.zone == 0)
        #expect(scanner.counts.samples == 1 && !scanner.counts.isCutOff)
    }

    @Test func `does not mind the order of attributes, quotes, and what it does not know`() throws {
        let record = """
            <Record future='yes' value='120' endDate='2024-02-25 08:20:00 +0700'
              startDate="2024-02-25 08:10:00 +0700"\u{B} unit = "count" sourceName="Phone" \
            type="HKQuantityTypeIdentifierStepCount" ><Other a=">"/></Record>
            <Route><Point x="1"/></Route><!-- <Record/> --><?pi <Record/> ?>
            """
        let (samples, scanner) = try scan(exportText(record))
        #expect(samples == (try scan(exportText(Self.steps))).samples)
        #expect(scanner.counts.records == 1)
    }

    @Test func `reads names with spaces in them`() throws {
        let spaced = Self.steps.replacing("startDate", with: "start Date")
            .replacing("sourceName", with: "source Name")
        #expect(try scan(exportText(spaced)).samples == scan(exportText(Self.steps)).samples)
    }

    @Test func `steps over the broken document type of iOS 16`() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE HealthData [
            <!ELEMENT HealthData (Record*)>
            <!ATTLIST HealthData locale CDATA #REQUIRED>
            <!ATTLIST VisionPrescription
              type CDATA #REQUIRED
            <!ELEMENT RightEye EMPTY>
            ]>
            <HealthData locale="en">
            \(Self.steps)
            </HealthData>
            """
        #expect(try scan(text).samples.count == 1)
    }

    @Test func `leaves out what stands inside a correlation`() throws {
        let (samples, scanner) = try scan(
            exportText(
                "<Correlation type=\"Food\">\(Self.steps)<Record type=\"x\"></Record></Correlation>"
                    + "<Correlation type=\"Empty\"/>" + Self.steps))
        #expect(samples.count == 1)
        #expect(scanner.counts.nested == 2)
    }

    @Test func `takes the zone and a person's entry from a record's metadata`() throws {
        let open = Self.steps.dropLast(2)
        let text = """
            \(open)>
              <MetadataEntry key="HKTimeZone" value="Asia/Bangkok"/>
              <MetadataEntry key="HKWasUserEntered" value="1"/>
            </Record>
            <MetadataEntry key="HKTimeZone" value="Europe/Berlin"/>
            \(open)><MetadataEntry key="HKTimeZone" value="Middle/Earth"/></Record>
            """
        let (samples, scanner) = try scan(exportText(text))
        #expect(samples.map { scanner.names.zones[Int($0.zone)] } == ["Asia/Bangkok", ""])
        #expect(samples.map(\.isEntered) == [true, false])
    }

    @Test func `knows a device by its name and not by its address`() throws {
        let records = (0..<73).map { number in
            Self.steps.replacing(
                "unit=",
                with: "device=\"&lt;&lt;HKDevice: 0x28\(number)&gt;, name:iPhone, model:x&gt;\" "
                    + "unit=")
        }
        let (samples, scanner) = try scan(exportText(records.joined(separator: "\n")))
        #expect(scanner.names.sources == [HealthSource(name: "Phone", device: .phone)])
        #expect(Set(samples.map(\.identity)).count == 1)
    }

    @Test func `resolves what is escaped in names`() throws {
        let text = Self.steps.replacing("Phone", with: "Kim&apos;s &amp; &#8211; &#x41; &odd; &")
        let (_, scanner) = try scan(exportText(text))
        #expect(scanner.names.sources.map(\.name) == ["Kim's & – A &odd; &"])
    }

    @Test(
        arguments: [
            ("unit=\"count\"", "unit=\"lb\"", BadRecord.Reason.badUnit),
            ("value=\"120\"", "value=\"many\"", .badValue),
            ("value=\"120\"", "value=\"-1\"", .badValue),
            ("value=\"120\"", "", .missing(attribute: "value")),
            ("startDate=\"2024-02-25 08:10:00 +0700\"", "", .missing(attribute: "startDate")),
            ("2024-02-25 08:10:00", "2024-02-31 08:10:00", .badDate(attribute: "startDate")),
            ("2024-02-25 08:20:00", "today", .badDate(attribute: "endDate")),
            ("2024-02-25 08:20:00", "2024-02-25 08:00:00", .endsBeforeItStarts),
            ("2024-02-25 08:20:00", "2024-03-25 08:00:00", .lastsTooLong),
            ("2024-02-25 08:10:00", "1824-02-25 08:10:00", .outOfRange),
            ("unit=\"count\"", "unit=\"count", .malformed),
            ("value=\"120\"/>", "value=/>", .malformed),
            ("type=", "kind=", .missing(attribute: "type")),
        ] as [(String, String, BadRecord.Reason)])
    func `lists a bad record and goes on`(
        part: String, broken: String, reason: BadRecord.Reason
    ) throws {
        let bad = Self.steps.replacing(part, with: broken)
        let (samples, scanner) = try scan(exportText("\n\n" + bad + "\n" + Self.steps))
        #expect(samples.count == 1)
        #expect(scanner.counts.bad == 1)
        let found = try #require(scanner.counts.badRecords.first)
        #expect(found.reason == reason)
        #expect(found.line == 5)
        #expect(found.offset == 49)
    }

    @Test func `lists no more bad records than fit`() throws {
        let record = "<Record type=\"HKQuantityTypeIdentifierHeight\"/>\n"
        let bad = String(repeating: record, count: 500)
        let (_, scanner) = try scan(exportText(bad + Self.steps))
        #expect(scanner.counts.bad == 500)
        #expect(scanner.counts.badRecords.count == ExportCounts.maxBadRecords)
        #expect(scanner.counts.samples == 1)
    }

    @Test func `converts units`() throws {
        func value(_ kind: HealthKind, _ unit: String, _ number: String) throws -> Int64? {
            let record = """
                <Record type="\(kind.typeIdentifier)" unit="\(unit)" value="\(number)" \
                sourceName="x" startDate="2024-02-25 08:10:00 +0700"/>
                """
            return try scan(exportText(record)).samples.first?.value
        }
        #expect(try value(.weight, "lb", "160") == 72_574_779)
        #expect(try value(.height, "cm", "180") == 1_800_000)
        #expect(try value(.distance, "km", "1.2345") == 1_234_500_000)
        #expect(try value(.activeEnergy, "kJ", "4.184") == 1_000_000)
        #expect(try value(.oxygenSaturation, "%", "0.97") == 970_000)
        #expect(try value(.mood, "", "-0.5") == -500_000)
    }

    @Test func `counts sleep in seconds, and being in bed not at all`() throws {
        func sleep(_ stage: String) -> String {
            """
            <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="W" \
            startDate="2024-02-25 01:00:00 +0100" endDate="2024-02-25 02:00:00 +0100" \
            value="HKCategoryValueSleepAnalysis\(stage)"/>
            """
        }
        let all = ["AsleepCore", "Asleep", "AsleepREM", "Awake", "InBed", "Dreaming"].map(sleep)
        let (samples, scanner) = try scan(exportText(all.joined()))
        #expect(samples.map(\.value) == [3_600, 3_600, 3_600, 0].map { $0 * Decimal6.one })
        #expect(scanner.counts.ignored == 1)
        #expect(scanner.counts.bad == 1)
    }

    @Test(arguments: [
        "", "hello", "<html><body/></html>", "{\"HealthData\": 1}", "<HealthDatabase>",
        "<!DOCTYPE HealthData [ <!ELEMENT HealthData> ]>",
    ])
    func `refuses what is no export`(text: String) {
        #expect(throws: HealthExportError.notAnExport(file: "")) { try scan(text) }
    }

    @Test func `gives up on a file that does not become an export`() {
        var scanner = ExportScanner()
        var samples: [PackedSample] = []
        let noise = [UInt8](repeating: 60, count: ExportScanner.maxPrologue + 1)
        #expect(throws: HealthExportError.notAnExport(file: "")) {
            _ = try noise.withUnsafeBytes {
                try scanner.scan($0, isLast: false, into: &samples)
            }
        }
    }

    @Test func `says when the file's end is missing`() throws {
        let text = exportText(Self.steps + Self.steps)
        let cut = String(text.dropLast(40))
        let (samples, scanner) = try scan(cut)
        #expect(scanner.counts.isCutOff)
        #expect(samples.count == 1)
        #expect(scanner.counts.bad == 1)
    }

    @Test func `steps over an element that is longer than any`() throws {
        let long = Self.steps.replacing("Phone", with: String(repeating: "x", count: 70_000))
        let bytes = Array(exportText(long + Self.steps).utf8)
        let (samples, scanner) = try scan(bytes, parts: [1_000, 30_000, 39_000, 2_000])
        #expect(samples.count == 1)
        #expect(scanner.counts.badRecords.map(\.reason) == [.tooLong])
    }

    @Test func `finds the same wherever the bytes are cut`() throws {
        let records = """
            \(Self.steps)<Correlation type="a">\(Self.steps)</Correlation>
            \(Self.steps.dropLast(2))>
            <MetadataEntry key="HKTimeZone" value="Asia/Bangkok"/></Record>
            <!-- a > b --><Record type="?"/><Record type="HKQuantityTypeIdentifierHeight"/>
            """
        let bytes = Array(exportText(records).utf8)
        let whole = try scan(bytes)
        for cut in 0...bytes.count {
            let parts = try scan(bytes, parts: [cut])
            #expect(parts.samples == whole.samples, "cut at \(cut)")
            #expect(parts.scanner.counts == whole.scanner.counts, "cut at \(cut)")
        }
        let single = try scan(bytes, parts: Array(repeating: 1, count: bytes.count))
        #expect(single.samples == whole.samples)
        #expect(single.scanner.counts == whole.scanner.counts)
    }
}
