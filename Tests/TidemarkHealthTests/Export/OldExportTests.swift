import Testing

@testable import TidemarkHealth

/// Imports files as older versions of the Health app wrote them, according to public reports.
struct `An old export` {
    /// An export of iOS 8: dates without separators, `source`, and a record's metadata as
    /// attributes with spaces in their names.
    private static let ios8 = """
        <?xml version="1.0" encoding="UTF-8"?>
        <HealthData>
         <Record type="HKQuantityTypeIdentifierStepCount" source="Phone" unit="count" \
        creationDate="20150616071916-0700" startDate="20150616071820-0700" \
        endDate="20150616072820-0700" value="120"/>
         <Record type="HKQuantityTypeIdentifierStepCount" source="Phone" unit="count" \
        startDate="20150616080000-0700" endDate="20150616080100-0700" value="7"/>
         <Record type="HKQuantityTypeIdentifierStepCount" source="Watch" unit="count" \
        startDate="20150617010000+0200" endDate="20150617010100+0200" value="9"/>
         <Record type="HKQuantityTypeIdentifierBodyMass" source="Scale" unit="lb" \
        startDate="20150616071820-0700" endDate="20150616071820-0700" \
        Scale App Version="2.6.0" Scale User Identifier="x" Modified Date="2015-06-16 14:19:08 +0000" \
        HKWasUserEntered="0" value="150"/>
         <Record type="HKQuantityTypeIdentifierBodyMass" source="Health" unit="lb" \
        startDate="20150617071820-0700" endDate="20150617071820-0700" HKWasUserEntered="1" value="151"/>
         <Record type="HKQuantityTypeIdentifierBodyMass" source="Scale" unit="kg" \
        startDate="20150618071820-0700" endDate="20150618071820-0700" \
        HKTimeZone="America/Los_Angeles" value="68"/>
         <Record type="HKQuantityTypeIdentifierHeartRate" source="Strap" unit="count/min" \
        startDate="20150616071820-0700" endDate="20150616071820-0700" value="61"/>
         <Record type="HKQuantityTypeIdentifierHeartRate" source="Strap" unit="count/min" \
        startDate="20150616071920-0700" endDate="20150616071920-0700" value="62"/>
         <Record type="HKQuantityTypeIdentifierHeartRate" source="Strap" unit="count/min" \
        startDate="20150616072020-0700" endDate="20150616072020-0700" value="63"/>
         <Record type="HKQuantityTypeIdentifierHeartRate" source="Strap" unit="count/min" \
        startDate="20150616072120-0700" endDate="20150616072120-0700" value="64"/>
        </HealthData>
        """

