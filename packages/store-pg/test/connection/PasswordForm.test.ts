/**
 * A service whose control plane refuses SCRAM verifiers at the commit gets a password in plain text, if that is safe.
 */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { mayCarryText, type PasswordForm, withPasswordForm } from "@data-cabinet/store-pg/connection/PasswordForm"
import { ensureRoles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { sqlMessage } from "@data-cabinet/store-pg/connection/StoreFailure"
import { Effect } from "effect"
import { SqlError } from "effect/sql"
import { afterAll, assert, beforeAll, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

const REFUSAL = "Received HTTP code 400 from control plane: Neon only supports being given plaintext passwords"

let database: TestDatabase

// A verifier is stored as given, and plain text in the form of `password_encryption`, which distinguishes the two.
beforeAll(async () => {
  database = await testDatabase()
  await database.run(`ALTER ROLE cabinet IN DATABASE ${database.name} SET password_encryption = 'md5'`)
  await database.run(`
    CREATE FUNCTION public.control_plane() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
    BEGIN
      IF (SELECT rolpassword FROM pg_authid WHERE rolname = NEW.role) LIKE 'SCRAM%' THEN RAISE EXCEPTION '${REFUSAL}'; END IF;
      RETURN NULL;
    END $$`)
  await database.run(`
    CREATE CONSTRAINT TRIGGER control_plane AFTER INSERT ON cabinet.role_password DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION public.control_plane()`)
})
afterAll(() => database.drop())

it("ensureRoles sends the clear text of a password when the verifier is refused at the commit", async () => {
  const { url } = database
  const roles = await Effect.runPromise(ensureRoles({ url }).pipe(Effect.provide(OwnerClient.layer({ url }))))
  assert.isTrue(roles.reader.there && roles.author.there)
  const kept = await database.run(
    `SELECT left(rolpassword, 3) AS form FROM pg_authid WHERE rolname IN ('${roles.reader.role}', '${roles.author.role}')`,
  )
  assert.deepStrictEqual(kept, [{ form: "md5" }, { form: "md5" }])
})

it("withPasswordForm sends no plain text over a connection that others can read, and says what to do", async () => {
  const asked: Array<PasswordForm> = []
  const cause = new Error(REFUSAL)
  const refused = new SqlError.SqlError({ reason: new SqlError.UnknownError({ cause, message: REFUSAL }) })
  const work = (form: PasswordForm) =>
    Effect.andThen(
      Effect.sync(() => asked.push(form)),
      Effect.fail(refused),
    )
  const error = await Effect.runPromise(Effect.flip(withPasswordForm("postgres://a:b@db/x?sslmode=require", work)))
  assert.match(sqlMessage(error), /verified TLS only: add sslmode=verify-full/)
  assert.deepStrictEqual(asked, ["verifier"])
})

it.each([
  ["postgres://a:b@db/x", false],
  ["postgres://a:b@db/x?sslmode=prefer", false],
  ["postgres://a:b@db/x?sslmode=require", false],
  ["postgres://a:b@db/x?sslmode=require&sslrootcert=/ca.pem", true],
  ["postgres://a:b@db/x?sslmode=verify-full", true],
  ["postgres://a:b@localhost/x?host=/run/postgresql", true],
  ["postgres://a:b@localhost/x?host=/run/postgresql,db", false],
])("mayCarryText returns for %s %s", (url, may) => assert.strictEqual(mayCarryText(url), may))
