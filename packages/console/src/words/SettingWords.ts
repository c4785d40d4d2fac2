/** The labels of declared settings in the console's forms, each in both languages. */
import type { SECRET_SETTINGS } from "@data-cabinet/core/delivery/ClientIdentity"
import type { SENDING_SETTINGS } from "@data-cabinet/core/delivery/SendingSettings"
import type { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import type { POLL_SETTINGS } from "@data-cabinet/core/poll/PollSettings"
import type { SOURCE_SETTINGS } from "@data-cabinet/core/source/SourceSettings"
import { inLanguage, type Labels, type LabelsOf } from "./SettingLabels.ts"

const inboxField = (english: string, russian: string): Labels => ({
  english: `Inbox: field with the ${english} (empty: guessed)`,
  russian: `Входящие: поле с ${russian} (пусто: угадывается)`,
})

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
  schema: {
    english: "Own JSON Schema; events that violate it are marked, and still accepted",
    russian: "Своя схема JSON; события, которые ей не соответствуют, принимаются с пометкой",
  },
  inbox: {
    english: "Show its events as messages in the inbox",
    russian: "Показывать события как сообщения во входящих",
    none: { english: "if they look like a contact form's", russian: "если похоже на форму обратной связи" },
    values: { on: { english: "always", russian: "всегда" }, off: { english: "never", russian: "никогда" } },
  },
  inboxName: inboxField("sender's name", "именем"),
  inboxEmail: inboxField("e-mail address", "адресом почты"),
  inboxSubject: inboxField("subject", "темой"),
  inboxMessage: inboxField("message", "текстом сообщения"),
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

const SENDING: LabelsOf<typeof SENDING_SETTINGS.declared & typeof SECRET_SETTINGS.declared> = {
  rate: { english: "Most deliveries per second", russian: "Не больше доставок в секунду" },
  timeoutSeconds: { english: "Time limit in seconds", russian: "Предел времени в секундах" },
  giveUpAfterSeconds: { english: "Pause it after failing for", russian: "Приостановить после отказов в течение" },
  pauseOnGone: { english: "A response of 410 pauses it", russian: "Ответ 410 приостанавливает адрес" },
  order: {
    english: "Order",
    russian: "Порядок",
    values: {
      none: { english: "each event as soon as possible", russian: "каждое событие как можно раньше" },
      feed: {
        english: "events in the order of the feed, one after another",
        russian: "события по порядку ленты, одно за другим",
      },
    },
    hint: {
      english:
        "In the order of the feed, a failed event holds back the later events of this address until it is delivered or skipped.",
      russian:
        "По порядку ленты событие, которое не доставлено, задерживает следующие события этого адреса, пока его не доставят или не пропустят.",
    },
  },
  batch: {
    parts: {
      max: { english: "Most events in one request", russian: "Не больше событий в одном запросе" },
      wait: { english: "Seconds that a batch waits for more", russian: "Сколько секунд пачка ждёт других событий" },
    },
  },
  body: {
    parts: {
      kind: {
        english: "What is sent",
        russian: "Что отправляется",
        values: {
          standard: { english: "Our own body", russian: "Наше собственное тело" },
          cloudevents: { english: "CloudEvents", russian: "CloudEvents" },
          "cloudevents-binary": { english: "CloudEvents, binary", russian: "CloudEvents, двоичный режим" },
          slack: { english: "Slack", russian: "Slack" },
          teams: { english: "Microsoft Teams", russian: "Microsoft Teams" },
          discord: { english: "Discord", russian: "Discord" },
          telegram: { english: "Telegram", russian: "Telegram" },
          form: { english: "Form", russian: "Форма" },
          template: { english: "Template", russian: "Шаблон" },
        },
      },
      template: {
        english: "Template",
        russian: "Шаблон",
        hint: {
          english:
            "JSON with placeholders such as {{payload.name}}, for a template or a form. A string that is only a placeholder becomes the value as sent.",
          russian:
            "JSON с местами вида {{payload.name}} — для шаблона и формы. Текст, в котором есть только место, заменяется значением, каким оно пришло.",
        },
      },
      method: { english: "Method", russian: "Метод" },
      contentType: { english: "Content type", russian: "Тип содержимого" },
    },
  },
  clientIdentity: {
    parts: {
      certificate: { english: "Client certificate", russian: "Клиентский сертификат" },
      key: { english: "Its private key", russian: "Закрытый ключ к нему" },
    },
    hint: {
      english:
        "For a receiver that requires one (mutual TLS): in PEM, followed by its chain. The key must have no passphrase, and is never shown afterwards.",
      russian:
        "Для получателя, который его требует (взаимный TLS): в PEM, цепочка следом. Ключ — без пароля, потом он никому не показывается.",
    },
  },
}

const DESTINATION: LabelsOf<typeof S3_SETTINGS.declared> = {
  endpoint: {
    english: "Endpoint",
    russian: "Адрес хранилища или брокеров",
    hint: {
      english:
        "The URL of the S3 service (empty: Amazon’s in the region), or of the brokers, nats:// or tls://, with commas between them.",
      russian: "Адрес хранилища (пусто: у Amazon в этом регионе) или брокеров, nats:// или tls://, через запятую.",
    },
  },
  region: { english: "Region (empty: us-east-1)", russian: "Регион (пусто: us-east-1)" },
  urlStyle: {
    english: "Where URLs name the bucket",
    russian: "Где в адресах имя корзины",
    none: {
      english: "in the path with an endpoint, otherwise in the host name",
      russian: "в пути, если задан адрес хранилища, иначе в имени сервера",
    },
    values: {
      path: { english: "in the path", russian: "в пути" },
      "virtual-host": { english: "in the host name", russian: "в имени сервера" },
    },
  },
}

type OfAddresses = typeof SENDING_SETTINGS | typeof SECRET_SETTINGS
type Errors = (typeof SOURCE_SETTINGS | typeof POLL_SETTINGS | OfAddresses)["errors"]

/** The refusals of invalid settings in Russian. */
export const RUSSIAN_SETTING_REFUSALS: Readonly<Record<Errors[number]["code"], string>> = {
  bad_encoding: "Такой кодировки нет, или она здесь не подходит.",
  bad_thanks_url: "Адрес страницы благодарности должен начинаться с имени протокола сайта.",
  bad_keep_headers: "Такой заголовок сохранять нельзя, или начало имени слишком короткое.",
  bad_header_fields: "Такой заголовок не может быть полем.",
  bad_schema: "Схема не разобрана: это не JSON, она слишком длинная или в ней есть неизвестное ключевое слово.",
  bad_honeypot: "Ловушка не может называться так, как поле формы.",
  bad_inbox: "Входящие можно только включить или выключить.",
  bad_allow_origins: "Это не адрес сайта, или их слишком много.",
  bad_interval: "Промежуток — от 10 секунд до 30 дней.",
  bad_format: "Такой формат прочитать нельзя.",
  bad_pointer: "Это не путь внутри JSON, или формат — не JSON.",
  bad_key: "Это ни имя поля, ни путь к нему.",
  bad_certificate: "Клиентский сертификат не подходит.",
  bad_client_key: "Закрытый ключ не подходит.",
  bad_rate: "Ограничение — целое число, и оно не должно быть слишком большим.",
  bad_give_up: "Время до приостановки — от минуты до десяти лет.",
  bad_batch: "Пачка — от 1 до 100 событий и от 0 до 60 секунд ожидания, и только у адреса с порядком.",
  bad_template: "Такое тело доставки отправить нельзя.",
  bad_timeout: "Предел времени — целое число секунд от 1 до 15.",
}

const wordsIn = (language: keyof Labels) => ({
  source: inLanguage(SOURCE, language),
  poll: inLanguage(POLL, language),
  sending: inLanguage(SENDING, language),
  destination: inLanguage(DESTINATION, language),
})

/** In English. */
export const ENGLISH_SETTINGS = wordsIn("english")
/** In Russian. */
export const RUSSIAN_SETTINGS = wordsIn("russian")
