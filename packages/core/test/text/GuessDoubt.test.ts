import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { WINDOWS_1251 } from "../../src/text/Charset.ts"
import { guessCharset } from "../../src/text/CharsetGuess.ts"
import { centralCharset } from "../../src/text/CentralEurope.ts"
import { judgeGuess } from "../../src/text/GuessDoubt.ts"

const judge = (codec: string, text: string) => {
  const bytes = iconv.encode(text, codec)
  const { charset, isClear } = judgeGuess(bytes, guessCharset(bytes))
  return [charset.name, isClear]
}

const ORDER = "Заявка с сайта\nАнна Петрова\nг. Санкт-Петербург, ул. Ленина, д. 5"
const CYRILLIC = [
  ["koi8r", "koi8-r"],
  ["koi8u", "koi8-r"],
  ["cp866", "ibm866"],
  ["maccyrillic", "x-mac-cyrillic"],
  ["iso88595", "iso-8859-5"],
] as const

describe("judgeGuess", () => {
  it.for(CYRILLIC)("judgeGuess reads a text in %s that nothing declares, as unclear", ([codec, name]) =>
    assert.deepStrictEqual(judge(codec, ORDER), [name, false]),
  )

  it("judgeGuess reads Ukrainian in KOI8-U", () =>
    assert.deepStrictEqual(judge("koi8u", "Доброго дня, їжак і єнот хочуть замовити їжу"), ["koi8-u", false]))

  it.for([
    ["koi8r", "Иван Петров"],
    ["koi8r", "Анна"],
    ["koi8r", "ПРИВЕТ"],
    // Words that are words in either charset.
    ["koi8r", "МСК"],
    ["koi8r", "ИП"],
    ["koi8r", "да"],
    ["koi8u", "Ні"],
    ["win1251", "нул"],
    ["win1251", "б/у"],
    // Lone letters.
    ["koi8r", "Я"],
    ["cp866", "я"],
    ["win1251", "а"],
    ["win1252", "Ä"],
    // Signs in windows-1251, a word in IBM866.
    ["cp866", "Да"],
    ["koi8u", "Їжак і єнот"],
    ["cp866", "Иван"],
    ["cp866", "анна"],
    ["maccyrillic", "Анна"],
    ["maccyrillic", "Сумма, руб."],
    ["shiftjis", "山田太郎"],
    ["shiftjis", "こんにちは"],
    ["shiftjis", "商品名,価格\nお茶,100"],
    ["gbk", "你好世界"],
    ["gbk", "姓名,城市\n李明,上海"],
    ["euckr", "김철수"],
    ["euckr", "이름,도시\n박지성,부산"],
    ["eucjp", "山田太郎"],
    ["big5", "台北市"],
    ["win1250", "Łódź"],
    // Signs inside Latin words: letters in charsets of DOS and the Macintosh.
    ["cp437", "Björk"],
    ["macroman", "naïve"],
    ["macroman", "Straße 5"],
    ["big5", "Kraków"],
    ["win1250", "Příliš žluťoučký kůň"],
    ["win1253", "Αθήνα"],
    ["win1254", "İstanbul"],
    ["win1255", "ירושלים"],
    // Read as small Cyrillic letters, these are as usual as words are.
    ["win1255", "שלום לכולם, אני רוצה להזמין שני ספרים חדשים ולקבל אותם בדואר עד סוף השבוע. תודה רבה!"],
    ["win1255", "שם,עיר,הערה\nדוד כהן,ירושלים,משלוח מהיר בבקשה\nרחל לוי,תל אביב,אין הערות"],
    ["win1255", "תודה רבה לכם על השירות הטוב והמהיר"],
    ["win1257", "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās"],
    ["iso88592", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van."],
    ["win1250", "Hűtőgép, fűszer, szálloda"],
    ["win1256", "محمد"],
    ["win874", "สวัสดี"],
    // One or two letters of two bytes each, which are letters or signs in windows-1251.
    ["shiftjis", "年"],
    ["shiftjis", "池田"],
    ["eucjp", "水"],
    ["eucjp", "石川"],
    ["eucjp", "石井"],
    ["gbk", "王"],
    ["gbk", "李"],
    ["gbk", "李娜"],
    ["gbk", "李&王"],
    ["euckr", "원"],
    ["euckr", "문"],
    ["euckr", "비고"],
    ["big5", "郭"],
    ["big5", "周"],
    // Only capitals and accents, which do not fit Cyrillic any better.
    ["win1252", "ÄÖÜ"],
  ] as const)("judgeGuess doubts the guess for %s %j", ([codec, text]) => assert.isFalse(judge(codec, text)[1]))

  it.for([
    "Иван Петров",
    "name=Иван",
    "Да",
    "да",
    "Нет",
    "анна",
    "«a» — «b»",
    "“a” – “b”",
    "АННА",
    "ПРИВЕТ, МИР",
    "Фёдор",
    "Щукин Эдуард",
    "Їжак і єнот",
    "Здравейте, искам да поръчам",
    "Добар дан, желим да наручим",
    "ООО «Ромашка»",
    "№ 5",
    "№A12",
    "(№)",
    "кг",
    "…and more",
    "Ann’s",
    "№ 1 – 2",
    "5 €",
    "“quoted”",
    "iPhone 15 чёрный, б/у",
    "нет данных о товаре на складе",
    "город томск, дом два",
    "USBшный кабель",
    ORDER,
  ])("judgeGuess is clear about windows-1251 %j", (text) =>
    assert.deepStrictEqual(judge("win1251", text), ["windows-1251", true]),
  )

  it.for([
    "Müller",
    "naïve café",
    "Il va à Paris",
    "¿Qué? ¡Señor!",
    "5 €",
    "Größe in m³",
    "£5",
    "1º",
    "Smørrebrød Århus",
    "l’été",
    "Œuvre cœur",
    "coração",
    "lições, limões, José",
    "août à Fès, garçon",
    "çfarë çmimi",
    "lunedì perché città",
    "3½",
  ])("judgeGuess is clear about windows-1252 %j", (text) =>
    assert.deepStrictEqual(judge("win1252", text), [guessCharset(iconv.encode(text, "win1252")).name, true]),
  )

  it.for([
    ["win1250", "windows-1250", "Zażółć gęślą jaźń\nŻółta łódź płynie wzdłuż rzeki"],
    ["iso88592", "iso-8859-2", "Zażółć gęślą jaźń\nŻółta łódź płynie wzdłuż rzeki"],
    ["win1250", "windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy"],
    ["win1250", "windows-1250", "Hűtőgép, fűszer, szálloda, tükörfúrógép"],
    ["win1250", "windows-1250", "Šťastný kôň vŕta; ľahký dážď, ôsmy štvrťrok"],
    ["win1250", "windows-1250", "Čovjek će doći kući; žuti šešir, đak"],
  ] as const)("judgeGuess reads a text in %s as %s, as unclear: %s", ([codec, name, text]) =>
    assert.deepStrictEqual(judge(codec, text), [name, false]),
  )

  it.for([
    "Straße, Größe, Müller\nCafé crème à Orléans, garçon",
    "Ações, coração, órgãos e três pães\nà noite",
    "El niño comió piñas y jamón en el café",
    "También está aquí: cámara, teléfono, número, público",
    "Smørrebrød på bordet, ærlig talt; blå køer går hjem",
    "Öö ja õun, jõgi, sõber, kõik hästi, täna öösel",
    "Þetta er gott; æðislegt veður í dag, ég á hús",
    "10 m³ bei 20 °C, ½ l, 2² = 4; Preis 3 € ± 5 %, Größe µ",
    "Tom’s “best” cafés – naïve façade, jalapeño, über-piñata",
  ])("judgeGuess keeps windows-1252: %s", (text) => {
    assert.strictEqual(judge("win1252", text)[0], "windows-1252")
    assert.isNull(centralCharset(iconv.encode(text, "win1252")))
  })

  it.for([
    ["cp852", "Zażółć gęślą jaźń, Příliš žluťoučký kůň"],
    ["win1250", "Łódź"],
    ["win1257", "Ąžuolas žydi, ėjo šuo; jūra ir saulė, ņēma ķirsi"],
    ["win1254", "Doğan güneş, ışık, İstanbul'da çay içti, şeker"],
  ] as const)("centralCharset is null for %s: %s", ([codec, text]) =>
    assert.isNull(centralCharset(iconv.encode(text, codec))),
  )

  it("judgeGuess leaves UTF-8 alone", () => assert.deepStrictEqual(judge("utf8", "Їжак 山田 Łódź"), ["utf-8", true]))

  it("judgeGuess rates a bounded sample of a long text", () => {
    const bytes = Buffer.concat([iconv.encode("Иван ".repeat(14_000), "win1251"), Buffer.alloc(1_000_000, 0x98)])
    assert.deepStrictEqual(judgeGuess(bytes, WINDOWS_1251), { charset: WINDOWS_1251, isClear: true })
  })
})
