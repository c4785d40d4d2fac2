/** The form is sent to the cabinet below `/data`, and the page shows what came in. */
import { intakeUrl, messages } from "../lib/contact"

export const dynamic = "force-dynamic"

export default async function Page() {
  const action = await intakeUrl()
  return (
    <>
      <form method="post" action={action}>
        <input name="name" placeholder="Name" required />
        <input name="message" placeholder="Message" required />
        <button>Send</button>
      </form>
      <table>
        <tbody>
          {(await messages()).map(({ id, name, message }) => (
            <tr key={id}>
              <td>{name}</td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
