import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { COMMAND_LINE } from "../../src/domain/KeyAudit.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { makeSecret } from "../../src/access/keyFormat.ts"
import { keyStoreContract } from "./keyStoreContract.ts"

keyStoreContract("KeyStore.layerMemory", KeyStore.layerMemory())

const secret = makeSecret("test", (size) => new Uint8Array(size))

it.effect("starts with keys whose secrets are known beforehand", () =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const key = yield* keys.authenticate(secret)
    assert.deepInclude(key, { id: "key_demo", accountId: "local", scopes: ["perps.read"], prefix: "svc_test_" })
  }).pipe(Effect.provide(KeyStore.layerMemory({ keys: [{ secret, id: "key_demo", scopes: ["perps.read"] }] })))
)

it.effect("makes secrets of a sandbox when configured to", () =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const { key } = yield* keys.issue({ accountId: "a", name: "n", scopes: [], ipPolicy: null }, COMMAND_LINE)
    assert.strictEqual(key.prefix, "svc_test_")
  }).pipe(Effect.provide(KeyStore.layerMemory({ environment: "test" })))
)
