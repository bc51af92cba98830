/** A program that starts a server in the folder it is given, and writes numbers until it is killed. It prints what was acknowledged. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import { writeSync } from "node:fs"
import * as EmbeddedServer from "../../src/storage/EmbeddedServer.ts"

const say = (word: string | number) => Effect.sync(() => writeSync(1, `${word}\n`))

const main = Effect.gen(function* () {
  const server = yield* EmbeddedServer.start({ folder: process.argv[2] ?? "" })
  yield* say(server.pid)
  const sql = yield* PgClient.make({ host: server.socketFolder, username: "postgres", database: "postgres" })
  yield* sql`create table if not exists numbers (n int primary key)`
  for (let n = 1; ; n++) {
    yield* sql`insert into numbers values (${n})`
    yield* say(n)
  }
})

await Effect.runPromise(main.pipe(Effect.scoped, Effect.provide(Reactivity.layer)))
