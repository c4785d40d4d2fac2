/** Why an attempt to deliver failed, in Russian. */
import type { ReasonWords } from "@data-cabinet/core/delivery/FailureReason"

const quoted = (said: string): string => (said === "" ? "." : `: «${said}»`)

export const RUSSIAN_REASONS: ReasonWords = {
  refused: ({ status, said }) => `Получатель отказал с кодом ${status}${quoted(said)}`,
  server_error: ({ status, said }) => `У получателя сбой, код ${status}${quoted(said)}`,
  unexpected_status: ({ status, said }) => `Получатель ответил кодом ${status}, это не успех${quoted(said)}`,
  redirect: ({ status, target }) => `Получатель перенаправил (${status}) на ${target}. Перенаправления не выполняются.`,
  no_response: ({ seconds }) => `Ответа не было ${seconds} с.`,
  no_connection: ({ seconds }) => `Соединение не установилось за ${seconds} с.`,
  name_servers_silent: () => "Серверы имён не ответили.",
  name_unknown: ({ name }) => `Имя ${name} не найдено.`,
  certificate_rejected: ({ detail }) => `Сертификат получателя не принят: ${detail}.`,
  bad_response: ({ detail }) => `Ответ не соответствует HTTP: ${detail}.`,
  skipped: ({ detail }) => `Пропущено: ${detail}`,
  other: ({ detail }) => (detail === "" ? "Ответа не было." : `Доставить не удалось: ${detail}.`),
  connection_refused: () => "Получатель не принял соединение.",
  connection_ended: () => "Получатель закрыл соединение без ответа.",
  client_certificate_demanded: () => "Получатель требует сертификат клиента.",
  client_certificate_refused: () => "Получатель не принял сертификат клиента.",
  tls_failed: () => "Установить TLS не удалось.",
  not_public: () => "Адрес ведёт в сеть, которая не является публичной.",
  not_decrypted: () => "Не отправлено: CABINET_SECRET_KEY не расшифровывает секрет адреса.",
  service_stopped: () => "Сервис остановлен раньше, чем пришёл ответ.",
  worker_ended: () => "Обработчик завершился раньше, чем записал результат. Запрос мог быть отправлен.",
}
