/// A part of an export's text, which is filled and then written.
struct ExportPage {
    private var bytes: [UInt8] = []
    private var rules = ZoneRules(GeneratedLife.zones)
    private let isValid: Bool
    /// Written out when there is more.
    private static let size = 1 << 18

    init(isValid: Bool) {
        self.isValid = isValid
        // The capacity has room for a day that is added to a nearly full page.
        bytes.reserveCapacity(Self.size + 1 << 20)
    }

    var isFull: Bool { bytes.count >= Self.size }

    /// - Returns: The number of written bytes.
    mutating func flush(_ write: ([UInt8]) throws -> Void) rethrows -> Int64 {
        let count = Int64(bytes.count)
        try write(bytes)
        bytes.removeAll(keepingCapacity: true)
        return count
    }

    mutating func add(_ text: StaticString) {
        bytes.append(
            contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func add(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private mutating func add(_ number: Int64, width: Int) {
        precondition(number >= 0)
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            bytes.append(48 + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    private mutating func add(millionths: Int64, decimals: Int) {
        if millionths < 0 { bytes.append(UInt8(ascii: "-")) }
        let value = abs(millionths)
        add(value / Decimal6.one, width: 1)
        if decimals == 0 { return }
        bytes.append(UInt8(ascii: "."))
        var divisor = Decimal6.one
        for _ in 0..<decimals { divisor /= 10 }
        add(value % Decimal6.one / divisor, width: decimals)
    }

    private mutating func add(date time: Int64, offset: Int16) {
        let local = time + Int64(offset) * 60
        let day = local.flooredDivision(by: 86_400)
        let second = local - day * 86_400
        let (year, month, date) = CivilDay.parts(day)
        add(year, width: 4)
        bytes.append(UInt8(ascii: "-"))
        add(month, width: 2)
        bytes.append(UInt8(ascii: "-"))
        add(date, width: 2)
        bytes.append(UInt8(ascii: " "))
        add(second / 3_600, width: 2)
        bytes.append(UInt8(ascii: ":"))
        add(second / 60 % 60, width: 2)
        bytes.append(UInt8(ascii: ":"))
        add(second % 60, width: 2)
        bytes.append(UInt8(ascii: " "))
        bytes.append(offset < 0 ? UInt8(ascii: "-") : UInt8(ascii: "+"))
        add(Int64(abs(offset)) / 60, width: 2)
        add(Int64(abs(offset)) % 60, width: 2)
    }

    mutating func exportDate(_ day: HealthDay) {
        add(" <ExportDate value=\"")
        add(date: (day.number + 1) * 86_400, offset: 120)
        add("\"/>\n <Me HKCharacteristicTypeIdentifierBiologicalSex=\"HKBiologicalSexNotSet\"/>\n")
    }
}

// MARK: - Records

extension ExportPage {
    mutating func add(
        _ record: GeneratedRecord, dice: inout Dice, truth: inout HealthTruth
    ) {
        truth.records += 1
        if case .text(let text) = record.value, "\(text)".hasSuffix("InBed") { truth.ignored += 1 }
        begin(record, &dice)
        let hasMore = record.zone > 0 || record.isEntered || dice.one(in: 50)
        guard hasMore else {
            add("/>\n")
            return
        }
        add(">\n")
        if record.zone > 0 {
            add("  <MetadataEntry key=\"HKTimeZone\" value=\"")
            add(GeneratedLife.zones[Int(record.zone)])
            add("\"/>\n")
        }
        if record.isEntered { add("  <MetadataEntry key=\"HKWasUserEntered\" value=\"1\"/>\n") }
        // A vertical tab, which XML does not allow and exports contain.
        add("  <MetadataEntry key=\"Note\" value=\"a ")
        if !isValid { bytes.append(0x0B) }
        add("&gt; b\"/>\n </Record>\n")
    }

    private mutating func begin(_ record: GeneratedRecord, _ dice: inout Dice) {
        add(" <Record type=\"")
        add(record.kind.typeIdentifier)
        add("\" sourceName=\"")
        add(record.source.name)
        add("\" sourceVersion=\"10.3\"")
        if let device = record.source.device {
            add(" device=\"&lt;&lt;HKDevice: 0x28")
            add(Int64(dice.roll(1_000_000...9_999_999)), width: 7)
            add("&gt;")
            add(device)
            add("\"")
        }
        if let unit = record.unit {
            add(" unit=\"")
            add(unit)
            add("\"")
        }
        // A phone at home writes no metadata for the zone. An export that was made at home has the
        // offsets of home for records from abroad.
        let (startOffset, endOffset) = offsets(record)
        add(" creationDate=\"")
        add(date: record.end + 300, offset: endOffset)
        add("\" startDate=\"")
        add(date: record.start, offset: startOffset)
        add("\" endDate=\"")
        add(date: record.end, offset: endOffset)
        add("\" value=\"")
        switch record.value {
        case .number(let number, let decimals): add(millionths: number, decimals: decimals)
        case .text(let text): add(text)
        }
        add("\"")
    }

    private mutating func offsets(_ record: GeneratedRecord) -> (Int16, Int16) {
        guard record.zone > 1 else { return (record.startOffset, record.endOffset) }
        return (
            rules.offset(of: 1, at: record.start) ?? 0, rules.offset(of: 1, at: record.end) ?? 0
        )
    }

    /// A copy of a record that no reader can make sense of.
    mutating func addDamaged(
        _ record: GeneratedRecord, dice: inout Dice, truth: inout HealthTruth
    ) {
        truth.bad += 1
        add(" <Record type=\"")
        add(record.kind.typeIdentifier)
        switch dice.roll(0...3) {
        case 0: add("\" unit=\"count\" startDate=\"yesterday\" endDate=\"today\" value=\"1\"/>\n")
        case 1: add("\" unit=\"count\" startDate=\"2020-01-01 00:00:00 +0000\" value=\"many\"/>\n")
        case 2: add("\" unit=\"count\" value=\"1\"/>\n")
        default: add("\" startDate=\"2020-01-01 00:00:00 +0000/>\n")
        }
    }

    /// Adds other elements of exports, which an import must ignore.
    mutating func addOthers(
        days: Int, end: HealthDay, _ dice: inout Dice, _ truth: inout HealthTruth
    ) {
        for number in 0..<min(days, 400) {
            let time = (end.number - Int64(number)) * 86_400 + Int64(dice.roll(0...86_000))
            let value = Int64(dice.roll(60...140)) * Decimal6.one
            add(" <Correlation type=\"HKCorrelationTypeIdentifierBloodPressure\">\n")
            for type in [
                "HKQuantityTypeIdentifierBloodPressureSystolic",
                "HKQuantityTypeIdentifierHeartRate",
            ] {
                addPlain(type, time: time, value: value)
                truth.nested += 1
            }
            add(" </Correlation>\n")
            addPlain("HKQuantityTypeIdentifierBloodPressureSystolic", time: time, value: value)
            truth.ignored += 1
            truth.records += 3
            add(" <Workout workoutActivityType=\"HKWorkoutActivityTypeRunning\" duration=\"30\">\n")
            add("  <WorkoutEvent type=\"HKWorkoutEventTypePause\"/>\n </Workout>\n")
            add(" <ActivitySummary dateComponents=\"\(end)\" activeEnergyBurned=\"400\"/>\n")
        }
    }

    private mutating func addPlain(_ type: String, time: Int64, value: Int64) {
        add("  <Record type=\"\(type)\" sourceName=\"Cuff\" unit=\"count/min\" startDate=\"")
        add(date: time, offset: 60)
        add("\" endDate=\"")
        add(date: time, offset: 60)
        add("\" value=\"")
        add(millionths: value, decimals: 0)
        add("\"/>\n")
    }

    /// Adds the header, with the document type of iOS 16, in which an attribute list is not closed.
    mutating func addHeader() {
        add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
        if !isValid { add(Self.documentType) }
        add("<HealthData locale=\"en_DE\">\n")
    }

    private static let documentType: StaticString = """
        <!DOCTYPE HealthData [
        <!-- HealthKit Export Version: 12 -->
        <!ELEMENT HealthData (ExportDate,Me,(Record|Correlation|Workout|ActivitySummary)*)>
        <!ATTLIST HealthData
          locale CDATA #REQUIRED
        >
        <!ELEMENT Record ((MetadataEntry|HeartRateVariabilityMetadataList)*)>
        <!ATTLIST VisionPrescription
          type              CDATA #REQUIRED
          dateIssued        CDATA #REQUIRED
        <!ELEMENT RightEye EMPTY>
        ]>

        """
}
