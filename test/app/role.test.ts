import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { exitMessage } from "../../src/app/commands/exitMessage.ts"
import { checkRole } from "../../src/app/role.ts"
import * as roles from "../../src/app/roles.ts"
import { CleansUp } from "../../src/storage/purge.ts"

const DATABASE_URL = "postgres://postgres@127.0.0.1/postgres"
const VALKEY_URL = "redis://127.0.0.1"
const SOLANA_RPC_URL = "http://127.0.0.1:8899"

const withEnv = (env: Record<string, string>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

const refusal = (env: Record<string, string>) =>
  Effect.map(Effect.flip(Effect.sandbox(checkRole)).pipe(withEnv(env)), exitMessage)

it.effect("needs no setting for a whole service", () => withEnv({})(checkRole))

it.effect.each(["ingest", "api", "live", "keeper"])(
  "refuses %s when a setting is missing that connects it to the other processes, by name",
  (ROLE) =>
    Effect.gen(function* () {
      assert.include(yield* refusal({ ROLE, VALKEY_URL, SOLANA_RPC_URL }), `fathom: ROLE=${ROLE} needs DATABASE_URL: `)
      assert.include(yield* refusal({ ROLE, DATABASE_URL, SOLANA_RPC_URL }), `fathom: ROLE=${ROLE} needs VALKEY_URL: `)
      assert.include(yield* refusal({ ROLE, DATABASE_URL, VALKEY_URL }), `fathom: ROLE=${ROLE} needs SOLANA_RPC_URL`)
      const recorded = { ROLE, DATABASE_URL, VALKEY_URL, SOLANA_RPC_URL, ACCOUNTS_DIR: "recorded" }
      assert.include(yield* refusal(recorded), `fathom: ROLE=${ROLE} needs SOLANA_RPC_URL`)
      yield* checkRole.pipe(withEnv({ ROLE, DATABASE_URL, VALKEY_URL, SOLANA_RPC_URL }))
    })
)

it.effect("refuses to record in a part of a service", () =>
  Effect.gen(function* () {
    const settings = { ROLE: "ingest", RECORD: "on", DATABASE_URL, VALKEY_URL, SOLANA_RPC_URL }
    assert.include(yield* refusal(settings), "fathom: RECORD=on needs ROLE=all")
    yield* checkRole.pipe(withEnv({ RECORD: "on" }))
  })
)

it.effect("refuses an unknown role", () =>
  Effect.map(refusal({ ROLE: "reader" }), (message) => assert.match(`${message}`, /^fathom: ROLE: /u))
)

it.effect.each([undefined, "all", "ingest", "api", "live", "keeper"])(
  "cleans up in a keeper and in a whole service only: %s",
  (ROLE) =>
    Effect.gen(function* () {
      const cleansUp = yield* Effect.service(CleansUp).pipe(Effect.provide(roles.cleansUp))
      assert.strictEqual(cleansUp, ROLE === undefined || ROLE === "all" || ROLE === "keeper")
    }).pipe(withEnv(ROLE === undefined ? {} : { ROLE }))
)
