import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { makeSecret } from "../../src/access/keyFormat.ts"
import { keyPlansContract } from "./keyPlansContract.ts"
import { keyStoreContract } from "./keyStoreContract.ts"
import * as MemoryKeys from "../support/memoryKeys.ts"

keyStoreContract("keys in memory", MemoryKeys.layer())
keyPlansContract("keys in memory: audit and plans", MemoryKeys.layer())

const secret = makeSecret("test", (size) => new Uint8Array(size))

it.effect("starts with keys whose secrets are known in advance", () =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const key = yield* keys.authenticate(secret)
    assert.deepInclude(key, { id: "key_demo", accountId: "local", scopes: ["perps.read"], prefix: "svc_test_" })
  }).pipe(Effect.provide(MemoryKeys.layer({ keys: [{ secret, id: "key_demo", scopes: ["perps.read"] }] })))
)

it.effect("makes secrets of a sandbox when configured to", () =>
  Effect.gen(function* () {
    const keys = yield* KeyStore
    const { key } = yield* keys.issue({ accountId: "a", name: "n", scopes: [], ipPolicy: null }, COMMAND_LINE)
    assert.strictEqual(key.prefix, "svc_test_")
  }).pipe(Effect.provide(MemoryKeys.layer({ environment: "test" })))
)
