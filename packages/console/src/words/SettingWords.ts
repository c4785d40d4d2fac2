/** The labels of declared settings in the console's forms, each in both languages. */
import type { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import type { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import type { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"

interface Labels {
  readonly english: string
  readonly russian: string
}

interface AllLabels extends Labels {
  /** What null means. */
  readonly none?: Labels
  /** Of the values that are words; the others are shown as they are. */
  readonly values?: Readonly<Record<string, Labels>>
}

/** A setting that is chosen from a list also names its null. */
type LabelsOf<D> = {
  readonly [K in keyof D]: D[K] extends { readonly input: { readonly kind: "choice" }; readonly default: null }
    ? AllLabels & { readonly none: Labels }
    : AllLabels
}

const SOURCE: LabelsOf<typeof SOURCE_SETTINGS.declared> = {
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

const POLL: LabelsOf<typeof POLL_SETTINGS.declared> = {
  everySeconds: { english: "Every (30s, 15m, 2h, 1d)", russian: "Каждые (30s, 15m, 2h, 1d)" },
  format: {
    english: "Format",
    russian: "Формат",
    none: { english: "detected from the data", russian: "определяется по данным" },
  },
  pointer: { english: "Pointer to the list in JSON", russian: "Путь к списку в JSON" },
  keyField: {
    english: "Field that identifies an item",
    russian: "По чему узнаётся элемент",
    none: { english: "the whole item", russian: "по всему содержимому" },
  },
}

const SENDING: LabelsOf<typeof SENDING_SETTINGS.declared> = {
  rate: { english: "Most deliveries per second", russian: "Не больше доставок в секунду" },
  timeoutSeconds: { english: "Time limit in seconds", russian: "Предел времени в секундах" },
  giveUpAfterSeconds: {
    english: "Pause it after failing for",
    russian: "Приостановить, если не отвечает в течение",
  },
  pauseOnGone: { english: "A response of 410 pauses it", russian: "Ответ 410 приостанавливает адрес" },
}

/** The labels of an object's settings in one language. */
export interface SettingWords<K extends PropertyKey> {
  readonly label: Readonly<Record<K, string>>
  readonly none: Readonly<Partial<Record<K, string>>>
  readonly values: Readonly<Partial<Record<K, Readonly<Record<string, string>>>>>
}

const inLanguage = <K extends string>(
  labels: Readonly<Record<K, AllLabels>>,
  language: keyof Labels,
): SettingWords<K> => {
  const byKey = <A>(of: (labels: AllLabels) => A | undefined) =>
    Object.fromEntries(
      Object.entries<AllLabels>(labels).flatMap(([key, one]) => {
        const value = of(one)
        return value === undefined ? [] : [[key, value] as const]
      }),
    ) as Partial<Record<K, A>>
  return {
    label: byKey((one) => one[language]) as Record<K, string>,
    none: byKey(({ none }) => none?.[language]),
    values: byKey(
      ({ values }) =>
        values && Object.fromEntries(Object.entries(values).map(([value, one]) => [value, one[language]])),
    ),
  }
}

const wordsIn = (language: keyof Labels) => ({
  source: inLanguage(SOURCE, language),
  poll: inLanguage(POLL, language),
  sending: inLanguage(SENDING, language),
})

/** In English. */
export const ENGLISH_SETTINGS = wordsIn("english")
/** In Russian. */
export const RUSSIAN_SETTINGS = wordsIn("russian")
