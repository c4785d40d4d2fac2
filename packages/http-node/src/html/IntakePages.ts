/** The pages for a person who sent a form without JavaScript, or opened an intake address: in English and in Russian. */
import type { Language } from "./Language.ts"
import { page } from "./Page.ts"
import type { PageWords } from "./Page.ts"

/** All pages; named like the responses' `error`, or `thanks`. */
export type IntakePage =
  | { readonly name: "thanks" }
  | { readonly name: "method_not_allowed" }
  | { readonly name: "not_found" }
  | { readonly name: "too_large"; readonly limit: number }
  | { readonly name: "rate_limited"; readonly retryAfter: number }
  | { readonly name: "timeout" }
  | { readonly name: "unavailable" }
  | { readonly name: "internal_error"; readonly number: string }

/** `back` is the page that held the form, if the browser sent it. */
export const intakePage = (what: IntakePage, language: Language, back: URL | undefined): string =>
  page(WORDS[language](what), {
    language,
    done: what.name === "thanks",
    link: back && { href: back.href, text: `${BACK[language]} ${back.host}` },
  })

const BACK: Readonly<Record<Language, string>> = { en: "Back to", ru: "Вернуться на" }

const english = (what: IntakePage): PageWords => {
  switch (what.name) {
    case "thanks":
      return { title: "Thank you", paragraphs: ["What you sent has arrived safely."] }
    case "method_not_allowed":
      return {
        title: "This address accepts data",
        paragraphs: [
          "Forms and programs send data here with the method POST. There is nothing to see when it is opened in a browser.",
        ],
      }
    case "not_found":
      return {
        title: "This address does not accept data",
        paragraphs: [
          "This address is switched off, or it was not copied completely. What you sent has not been saved.",
          "Please tell the owner of the site you came from.",
        ],
      }
    case "too_large":
      return {
        title: "This is too large",
        paragraphs: [
          `At most ${bytes(what.limit, "en")} can be sent at once, attached files included. Nothing was saved.`,
          "Please go back and send less, or without the files.",
        ],
      }
    case "rate_limited":
      return {
        title: "Too many requests",
        paragraphs: [`Nothing was saved. Please wait ${seconds(what.retryAfter, "en")} and send it again.`],
      }
    case "timeout":
      return {
        title: "It did not arrive in time",
        paragraphs: [
          "The connection was too slow or was interrupted. Nothing was saved: please go back and send it again.",
        ],
      }
    case "unavailable":
      return {
        title: "Temporarily unavailable",
        paragraphs: ["What you sent may not have been saved. Please wait a moment, go back and send it again."],
      }
    case "internal_error":
      return {
        title: "Something went wrong on our side",
        paragraphs: [
          `What you sent may not have been saved. Please send it again; if it fails again, give the owner of the site this number: ${what.number}`,
        ],
      }
  }
}

const russian = (what: IntakePage): PageWords => {
  switch (what.name) {
    case "thanks":
      return { title: "Спасибо", paragraphs: ["Ваши данные получены."] }
    case "method_not_allowed":
      return {
        title: "Это адрес для приёма данных",
        paragraphs: ["Формы и программы отправляют сюда данные методом POST. Открывать его в браузере незачем."],
      }
    case "not_found":
      return {
        title: "По этому адресу данные не принимают",
        paragraphs: [
          "Приём отключён, или адрес скопирован не полностью. То, что вы отправили, не сохранено.",
          "Пожалуйста, сообщите об этом владельцу сайта, с которого вы пришли.",
        ],
      }
    case "too_large":
      return {
        title: "Слишком много данных",
        paragraphs: [
          `За один раз можно отправить не больше ${bytes(what.limit, "ru")} вместе с файлами. Ничего не сохранено.`,
          "Вернитесь назад и отправьте меньше или без файлов.",
        ],
      }
    case "rate_limited":
      return {
        title: "Слишком много запросов",
        paragraphs: [`Ничего не сохранено. Подождите ${seconds(what.retryAfter, "ru")} и отправьте ещё раз.`],
      }
    case "timeout":
      return {
        title: "Данные не успели прийти",
        paragraphs: [
          "Соединение было слишком медленным или прервалось. Ничего не сохранено: вернитесь назад и отправьте ещё раз.",
        ],
      }
    case "unavailable":
      return {
        title: "Приём ненадолго прерван",
        paragraphs: ["Отправленное могло не сохраниться. Подождите немного, вернитесь назад и отправьте ещё раз."],
      }
    case "internal_error":
      return {
        title: "Произошла ошибка на нашей стороне",
        paragraphs: [
          `Отправленное могло не сохраниться. Отправьте ещё раз; если ошибка повторится, сообщите владельцу сайта этот номер: ${what.number}`,
        ],
      }
  }
}

const WORDS: Readonly<Record<Language, (what: IntakePage) => PageWords>> = { en: english, ru: russian }

const seconds = (count: number, language: Language): string =>
  new Intl.NumberFormat(language, { style: "unit", unit: "second", unitDisplay: "long" }).format(count)

const bytes = (count: number, language: Language): string => {
  const mega = count >= 1_048_576
  const unit = mega ? "megabyte" : "kilobyte"
  const value = count / (mega ? 1_048_576 : 1_024)
  return new Intl.NumberFormat(language, {
    style: "unit",
    unit,
    unitDisplay: "short",
    maximumFractionDigits: 1,
  }).format(value)
}