    @Test func `of iOS 8 is read, with its sources and times`() throws {
        let (samples, scanner) = try scan(Self.ios8)
        #expect(scanner.counts.bad == 0, "\(scanner.counts.badRecords)")
        #expect(samples.count == 10)
        let names = samples.map { scanner.names.sources[Int($0.source)].name }
        #expect(
            names == [
                "Phone", "Phone", "Watch", "Scale", "Health", "Scale", "Strap", "Strap", "Strap",
                "Strap",
            ])
        let first = try #require(samples.first)
        #expect(first.start == 1_434_464_300 && first.duration == 600)
        #expect(first.startOffset == -420 && first.endOffset == -420)
        #expect(samples[2].startOffset == 120)
        #expect(abs(Double(samples[3].value) / 1e6 - 68.038855) < 0.00001)
        #expect(samples.map(\.isEntered).filter(\.self).count == 1 && samples[4].isEntered)
        #expect(scanner.names.zones[Int(samples[5].zone)] == "America/Los_Angeles")
    }

    @Test func `of iOS 8 is imported, and again it changes nothing`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let file = try scratch.write(Array(Self.ios8.utf8))
        let importing = HealthImport(into: store)
        let report = try await importing.run(file)
        #expect(report.added == 10 && report.known == 0 && report.counts.bad == 0)
        let again = try await importing.run(file)
        #expect(again.added == 0 && again.known == 10 && again.changed.isEmpty)
    }

    @Test(arguments: [
        "20150616071820-070", "20150616071820 0700", "20151316071820-0700", "2015061607182x-0700",
        "20150616071820-0760", "20150230071820-0700",
    ])
    func `has dates that are none`(date: String) throws {
        let (samples, scanner) = try scan(
            Self.ios8.replacing("20150616080000-0700", with: date))
        #expect(samples.count == 9)
        let bad = try #require(scanner.counts.badRecords.first)
        #expect(bad.reason == .badDate(attribute: "startDate") && bad.text == date)
        #expect("\(bad)" == "its startDate is not a date: \"\(date)\"")
    }

    /// Returns the start of a night's record, from an app without a device. The caller closes the
    /// record.
    private static func night(_ attributes: String, value: String = "AsleepUnspecified") -> String {
        """
          <Record type="HKCategoryTypeIdentifierSleepAnalysis" sourceName="Kim's &amp; Night" \
        sourceVersion="1" \(attributes) value="HKCategoryValueSleepAnalysis\(value)">
            <MetadataEntry key="A" value="1"/>
            <MetadataEntry key="B" value="2"/>
        """
    }

    @Test func `has nights, each once, and one without an end counts no time`() throws {
        let one = "startDate=\"2015-03-01 23:00:00 +0100\" endDate=\"2015-03-02 06:00:00 +0100\""
        let two = "startDate=\"2015-03-02 23:30:00 +0100\" endDate=\"2015-03-03 07:00:00 +0100\""
        let three = "startDate=\"2015-03-03 23:00:00 +0100\" endDate=\"2015-03-04 05:00:00 +0100\""
        let cut = "startDate=\"2015-03-04 23:00:00 +0100\" endDate=\"2015-03-05 05:00:00 +0100\""
        let endless = "startDate=\"2015-03-05 23:00:00 +0100\""
        let last =
            "device=\"&lt;Watch&gt;, name:&#10;&quot;Kim&quot;\" startDate=\"2015-03-06 23:00:00 +0100\" "
            + "endDate=\"2015-03-07 05:00:00 +0100\""
        let records =
            [
                Self.night(one) + "</Record>", Self.night(two) + "</Record>",
                Self.night(three, value: "Asleep") + "</Record>", Self.night(cut),
                Self.night(endless) + "</Record>", Self.night(last) + "</Record>",
            ].joined(separator: "\n")
        let (samples, scanner) = try scan(exportText(records))
        #expect(samples.map(\.duration) == [25_200, 27_000, 21_600, 21_600, 21_600])
        #expect(scanner.counts.bad == 1)
        #expect(scanner.counts.badRecords.first?.reason == .missing(attribute: "endDate"))
        #expect(Set(scanner.names.sources.map(\.name)) == ["Kim's & Night"])
    }

    @Test func `in which every record is bad is refused, and the error lists them`() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        let text = Self.ios8.replacing("startDate=\"2015", with: "startDate=\"June 15")
        let file = try scratch.write(Array(text.utf8))
        do {
            _ = try await HealthImport(into: store).run(file)
            Issue.record("it was imported")
        } catch HealthExportError.allBad(let name, let counts) {
            #expect(name == "export.xml" && counts.bad == 10 && counts.badRecords.count == 10)
            let message = HealthExportError.allBad(file: name, counts: counts).message
            #expect(
                message == "None of the 10 records in export.xml can be read, and nothing was "
                    + "imported. The first one: its startDate is not a date: \"June 150616071820-0700\"."
            )
        }
        #expect(try store.read { try $0.days() } == nil)
        // Records of other kinds are not faults.
        let other = try scratch.write(
            Array(exportText("<Record type=\"HKQuantityTypeIdentifierDietaryWater\"/>").utf8))
        let report = try await HealthImport(into: store).run(other)
        #expect(report.counts.ignored == 1 && report.counts.samples == 0)
    }
}
