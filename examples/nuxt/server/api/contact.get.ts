/** What the page shows: where its form is sent, and what came in. */
export default defineEventHandler(async () => {
  const { intakeUrl, messages } = await contact()
  return { intakeUrl, messages: await messages() }
})
