import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { MessageChannel } from "node:worker_threads"
import * as MemoryAlerts from "../../support/memoryAlerts.ts"
import { AlertStore } from "../../../src/alerts/AlertStore.ts"
import { CalloutStore } from "../../../src/callouts/CalloutStore.ts"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import { Market } from "../../../src/market/tape/Market.ts"
import { coins } from "../../../src/simulator/pools/catalog.ts"
import * as Seed from "../../../src/simulator/seed/Seed.ts"
import { SimulatorThread } from "../../../src/simulator/SimulatorThread.ts"
import { castOf } from "../../../src/simulator/traders/cast.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { followOf } from "../../wallets/copying/copies.ts"
import { memoryTracker } from "../../support/tracker.ts"
import * as MemoryFollows from "../../support/memoryFollows.ts"
import * as MemoryCallouts from "../../support/memoryCallouts.ts"

const accountId = "welcome"
const { wallets } = castOf("a seed")
const mints = coins.map(({ decimals, name, symbol }, i) => ({ symbol, name, decimals, address: addressOf(i + 1) }))

const thread = Layer.effect(
  SimulatorThread,
  Effect.acquireRelease(
    Effect.sync(() => new MessageChannel()),
    ({ port1 }) => Effect.sync(() => port1.close())
  ).pipe(
    Effect.map(({ port2 }) => ({
      rpcUrl: "",
      wsUrl: "",
      geyserUrl: null,
      pastSlots: 0,
      live: { slot: 1, unixMs: 0 },
      past: null,
      mints,
      wallets,
      follows: [followOf("cf_demo", { accountId })],
      fills: port2
    }))
  )
)

const stores = Layer.mergeAll(
  MemoryAlerts.layer,
  MemoryCallouts.layer,
  MemoryFollows.layer,
  IdentityStore.layerMemory,
  memoryTracker,
  Market.layerManual()
)

/** How much demo data there is: tracked wallets, alerts, callouts, follows, wallets with an identity. */
const sizes = Effect.gen(function* () {
  const overview = yield* TrackerStore.use((store) => store.overview({ accountId, groupId: null }))
  const alerts = yield* AlertStore.use((store) =>
    store.page(accountId, { status: null, mint: null, limit: 100, after: null })
  )
  const { callouts } = yield* CalloutStore.use((store) =>
    store.page({ sort: "recent", mint: null, limit: 100, after: null })
  )
  const identities = yield* IdentityStore.use((store) => store.of(wallets.map(({ address }) => address)))
  const follow = yield* FollowStore.use((store) => store.find(accountId, "cf_demo"))
  return [overview.wallets.length, alerts.rows.length, callouts.length, follow === null ? 0 : 1, identities.size]
})

const DEMO = [6, 2, 18, 1, 11]

it.live("writes demo data through the ports in the background, and only once in two starts", () =>
  Effect.gen(function* () {
    const written = sizes.pipe(
      Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (found) => `${found}` === `${DEMO}` }),
      Effect.timeoutOption("5 seconds"),
      Effect.andThen(sizes)
    )
    yield* Layer.build(Seed.layer)
    assert.deepStrictEqual(yield* written, DEMO)
    yield* Effect.scoped(Effect.andThen(Layer.build(Layer.fresh(Seed.layer)), Effect.sleep("50 millis")))
    assert.deepStrictEqual(yield* written, DEMO)
  }).pipe(Effect.provide([stores, thread]))
)

it.live("completes once everything is written", () =>
  Effect.gen(function* () {
    const { done } = Context.get(yield* Layer.build(Seed.layer), Seed.SeedProgress)
    yield* Effect.timeout(done, "10 seconds")
    assert.deepStrictEqual(yield* sizes, DEMO)
  }).pipe(Effect.provide([stores, thread]))
)

it.live("does not wait for a store that does not answer", () =>
  Effect.gen(function* () {
    const alerts = yield* AlertStore
    const callouts = yield* CalloutStore
    const hanging = Layer.mergeAll(
      Layer.succeed(AlertStore, AlertStore.of({ ...alerts, page: () => Effect.never })),
      Layer.succeed(CalloutStore, CalloutStore.of({ ...callouts, post: () => Effect.never }))
    )
    yield* Layer.build(Seed.layer.pipe(Layer.provide(hanging))).pipe(Effect.timeout("2 seconds"))
  }).pipe(Effect.provide([stores, thread]))
)
