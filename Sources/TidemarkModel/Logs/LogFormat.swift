/// The form of a LevelDB log: blocks of 32 KiB, in them parts of records, each behind a header of
/// seven bytes (masked checksum, length, kind), and zeros where no header fits.
package enum LogFormat {
    package static let blockSize = 32_768
    package static let headerSize = 7
    /// The largest record that is read, in bytes. A document of Firestore's largest size has less
    /// than half of it, whatever it is made of.
    package static let maxRecordBytes = 32 << 20

    package enum Part: UInt8 {
        case full = 1
        case first, middle, last
    }
}
