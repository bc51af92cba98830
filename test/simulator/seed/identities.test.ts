import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { identitiesOf, layerRemoved, seedIdentities } from "../../../src/simulator/seed/identities.ts"
import { castOf } from "../../../src/simulator/traders/cast.ts"
import { IdentityStore } from "../../../src/wallets/IdentityStore.ts"
import { FULL } from "../../wallets/identities.ts"

const demo = identitiesOf({ nowMs: 1_800_000_000_000, wallets: castOf("a seed").wallets })
const demoWallets = demo.map(({ wallet }) => wallet)

it.live("writes the same records at every start, and removes only those when the market changes", () =>
  Effect.gen(function* () {
    const store = yield* IdentityStore
    yield* store.replace("reviewed", [FULL])
    yield* seedIdentities(demo)
    yield* seedIdentities(demo)
    const found = yield* store.of(demoWallets)
    assert.deepStrictEqual(Array.from(found.values()).flat(), demo)
    yield* Layer.build(layerRemoved)
    const left = yield* store
      .of(demoWallets)
      .pipe(
        Effect.repeat({ schedule: Schedule.spaced("5 millis"), until: ({ size }) => size === 0 }),
        Effect.timeout("5 seconds")
      )
    assert.strictEqual(left.size, 0)
    assert.deepStrictEqual((yield* store.of([FULL.wallet])).get(FULL.wallet), [FULL])
  }).pipe(Effect.provide(IdentityStore.layerMemory))
)
