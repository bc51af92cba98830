import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Exit, FileSystem, Layer, Scope } from "effect"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { issueStartKeys } from "../../src/app/startKeys.ts"
import { KeyStore } from "../../src/access/KeyStore.ts"
import { MAX_ACTIVE_KEYS } from "../../src/api/schemas/ApiKey.ts"
import * as MemoryKeys from "../support/memoryKeys.ts"

const ACCOUNT = "welcome"

/** A start on this store with this data folder, until the scope closes. */
const begin = Effect.fnUntraced(function* (store: KeyStore["Service"], folder: string) {
  const scope = yield* Scope.make()
  const settings = ConfigProvider.fromUnknown({ DATA_DIR: folder })
  const keys = yield* issueStartKeys.pipe(
    Effect.provideService(KeyStore, store),
    Effect.provideService(ConfigProvider.ConfigProvider, settings),
    Effect.provideService(Scope.Scope, scope)
  )
  return { keys, end: Scope.close(scope, Exit.void) }
})

const open = Effect.gen(function* () {
  const store = Context.get(yield* Layer.build(MemoryKeys.layer()), KeyStore)
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const active = Effect.map(store.list(ACCOUNT), (keys) => keys.filter(({ revokedAtMs }) => revokedAtMs === null))
  return { store, folder, active }
})

describe("issueStartKeys", () => {
  it.live("leaves the keys of a second process that is still running", () =>
    Effect.gen(function* () {
      const { active, folder, store } = yield* open
      const first = yield* begin(store, folder)
      const second = yield* begin(store, folder)
      assert.lengthOf(yield* active, 4)
      yield* first.end
      yield* second.end
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("revokes the keys of ended starts of the same data folder, and no other key", () =>
    Effect.gen(function* () {
      const { active, folder, store } = yield* open
      const byHand = yield* store.issue(
        {
          accountId: ACCOUNT,
          name: "every scope",
          scopes: ["md.read"],
          ipPolicy: null
        },
        COMMAND_LINE
      )
      const elsewhere = yield* begin(store, `${folder}/elsewhere`)
      yield* elsewhere.end
      const kept = yield* active
      for (let i = 0; i < MAX_ACTIVE_KEYS; i++) {
        const start = yield* begin(store, folder)
        assert.isNotNull(start.keys)
        assert.lengthOf(yield* active, kept.length + 2)
        yield* start.end
      }
      const ids = (yield* active).map(({ id }) => id)
      assert.includeMembers(
        ids,
        kept.map(({ id }) => id)
      )
      assert.include(ids, byHand.key.id)
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("issues nothing, and revokes nothing, when others hold all keys of the account", () =>
    Effect.gen(function* () {
      const { active, folder, store } = yield* open
      const request = { accountId: ACCOUNT, name: "by hand", scopes: ["md.read"] as const, ipPolicy: null }
      yield* Effect.replicateEffect(store.issue(request, COMMAND_LINE), MAX_ACTIVE_KEYS)
      const { end, keys } = yield* begin(store, folder)
      assert.isNull(keys)
      assert.lengthOf(yield* active, MAX_ACTIVE_KEYS)
      yield* end
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )

  it.live("issues keys even where the data folder cannot be written", () =>
    Effect.gen(function* () {
      const { active, store } = yield* open
      const { end, keys } = yield* begin(store, "/dev/null/fathom")
      assert.isNotNull(keys)
      assert.lengthOf(yield* active, 2)
      yield* end
    }).pipe(Effect.provide(NodeFileSystem.layer))
  )
})
