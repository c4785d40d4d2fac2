/** The labels of a source's settings in the console's form, each setting's in both languages. */
import type { SETTINGS, SourceSettings } from "@data-cabinet/core/source/SourceSettings"

interface Labels {
  readonly english: string
  readonly russian: string
}

/** A setting that is chosen from a list also names its null. */
type SettingLabels<K extends keyof SourceSettings> = (typeof SETTINGS)[K]["input"] extends { readonly kind: "choice" }
  ? Labels & { readonly none: Labels; readonly values?: Readonly<Record<string, Labels>> }
  : Labels

const LABELS: { readonly [K in keyof SourceSettings]: SettingLabels<K> } = {
  encoding: {
    english: "Charset of forms",
    russian: "Кодировка форм",
    none: { english: "detected from the data", russian: "определяется по данным" },
  },
  thanksUrl: {
    english: "Thank-you page (empty: the built-in one)",
    russian: "Страница благодарности (пусто: встроенная)",
  },
  keepHeaders: {
    english: "Headers to keep with the request: names or prefixes",
    russian: "Какие ещё заголовки хранить с запросом: имена или начала имён",
  },
  headerFields: {
    english: "Headers that also become fields of the event",
    russian: "Заголовки, которые становятся и полями события",
  },
  keepQuery: { english: "Keep the query string as sent", russian: "Хранить строку запроса как она пришла" },
  nestBrackets: {
    english: "Nest the fields of forms by the brackets in their names",
    russian: "Вкладывать поля форм по скобкам в их именах",
  },
  rate: {
    english: "Requests per minute, from all clients together (empty: the common limits)",
    russian: "Запросов в минуту от всех отправителей (пусто: общие ограничения)",
  },
  honeypot: {
    english: "Field of a form that people leave empty (honeypot); filled, it is spam",
    russian: "Поле формы, которое люди оставляют пустым (ловушка); заполнено — спам",
  },
  allowOrigins: {
    english: "Origins of pages with the form; submissions from others count as spam (empty: any)",
    russian: "Сайты, на которых стоит форма; с других — спам (пусто: с любых)",
  },
  inbox: {
    english: "Show its events as messages in the inbox",
    russian: "Показывать события как сообщения во входящих",
    none: { english: "if they look like a contact form's", russian: "если похоже на форму обратной связи" },
    values: { on: { english: "always", russian: "всегда" }, off: { english: "never", russian: "никогда" } },
  },
  inboxName: {
    english: "Inbox: field with the sender's name (empty: guessed)",
    russian: "Входящие: поле с именем (пусто: угадывается)",
  },
  inboxEmail: {
    english: "Inbox: field with the e-mail address (empty: guessed)",
    russian: "Входящие: поле с адресом почты (пусто: угадывается)",
  },
  inboxSubject: {
    english: "Inbox: field with the subject (empty: guessed)",
    russian: "Входящие: поле с темой (пусто: угадывается)",
  },
  inboxMessage: {
    english: "Inbox: field with the message (empty: guessed)",
    russian: "Входящие: поле с текстом сообщения (пусто: угадывается)",
  },
}

/** The labels of all settings in one language, and of the null of those that are chosen from a list. */
export interface SettingWords {
  readonly label: Readonly<Record<keyof SourceSettings, string>>
  readonly none: Readonly<Partial<Record<keyof SourceSettings, string>>>
  /** Of the values that are words; the others are shown as they are. */
  readonly values: Readonly<Partial<Record<keyof SourceSettings, Readonly<Record<string, string>>>>>
}

const wordsIn = (language: keyof Labels): SettingWords => {
  const all = Object.entries<Labels & { readonly none?: Labels; readonly values?: Readonly<Record<string, Labels>> }>(
    LABELS,
  )
  const inWords = (values: Readonly<Record<string, Labels>>) =>
    Object.fromEntries(Object.entries(values).map(([value, labels]) => [value, labels[language]]))
  return {
    label: Object.fromEntries(all.map(([key, labels]) => [key, labels[language]])) as SettingWords["label"],
    values: Object.fromEntries(
      all.flatMap(([key, { values }]) => (values === undefined ? [] : [[key, inWords(values)]])),
    ),
    none: Object.fromEntries(all.flatMap(([key, { none }]) => (none === undefined ? [] : [[key, none[language]]]))),
  }
}

/** In English. */
export const ENGLISH_SETTINGS = wordsIn("english")
/** In Russian. */
export const RUSSIAN_SETTINGS = wordsIn("russian")
