import { assert, it } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { exitMessage } from "../../src/app/commands/exitMessage.ts"
import { checkRole, isKeeper } from "../../src/app/role.ts"

const DATABASE_URL = "postgres://postgres@127.0.0.1/postgres"
const VALKEY_URL = "redis://127.0.0.1"
const SOLANA_RPC_URL = "http://127.0.0.1:8899"

const withEnv = (env: Record<string, string>) =>
  Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

const refusal = (env: Record<string, string>) =>
  Effect.map(Effect.flip(Effect.sandbox(checkRole)).pipe(withEnv(env)), exitMessage)

it.effect("asks nothing of a whole service", () =>
  Effect.andThen(checkRole, isKeeper).pipe(
    withEnv({}),
    Effect.map((keeps) => assert.isTrue(keeps))
  )
)

it.effect.each(["ingest", "api", "live", "keeper"])("refuses %s without the engines that it shares, by name", (ROLE) =>
  Effect.gen(function* () {
    assert.include(yield* refusal({ ROLE, VALKEY_URL, SOLANA_RPC_URL }), `fathom: ROLE=${ROLE} needs DATABASE_URL: `)
    assert.include(yield* refusal({ ROLE, DATABASE_URL, SOLANA_RPC_URL }), `fathom: ROLE=${ROLE} needs VALKEY_URL: `)
    assert.include(yield* refusal({ ROLE, DATABASE_URL, VALKEY_URL }), `fathom: ROLE=${ROLE} needs SOLANA_RPC_URL`)
    const recorded = { ROLE, DATABASE_URL, VALKEY_URL, SOLANA_RPC_URL, ACCOUNTS_DIR: "recorded" }
    assert.include(yield* refusal(recorded), `fathom: ROLE=${ROLE} needs SOLANA_RPC_URL`)
    yield* checkRole.pipe(withEnv({ ROLE, DATABASE_URL, VALKEY_URL, SOLANA_RPC_URL }))
    assert.strictEqual(yield* isKeeper.pipe(withEnv({ ROLE })), ROLE === "keeper")
  })
)

it.effect("refuses a role that there is not", () =>
  Effect.map(refusal({ ROLE: "reader" }), (message) => assert.match(`${message}`, /^fathom: ROLE: /u))
)
