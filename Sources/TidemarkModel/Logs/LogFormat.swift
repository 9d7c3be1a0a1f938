/// The format of a LevelDB log: blocks of 32 KiB that hold parts of records. Each part follows a
/// header of seven bytes (masked checksum, length, kind). Zeros fill the end of a block where no
/// header fits.
package enum LogFormat {
    package static let blockSize = 32_768
    package static let headerSize = 7
    /// The maximum size of a record that the reader accepts, in bytes. A document of Firestore's
    /// maximum size needs less than half of this.
    package static let maxRecordBytes = 32 << 20

    package enum Part: UInt8 {
        case full = 1
        case first, middle, last
    }
}
