//! Words that say nothing of a query's subject. They are indexed all the same and only left out of queries, so a list
//! that grows asks for no new index.

use std::collections::HashSet;
use std::sync::OnceLock;

const WORDS: &[&str] = &[
    // English
    "a an the of to in on at for from by with and or but if then than as is am are was were be been being do does did \
     doing done have has had having i me my mine we us our you your he she it its they them their this that these those \
     there here what which who whom whose when where why how can could will would shall should may might must not no \
     nor so too very just also any some all both each more most other such only own same again once into out up down \
     about after before between because until while during please hi hello hey dear thanks thank regards best help \
     need want wants would like get got getting im ive id dont doesnt didnt cant wont isnt arent wasnt t s re ll ve m d \
     now still yet since via etc ok okay yes kind sir madam team question problem issue know tell let make way thing things",
    // German
    "der die das den dem des ein eine einen einem einer eines und oder aber wenn dann als wie ist bin bist sind war \
     waren sein habe hat haben hatte ich mich mir mein meine meinen meinem meiner wir uns unser unsere sie ihr ihre \
     ihnen er es dies diese dieser dieses diesen was welche wer wann wo warum kann konnen will wollen soll sollte muss \
     mussen nicht kein keine keinen auch nur noch schon sehr mehr bei mit von vom zu zum zur nach vor aus auf an am im \
     um fur uber unter durch bitte hallo guten tag danke grusse liebe sehr geehrte damen herren wird werden wurde wurden",
    // French
    "le la les un une des du de et ou mais si est suis es sont etait etre ai as a avons avez ont avait je j me m mon ma \
     mes nous notre nos vous votre vos il elle ils elles ce cet cette ces qui que quoi quel quelle quand comment pourquoi \
     ne pas plus tres aussi dans sur sous avec sans pour par au aux en y l d n c s qu t bonjour merci cordialement svp",
    // Spanish, Portuguese, Italian
    "el los las lo una unos unas del al y o u pero es son era ser estar estoy esta este esto estos he ha han habia yo mi \
     mis tu su sus nos nuestro que quien cual cuando como donde por para con sin se le les muy mas tambien hola buenos \
     dias gracias saludos favor os um uma do da dos das no na nos nas e mas sou sao era eu meu minha meus minhas nosso \
     seu sua voce nao muito ola obrigado obrigada bom dia com sem para por il gli i uno di del della dei delle e ma sono \
     sei siamo ho hai abbiamo hanno mio mia miei mie che chi quale quando come dove perche non anche molto per con senza \
     su tra fra ciao buongiorno salve grazie saluti si",
    // Dutch, Scandinavian, Polish
    "het een van en of maar als dan is ben zijn was ik mij mijn wij we ons onze u uw jij je hij zij ze dit dat deze die \
     wat welke wie wanneer waar waarom hoe kan kunnen niet geen ook nog al zeer bij met voor door uit op aan in te naar \
     graag alstublieft hallo bedankt groet och att det som en pa ar av for med till den har de inte om ett han jag vi \
     er til af og ikke jeg du i z w na do nie sie to jest czy jak o po ze za od dla przez moje moj moja prosze dzien \
     dobry dziekuje",
    // Turkish, Russian
    "ve bir bu ne mi icin ile de da cok ben benim biz var yok nasil merhaba lutfen tesekkurler и в во не на я с со что \
     он а как это по но мы вы мне меня мой моя мое мои у из за для от до бы же так или если есть был была были нет да \
     здравствуйте пожалуйста спасибо к о об ли",
];

/// Whether a folded word carries no subject of its own.
pub fn is_stop_word(word: &str) -> bool {
    static SET: OnceLock<HashSet<&'static str>> = OnceLock::new();
    SET.get_or_init(|| WORDS.iter().flat_map(|list| list.split_ascii_whitespace()).collect())
        .contains(word)
}
