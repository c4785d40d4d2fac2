/**
 * A contact form in a NestJS app: the form is sent to the cabinet below `/data`, and the page shows what came in.
 *
 *   npm run build && npm start
 */
import { Controller, Get, Header, Module, type OnApplicationShutdown } from "@nestjs/common"
import { NestFactory } from "@nestjs/core"
import type { NestExpressApplication } from "@nestjs/platform-express"
import { contact } from "./contact.js"

const { cabinet, intakeUrl, messages } = await contact()

const escaped = (text: string) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)

@Controller()
class ContactController {
  @Get("/")
  @Header("content-type", "text/html; charset=utf-8")
  async page() {
    const rows = (await messages()).map(
      ({ name, message }) => `<tr><td>${escaped(name)}</td><td>${escaped(message)}</td></tr>`,
    )
    return `<!doctype html>
      <title>Contact</title>
      <form method="post" action="${escaped(intakeUrl)}">
        <input name="name" placeholder="Name" required />
        <input name="message" placeholder="Message" required />
        <button>Send</button>
      </form>
      <table>${rows.join("")}</table>`
  }
}

@Module({ controllers: [ContactController] })
class AppModule implements OnApplicationShutdown {
  onApplicationShutdown(): Promise<void> {
    return cabinet.close() // finishes what is under way, and closes every connection
  }
}

const app = await NestFactory.create<NestExpressApplication>(AppModule, { bodyParser: false })
app.use("/data", cabinet.nodeHandler) // before any body parser: a cabinet keeps bodies as they were sent
app.useBodyParser("json")
app.enableShutdownHooks()
await app.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1")
console.log(`The form is at ${await app.getUrl()}/`)
