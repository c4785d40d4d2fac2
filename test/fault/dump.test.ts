/**
 * The procedures with `pg_dump` in docs/operations.md, run as printed: from one external server to another, and from an
 * embedded PostgreSQL to one of a later major version. They need PostgreSQL's client programs, which the shipped PostgreSQL
 * lacks, so they run only if the suite's PostgreSQL has them.
 */
import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"

const BIN = process.env["TEST_PG_BIN"] ?? ""
const DATABASE = "cabinet"
const RATES = { CABINET_INTAKE_RATE: "0" }

const page = readFileSync(new URL("../../docs/operations.md", import.meta.url), "utf8")

const block = (name: string): string => {
  const [, text = ""] = new RegExp(`<!-- tried: ${name} -->\\s*\`\`\`sh\\n(.*?)\`\`\``, "s").exec(page) ?? []
  return text
}

it("docs/operations.md contains every block that this test runs", () => {
  for (const name of ["dump", "upgrade dump"]) expect(block(name)).toContain("pg_dump")
  for (const name of ["restore", "upgrade restore"]) expect(block(name)).toContain("pg_restore")
})

const homes: Array<ClusterHome> = []
afterAll(async () => {
  await endAll()
  for (const home of homes) await home.remove()
})

/** Runs a block of the page, where `cabinet` is ours and PostgreSQL's programs are the suite's. */
const shell = (home: Home, name: string, env: Readonly<Record<string, string>>) => {
  const bin = join(home.dir, "bin")
  mkdirSync(bin, { recursive: true })
  const command = home.commandLine([]).map((word) => `'${word}'`)
  writeFileSync(join(bin, "cabinet"), `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`)
  chmodSync(join(bin, "cabinet"), 0o755)
  const path = [bin, BIN, process.env["PATH"]].join(delimiter)
  const ran = spawnSync("sh", ["-euc", block(name)], {
    cwd: home.dir,
    env: home.environment({ ...env, PATH: path }),
    encoding: "utf8",
  })
  expect(ran).toMatchObject({ status: 0, stderr: expect.not.stringMatching(/error/i) })
}

const SQL = `
CREATE TABLE public.mine (id int PRIMARY KEY);
INSERT INTO public.mine VALUES (1);
CREATE VIEW own.totals AS SELECT total FROM sources.first_source;`

/** The author's code, wherever a restore would run it. It tries to gain other rights, and records the role it runs as. */
const TRAPS = `
CREATE TABLE public.a_ran (who text);
CREATE FUNCTION public.note() RETURNS boolean LANGUAGE plpgsql SET search_path = pg_catalog AS $f$
  BEGIN
    BEGIN EXECUTE 'RESET ROLE'; EXCEPTION WHEN OTHERS THEN NULL; END;
    INSERT INTO public.a_ran VALUES (current_user);
    RETURN true;
  END $f$;
CREATE FUNCTION public.same(anyelement) RETURNS boolean IMMUTABLE LANGUAGE plpgsql SET search_path = pg_catalog AS $f$
  BEGIN RETURN public.note(); END $f$;
CREATE DOMAIN public.d AS int CHECK (public.note());
CREATE VIEW public.literal AS SELECT '{1}'::public.d[] AS d, total FROM sources.first_source;
CREATE TABLE public.checked (id int PRIMARY KEY, d public.d DEFAULT 1, CHECK (public.same(id)));
CREATE INDEX checked_same ON public.checked (public.same(id));
INSERT INTO public.checked VALUES (1, 1);
CREATE MATERIALIZED VIEW own.kept AS SELECT id, public.same(id) AS s FROM public.checked;
CREATE TYPE public.mood AS ENUM ('glad');
CREATE FUNCTION public.as_int(public.mood) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
CREATE CAST (public.mood AS int) WITH FUNCTION public.as_int(public.mood);
CREATE FUNCTION public.fired() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM public.note(); RETURN NEW; END';
CREATE TRIGGER fired BEFORE INSERT ON public.mine FOR EACH ROW EXECUTE FUNCTION public.fired();
CREATE RULE also AS ON DELETE TO public.mine DO ALSO SELECT ('{1}'::public.d[])[1];
COMMENT ON VIEW public.literal IS 'the author''s';
TRUNCATE public.a_ran;`

const json = async (
  home: Home,
  env: Readonly<Record<string, string>>,
  ...args: ReadonlyArray<string>
): Promise<any> => {
  const { stdout, stderr } = await home.cabinet([...args, "--json"], env)
  expect(stderr).toBe("")
  return JSON.parse(stdout)
}

