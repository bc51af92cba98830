/** Databases for tests: real, migrated, empty, and one for each layer that is built. */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Layer, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomUUID } from "node:crypto"
import { connect as dial } from "node:net"
import { inject } from "vitest"
import { findBinaries } from "../../src/storage/binaries.ts"
import { ChangeChannel } from "../../src/storage/ChangeChannel.ts"
import { clientConfig } from "../../src/storage/Database.ts"
import { TEMPLATE } from "./databaseServer.ts"

/** Address of a test's database. */
export interface TestAddress {
  readonly host: string
  readonly port?: number
  readonly database: string
  /** The superuser of the server by default. */
  readonly username?: string
}

const decodeAnswer = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.Union([Schema.Struct({ socketFolder: Schema.String }), Schema.Struct({ failure: Schema.String })])
  )
)

const ask = Effect.callback<string, string>((resume) => {
  let answer = ""
  const socket = dial(inject("databaseServer"))
  socket.on("data", (chunk) => (answer += chunk.toString()))
  socket.on("end", () => resume(Effect.succeed(answer)))
  socket.on("error", (error) => resume(Effect.fail(error.message)))
})

/** True with a PostgreSQL for this machine: `describe.runIf(isAvailable)`. A run without one prints so before it starts. */
export const isAvailable = findBinaries() !== null

const copyOf = Effect.fnUntraced(
  function* (template: string) {
    const answer = yield* Effect.flatMap(ask, (text) => decodeAnswer(text))
    if ("failure" in answer) {
      return yield* Effect.die(new Error(answer.failure))
    }
    const host = answer.socketFolder
    const database = `test_${randomUUID().replaceAll("-", "")}`
    const admin = yield* PgClient.make({ host, username: "postgres", database: "postgres" })
    yield* admin`create database ${admin(database)} template ${admin(template)}`
    return { host, database }
  },
  Effect.scoped,
  Effect.provide(Reactivity.layer),
  Effect.orDie
)

/** A fresh copy of the migrated template. */
export const create: Effect.Effect<TestAddress> = copyOf(TEMPLATE)

/** A fresh database without tables. */
export const createEmpty: Effect.Effect<TestAddress> = copyOf("template1")

/** Another client of a database, as another process would have it. */
export const connect = (address: TestAddress) =>
  ChangeChannel.layer.pipe(
    Layer.provideMerge(
      PgClient.layer({
        ...clientConfig({
          poolSize: 10,
          connectTimeout: Duration.seconds(5),
          statementTimeout: Duration.seconds(30)
        }),
        username: "postgres",
        ...address
      })
    ),
    Layer.orDie
  )

/** A client of a database of its own. */
export const layer = Layer.unwrap(Effect.map(create, connect))
