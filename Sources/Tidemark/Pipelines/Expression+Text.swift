// MARK: Texts and bytes

extension Expression {
    /// Returns the number of characters, bytes, elements, dimensions or keys.
    public func length() -> FunctionExpression { FunctionExpression("length", self) }

    /// Returns the number of Unicode code points.
    public func charLength() -> FunctionExpression { FunctionExpression("char_length", self) }

    /// Returns the number of bytes.
    public func byteLength() -> FunctionExpression { FunctionExpression("byte_length", self) }

    /// Returns the text in lower case.
    public func toLower() -> FunctionExpression { FunctionExpression("to_lower", self) }

    /// Returns the text in upper case.
    public func toUpper() -> FunctionExpression { FunctionExpression("to_upper", self) }

    /// Reverses a text, bytes or an array.
    public func reverse() -> FunctionExpression { FunctionExpression("reverse", self) }

    /// Reverses a text or bytes.
    public func stringReverse() -> FunctionExpression { FunctionExpression("string_reverse", self) }

    /// Removes white space from both ends.
    public func trim() -> FunctionExpression { FunctionExpression("trim", self) }

    /// Removes these characters from both ends.
    public func trim(_ characters: String) -> FunctionExpression {
        FunctionExpression("trim", self, characters)
    }

    public func trim(_ characters: any Expression) -> FunctionExpression {
        FunctionExpression("trim", self, characters)
    }

    /// Removes white space from the beginning.
    public func ltrim() -> FunctionExpression { FunctionExpression("ltrim", self) }

    /// Removes these characters from the beginning.
    public func ltrim(_ characters: String) -> FunctionExpression {
        FunctionExpression("ltrim", self, characters)
    }

    public func ltrim(_ characters: any Expression) -> FunctionExpression {
        FunctionExpression("ltrim", self, characters)
    }

    /// Removes white space from the end.
    public func rtrim() -> FunctionExpression { FunctionExpression("rtrim", self) }

    /// Removes these characters from the end.
    public func rtrim(_ characters: String) -> FunctionExpression {
        FunctionExpression("rtrim", self, characters)
    }

    public func rtrim(_ characters: any Expression) -> FunctionExpression {
        FunctionExpression("rtrim", self, characters)
    }

    /// Joins the text and the other texts.
    public func stringConcat(_ texts: [any Sendable]) -> FunctionExpression {
        FunctionExpression("string_concat", all: [self] + texts)
    }

    /// Joins texts, bytes or arrays, all of one type.
    public func concat(_ values: [any Sendable]) -> FunctionExpression {
        FunctionExpression("concat", all: [self] + values)
    }

    /// Repeats the text.
    public func stringRepeat(_ count: Int) -> FunctionExpression {
        FunctionExpression("string_repeat", self, count)
    }

    public func stringRepeat(_ count: any Expression) -> FunctionExpression {
        FunctionExpression("string_repeat", self, count)
    }

    /// Returns a part of the text.
    ///
    /// - Parameters:
    ///   - position: The position of the first character, from 0; from the end if negative.
    ///   - length: The number of characters; nil for the rest.
    public func substring(position: Int, length: Int? = nil) -> FunctionExpression {
        guard let length else { return FunctionExpression("substring", self, position) }
        return FunctionExpression("substring", self, position, length)
    }

    public func substring(
        position: any Expression, length: (any Expression)? = nil
    ) -> FunctionExpression {
        guard let length else { return FunctionExpression("substring", self, position) }
        return FunctionExpression("substring", self, position, length)
    }

    /// Splits the text at each delimiter.
    public func split(delimiter: String) -> FunctionExpression {
        FunctionExpression("split", self, delimiter)
    }

    public func split(delimiter: any Expression) -> FunctionExpression {
        FunctionExpression("split", self, delimiter)
    }

    /// Joins the texts of an array.
    public func join(delimiter: String) -> FunctionExpression {
        FunctionExpression("join", self, delimiter)
    }
}

// MARK: Searching in texts

extension Expression {
    /// True if the text contains another one.
    public func stringContains(_ text: String) -> any BooleanExpression {
        Condition("string_contains", self, text)
    }

    public func stringContains(_ text: any Expression) -> any BooleanExpression {
        Condition("string_contains", self, text)
    }

    /// True if the text begins with another one.
    public func startsWith(_ prefix: String) -> any BooleanExpression {
        Condition("starts_with", self, prefix)
    }

    public func startsWith(_ prefix: any Expression) -> any BooleanExpression {
        Condition("starts_with", self, prefix)
    }

    /// True if the text ends with another one.
    public func endsWith(_ suffix: String) -> any BooleanExpression {
        Condition("ends_with", self, suffix)
    }

    public func endsWith(_ suffix: any Expression) -> any BooleanExpression {
        Condition("ends_with", self, suffix)
    }

    /// Returns the position of another text; -1 if it is not contained.
    public func stringIndexOf(_ text: String) -> FunctionExpression {
        FunctionExpression("string_index_of", self, text)
    }

    public func stringIndexOf(_ text: any Expression) -> FunctionExpression {
        FunctionExpression("string_index_of", self, text)
    }

    /// True if the whole text matches. `%` stands for any characters, `_` for one.
    public func like(_ pattern: String) -> any BooleanExpression {
        Condition("like", self, pattern)
    }

    public func like(_ pattern: any Expression) -> any BooleanExpression {
        Condition("like", self, pattern)
    }

    /// True if a part of the text matches a regular expression.
    public func regexContains(_ pattern: String) -> any BooleanExpression {
        Condition("regex_contains", self, pattern)
    }

    public func regexContains(_ pattern: any Expression) -> any BooleanExpression {
        Condition("regex_contains", self, pattern)
    }

    /// True if the whole text matches a regular expression.
    public func regexMatch(_ pattern: String) -> any BooleanExpression {
        Condition("regex_match", self, pattern)
    }

    public func regexMatch(_ pattern: any Expression) -> any BooleanExpression {
        Condition("regex_match", self, pattern)
    }

    /// Returns the first match of a regular expression, or of its group; null if there is none.
    public func regexFind(_ pattern: String) -> FunctionExpression {
        FunctionExpression("regex_find", self, pattern)
    }

    public func regexFind(_ pattern: any Expression) -> FunctionExpression {
        FunctionExpression("regex_find", self, pattern)
    }

    /// Returns all matches of a regular expression, or of its group.
    public func regexFindAll(_ pattern: String) -> FunctionExpression {
        FunctionExpression("regex_find_all", self, pattern)
    }

    public func regexFindAll(_ pattern: any Expression) -> FunctionExpression {
        FunctionExpression("regex_find_all", self, pattern)
    }

    /// Replaces every occurrence.
    public func stringReplaceAll(
        _ text: String, with replacement: String
    ) -> FunctionExpression {
        FunctionExpression("string_replace_all", self, text, replacement)
    }

    public func stringReplaceAll(
        _ text: any Expression, with replacement: any Expression
    ) -> FunctionExpression {
        FunctionExpression("string_replace_all", self, text, replacement)
    }

    /// Replaces the first occurrence.
    public func stringReplaceOne(
        _ text: String, with replacement: String
    ) -> FunctionExpression {
        FunctionExpression("string_replace_one", self, text, replacement)
    }

    public func stringReplaceOne(
        _ text: any Expression, with replacement: any Expression
    ) -> FunctionExpression {
        FunctionExpression("string_replace_one", self, text, replacement)
    }
}
