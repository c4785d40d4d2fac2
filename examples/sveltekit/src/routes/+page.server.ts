/** What the page shows: where its form is sent, and what came in. */
import { contact } from "../lib/server/contact"

export const load = async () => {
  const { intakeUrl, messages } = await contact()
  return { intakeUrl, messages: await messages() }
}
