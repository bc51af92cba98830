import { assert, describe, it } from "@effect/vitest"
import { Cause, ConfigProvider, Effect, Exit, Formatter, Layer, Logger, Redacted, References, Tracer } from "effect"
import { SqlClient } from "effect/sql"
import { inspect } from "node:util"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as MemoryKeys from "../support/memoryKeys.ts"

/** Everything that may leave the process unintended: log lines of every level, and spans with their attributes. */
const overheard = () => {
  const said: Array<string> = []
  const note = (what: unknown) => said.push(inspect(what, { depth: 8 }), Formatter.format(what), String(what))
  const logger = Logger.make((options) => {
    note(options.message)
    note(Cause.pretty(options.cause))
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (time, exit) => {
        note({ name: span.name, attributes: Object.fromEntries(span.attributes), events: span.events })
        note(exit._tag === "Failure" ? Cause.pretty(exit.cause) : "")
        end(time, exit)
      }
      return span
    }
  })
  const layer = Layer.mergeAll(
    Logger.layer([logger]),
    Layer.succeed(References.MinimumLogLevel, "All"),
    Layer.succeed(Tracer.Tracer, tracer)
  )
  return { said, layer, note }
}

/** The whole life of a key, failures included. Every value and error is logged as a careless caller would do it. */
const life = Effect.fnUntraced(function* (note: (what: unknown) => void) {
  const keys = yield* KeyStore
  const issued = yield* keys.issue({ accountId: "a", name: "bot", scopes: ["md.read"], ipPolicy: null }, COMMAND_LINE)
  const mistyped = Redacted.make(`${Redacted.value(issued.secret).slice(0, -1)}_`)
  const noteExit = (exit: Exit.Exit<unknown, unknown>) => {
    note(exit)
    note(JSON.stringify(exit))
    note(Exit.isFailure(exit) ? Cause.pretty(exit.cause) : exit.value)
  }
  note(issued)
  note(JSON.stringify(issued))
  yield* Effect.logInfo("issued", issued, mistyped)
  noteExit(yield* Effect.exit(keys.authenticate(issued.secret)))
  noteExit(yield* Effect.exit(keys.authenticate(mistyped)))
  yield* keys.disable(issued.key.id, COMMAND_LINE)
  noteExit(yield* Effect.exit(keys.authenticate(issued.secret)))
  yield* keys.revoke(issued.key.id, COMMAND_LINE)
  noteExit(yield* Effect.exit(keys.authenticate(issued.secret)))
  noteExit(yield* Effect.exit(keys.list("a")))
  return Redacted.value(issued.secret).slice("svc_live_".length, -4)
})

describe("a secret", () => {
  it.live("never appears in the output of the store in memory", () => {
    const { layer, note, said } = overheard()
    return Effect.gen(function* () {
      const secret = yield* life(note).pipe(Effect.provide(MemoryKeys.layer()), Effect.provide(layer))
      assert.isAbove(said.length, 20)
      assert.notInclude(said.join("\n"), secret)
    })
  })

  describe.runIf(TestDatabase.isAvailable)("over Postgres", () => {
    it.live("never appears in any output, nor does the pepper, even when the database fails", () => {
      const { layer, note, said } = overheard()
      return Effect.gen(function* () {
        const address = yield* TestDatabase.create
        const secret = yield* Effect.gen(function* () {
          const secret = yield* life(note)
          const sql = yield* SqlClient.SqlClient
          yield* sql`alter table api_keys rename to elsewhere`
          const keys = yield* KeyStore
          const request = { accountId: "a", name: "n", scopes: [], ipPolicy: null }
          note(yield* Effect.exit(keys.issue(request, COMMAND_LINE)))
          return secret
        }).pipe(
          Effect.provide(KeyStorePg.layer),
          Effect.provide(TestDatabase.connect(address)),
          Effect.provide(
            ConfigProvider.layer(
              ConfigProvider.fromUnknown({ KEY_PEPPER: "hot-chili-pepper", KEY_PEPPER_BEFORE: "mild-chili-pepper" })
            )
          ),
          Effect.provide(layer)
        )
        assert.include(said.join("\n"), "KeyStoreUnavailable")
        assert.notInclude(said.join("\n"), secret)
        assert.notInclude(said.join("\n"), "chili-pepper")
      })
    })

    it.live("is not in the database", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = yield* KeyStore
        const { secret } = yield* keys.issue({ accountId: "a", name: "n", scopes: [], ipPolicy: null }, COMMAND_LINE)
        const rows = yield* sql`select to_json(t)::text as row from api_keys t`.values
        assert.strictEqual(rows.length, 1)
        assert.notInclude(String(rows), Redacted.value(secret).slice("svc_live_".length, -4))
      }).pipe(Effect.provide(KeyStorePg.layer), Effect.provide(TestDatabase.layer))
    )
  })
})