const post = async (server: ServerProcess, path: string, total: number) => {
  const headers = { "content-type": "application/json" }
  const sent = await fetch(server.baseUrl + path, { method: "POST", headers, body: JSON.stringify({ total }) })
  return ((await sent.json()) as { id: number }).id
}

const feed = async (server: ServerProcess, key: string, cursor: string) => {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${server.baseUrl}/api/v1/events?cursor=${encodeURIComponent(cursor)}`, { headers })
  return (await answer.json()) as { data: ReadonlyArray<{ id: number }>; next_cursor: string }
}

const tried = (from: () => Promise<TestCluster>) => {
  const home = newHome()
  let before: Awaited<ReturnType<typeof fill>>
  const fill = async (env: Record<string, string>) => {
    const server = await home.serve([], env)
    const { key } = server.welcome.key!
    const path = server.welcome.source!.intake_path
    const id = await post(server, path, 12)
    const first = await fetch(`${server.baseUrl}/api/v1/events`, { headers: { authorization: `Bearer ${key}` } })
    const cursor = ((await first.json()) as { next_cursor: string }).next_cursor
    await server.stop("SIGTERM")
    expect(await home.cabinet(["schema", "add", "own"], env)).toMatchObject({ code: 0 })
    expect(await home.cabinet(["sql"], env, `${SQL}${TRAPS}`)).toMatchObject({ code: 0, stderr: "" })
    return { key, path, id, cursor }
  }
  return {
    home,
    begin: async () => {
      const cluster = await from()
      const env = { ...RATES, DATABASE_URL: cluster.url(DATABASE) }
      before = await fill(env)
      return { cluster, env }
    },
    /** Everything is there, every role can do what it could before, and ongoing work continues. */
    goesOn: async (env: Record<string, string>) => {
      const server = await home.serve([], { ...RATES, ...env })
      expect(server.welcome.source).toBeNull()
      expect((await feed(server, before.key, before.cursor)).data).toEqual([])
      const id = await post(server, before.path, 13)
      expect((await feed(server, before.key, before.cursor)).data.map((event) => event.id)).toEqual([id])
      expect((await json(home, env, "rows", "own.totals", "--sort", "total")).data).toEqual([
        { total: 12 },
        { total: 13 },
      ])
      const more = `
        SELECT DISTINCT who FROM public.a_ran;
        SELECT 'glad'::public.mood::int;
        DELETE FROM public.mine;
        ALTER TABLE public.mine ADD more int;
        CREATE VIEW own.another AS SELECT 1 AS one;`
      const made = await home.cabinet(["sql"], env, more)
      expect(made).toMatchObject({ code: 0, stderr: "" })
      // The code ran during the restore, and only as the author.
      expect(made.stdout).toContain(`cabinet_${DATABASE}_author`)
      expect(made.stdout).not.toMatch(/\bcabinet\b/)
      expect((await json(home, env, "rows", "own.another")).data).toEqual([{ one: 1 }])
      expect((await json(home, env, "doctor")).ok).toBe(true)
      await server.stop("SIGTERM")
    },
  }
}

if (existsSync(join(BIN, "pg_dump"))) {
  const server = async (clusters: ClusterHome, name: string) => {
    const cluster = await clusters.init(name)
    await cluster.start()
    await cluster.createDatabase(DATABASE)
    return cluster
  }

  it("a dump of an external database is restored on another server", async () => {
    const clusters = clusterHome(BIN)
    homes.push(clusters)
    const { home, begin, goesOn } = tried(() => server(clusters, "old"))
    const { env } = await begin()
    shell(home, "dump", env)
    const to = { DATABASE_URL: (await server(clusters, "new")).url(DATABASE) }
    shell(home, "restore", to)
    await goesOn(to)
  })

  it("a dump of an embedded database of an earlier major version is restored in a new one", async () => {
    const clusters = clusterHome(BIN)
    homes.push(clusters)
    const { home, begin, goesOn } = tried(() => server(clusters, "old"))
    const { cluster } = await begin()
    // The files that a running server of the earlier version keeps in its data directory.
    mkdirSync(home.dataDir)
    writeFileSync(join(home.dataDir, "server.json"), JSON.stringify({ socketDir: cluster.socketDir }))
    shell(home, "upgrade dump", {})

    const to = { CABINET_DATA_DIR: join(home.dir, ".cabinet-new") }
    const fresh = await home.serve(["--no-delivery", "--no-poll"], { ...RATES, ...to })
    shell(home, "upgrade restore", {})
    await fresh.stop("SIGTERM")
    await goesOn(to)
  })
}
