//! What tells the languages of the Latin script apart.

pub(super) struct Profile {
    pub(super) tag: &'static str,
    pub(super) small_words: &'static str,
    /// Letters (and pairs) that few other languages write.
    pub(super) letters: &'static [&'static str],
}

/// Small words are folded (no accents); letters are as written.
pub(super) const LATIN: &[Profile] = &[
    Profile {
        tag: "en",
        small_words: "the and of to is are you my i it for on with this that have has was not can please your where when what how do does we an at from be hi hello dear thanks thank would could been will but if there any still me in s t thx ty pls still yet cant dont im ive",
        letters: &["th", "wh", "ing", "ould", "ght", "tion", "ck"],
    },
    Profile {
        tag: "de",
        small_words: "der die das und ist nicht ich sie mein meine meinen es ein eine einen mit fur auf von zu bitte kann wie wo wann hallo guten tag danke haben habe hat wir uns ihr ihre den dem des bei noch aber auch wurde wird sind war im am zum zur seit mir mich kein keine schon als alles nach",
        letters: &["ß", "ä", "ö", "ü", "sch", "ei", "ich", "cht"],
    },
    Profile {
        tag: "fr",
        small_words: "le la les des est une un je vous mon ma mes pas et de du que qui ou pour dans avec sur ce cette bonjour merci votre nous j ai ete a au aux ne plus toujours mais comment depuis en il elle se l d c n puis",
        letters: &[
            "ç", "ê", "è", "œ", "à", "ù", "î", "eau", "oi", "eux", "ment", "tion", "ai", "ou",
        ],
    },
    Profile {
        tag: "es",
        small_words: "el la los las un una de que y es en mi no por para con me se lo su del al hola gracias como donde cuando esta este ha he pero mas mis muy quiero puedo usted ustedes han desde ya favor tengo les buenas buenos",
        letters: &["ñ", "¿", "¡", "ción", "ó", "í", "á"],
    },
    Profile {
        tag: "it",
        small_words: "il lo la gli le un una di che e non per con mio mia miei del della dei sono ho ha mi si come dove quando grazie ciao buongiorno salve questo questa vorrei anche piu nel nella alla al da ancora posso avete stato vostro cosa devo fare puo sta anche ma",
        letters: &["ò", "ì", "zione", "gli", "che", "è", "à", "tto", "zz", "cch", "ella"],
    },
    Profile {
        tag: "pt",
        small_words: "o os um uma de que e nao com por para meu minha meus do da dos das no na em eu voce voces ola obrigado obrigada bom dia esta foi quando onde como mas ainda gostaria tenho ao fui ja muito quero se sao isso boa tarde seu sua faco devo esta ha depois posso consigo",
        letters: &["ã", "õ", "ç", "lh", "nh", "ção", "ê", "á", "ó", "í"],
    },
    Profile {
        tag: "nl",
        small_words: "de het een en van is niet ik mijn u uw je met voor op dat die te zijn was heb hebben wij ons kunt kan graag bedankt hallo waar wanneer hoe nog maar ook naar bij wordt er dit deze aan om geen al jullie mij wat wie nu moet doen wil ook gaat",
        letters: &[
            "ij", "aa", "oo", "ee", "uw", "sch", "oe", "ui", "kt", "cht", "gen", "oor",
        ],
    },
    Profile {
        tag: "pl",
        small_words: "i w na nie sie to jest z do ze za moje moj moja prosze dzien dobry dziekuje czy jak gdzie kiedy mam mi od po ale przez dla juz tak jestem byl byla mojego panstwo ktos co ten o",
        letters: &["ł", "ż", "ź", "ś", "ć", "ą", "ę", "ń", "cz", "sz", "rz"],
    },
    Profile {
        tag: "tr",
        small_words: "ve bir bu ne icin ile de da cok ben benim var yok merhaba lutfen tesekkurler nasil nerede hala degil mi mu daha gibi sonra kadar iyi size sizin olarak ama istiyorum ediyorum rica ettim musunuz",
        letters: &["ğ", "ı", "ş", "iyor", "ü", "ler", "lar", "dir"],
    },
    Profile {
        tag: "sv",
        small_words: "och att det som en ett pa ar av for med till den har de inte om jag vi min mitt mina hej tack var nar hur kan ni er fran men ej detta har fatt vill",
        letters: &["å", "ä", "ö", "ck"],
    },
    Profile {
        tag: "da",
        small_words: "og at det som en et pa er af for med til den har de ikke om jeg vi min mit mine hej tak hvor hvornar hvordan kan i jer fra men min dette vil blev mig venlig hilsen noget efter",
        letters: &["æ", "ø", "å"],
    },
    Profile {
        tag: "no",
        small_words: "og at det som en et pa er av for med til den har de ikke om jeg vi min mitt mine hei takk hvor nar hvordan kan dere fra men dette vil ble meg vennlig hilsen noe etter fatt hva na",
        letters: &["æ", "ø", "å", "øy", "kj"],
    },
    Profile {
        tag: "fi",
        small_words: "ja on ei se etta en minun mina olen hei kiitos miten missa milloin voin voitte kun mutta jos olla ole teidan tama viela kanssa han me ovat oli minulle haluan saanut mita teen tehda mina sinun joka tai ette nyt hyva",
        letters: &[
            "ää", "ö", "yy", "ssa", "lla", "ään", "uu", "ii", "nen", "aa", "uo", "kk", "tt", "tin",
        ],
    },
    Profile {
        tag: "cs",
        small_words: "a je se na v ze to s z do o ve jsem mi muj moje dobry den dekuji prosim kde kdy jak ale pro by jste byl byla neni jsme od po tak za mam co mne uz",
        letters: &["ř", "ě", "ů", "č", "š", "ž", "ý"],
    },
    Profile {
        tag: "vi",
        small_words: "toi la va cua khong duoc cho co mot cac nay voi den trong xin chao cam on ban da bi lam sao o dau khi nao chua nhung vui long giup minh hang thi",
        letters: &["ơ", "ư", "đ", "ạ", "ế", "ộ", "ả", "ấ", "ể", "ị"],
    },
    Profile {
        tag: "id",
        small_words: "yang dan di saya tidak ini itu untuk dengan dari ke pada ada apakah bagaimana kapan belum sudah bisa mohon terima kasih anda kami akan tapi juga telah atau selamat pagi tolong halo karena mau",
        letters: &["nya", "kan", "ng"],
    },
    Profile {
        tag: "ro",
        small_words: "si este nu un o de la in cu pentru pe ca am ai buna ziua va rog multumesc unde cand cum mea meu mele sunt fost inca mi sau dar",
        letters: &["ă", "ș", "ț", "î", "ţ", "ş"],
    },
    Profile {
        tag: "hu",
        small_words: "a az es nem van hogy egy meg de is ez ki mi koszonom szia kerem hol mikor hogyan nekem vagyok volt mar csak ha en udvozlettel jo napot",
        letters: &["ő", "ű", "gy", "sz", "ö"],
    },
];
