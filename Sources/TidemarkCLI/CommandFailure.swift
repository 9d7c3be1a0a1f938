import ArgumentParser
import TidemarkModel

/// The failure of a command whose arguments were right. The program prints the sentence without the
/// command's usage, and exits with 1.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { description = sentence }
}

extension DocumentPath {
    /// Parses the argument of a command.
    ///
    /// - Throws: `ValidationError` with a sentence.
    init(argument text: String) throws {
        do throws(InvalidPath) { try self.init(text) } catch {
            throw ValidationError(error.message)
        }
    }
}
