/// The letters with accents, by the letter without: what Unicode's canonical decomposition of the
/// Latin, Greek and Cyrillic lower-case letters gives, and the final sigma.
enum AccentedLetters {
    /// Returns the letter without its accents; nil for a letter without.
    static func base(of letter: Unicode.Scalar) -> Unicode.Scalar? {
        letter.value < 0xE0 ? nil : bases[letter]
    }

    private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
        var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
        for line in table.split(separator: "\n") {
            var letters = line.unicodeScalars[...]
            guard let base = letters.popFirst() else { continue }
            for letter in letters.dropFirst() { bases[letter] = base }
        }
        return bases
    }()

    private static let table = """
        a àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ
        b ḃḅḇ
        c çćĉċčḉ
        d ďḋḍḏḑḓ
        e èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ
        f ḟ
        g ĝğġģǧǵḡ
        h ĥȟḣḥḧḩḫẖ
        i ìíîïĩīĭįǐȉȋḭḯỉị
        j ĵǰ
        k ķǩḱḳḵ
        l ĺļľḷḹḻḽ
        m ḿṁṃ
        n ñńņňǹṅṇṉṋ
        o òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ
        p ṕṗ
        r ŕŗřȑȓṙṛṝṟ
        s śŝşšșṡṣṥṧṩ
        t ţťțṫṭṯṱẗ
        u ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
        v ṽṿ
        w ŵẁẃẅẇẉẘ
        x ẋẍ
        y ýÿŷȳẏẙỳỵỷỹ
        z źżžẑẓẕ
        æ ǣǽ
        ø ǿ
        ſ ẛ
        ʒ ǯ
        α άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ
        ε έἐἑἒἓἔἕὲέ
        η ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ
        ι ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ
        ο όὀὁὂὃὄὅὸό
        ρ ῤῥ
        σ ς
        υ ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ
        ω ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ
        ϒ ϓϔ
        а ӑӓ
        г ѓ
        е ѐёӗ
        ж ӂӝ
        з ӟ
        и йѝӣӥ
        к ќ
        о ӧ
        у ўӯӱӳ
        ч ӵ
        ы ӹ
        э ӭ
        і ї
        ѵ ѷ
        ә ӛ
        ө ӫ
        """
}
