import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import type { CalloutLink } from "../../src/callouts/attribution.ts"
import { attributeTrades, linksOf } from "../../src/callouts/attributionFeed.ts"
import { CalloutStore } from "../../src/callouts/CalloutStore.ts"
import { CalloutStoreUnavailable } from "../../src/api/schemas/Callout.ts"
import type { TapeTrade } from "../../src/market/model/TapeTrade.ts"
import { Market } from "../../src/market/tape/Market.ts"
import { Tape } from "../../src/market/tape/Tape.ts"
import type { PricedBatch } from "../../src/market/model/TradeBatch.ts"
import { trade } from "../market/tape/tape.ts"
import { at } from "../support/clock.ts"
import { addressOf, calloutOf, START } from "./callouts.ts"

/** A visitor's link to a callout of `addressOf(1)` from `START` on. */
export const linkOf = (calloutId: string, other: Partial<CalloutLink> = {}): CalloutLink => ({
  calloutId,
  mint: addressOf(1),
  wallet: addressOf(50),
  visitorId: "u_visitor",
  creatorId: "u_1",
  fromMs: START,
  untilMs: START + 1000,
  ...other
})

/** A trade for twelve dollars of the linked wallet, at `START`. */
export const traded = (number: number, other: Partial<TapeTrade> = {}): TapeTrade =>
  trade({
    signature: `signature ${number}`,
    mint: addressOf(1),
    wallet: addressOf(50),
    timeMs: START,
    volumeUsdNanos: 12_000_000_000n,
    ...other
  })

const blockOf = (...trades: ReadonlyArray<TapeTrade>): PricedBatch => ({
  slot: 1,
  timeMs: START,
  transactions: [],
  launches: null,
  afterGap: false,
  trades
})

const counted = (volumeUsd: number, traderCount: number) => {
  const attributedVolumeUsdNanos = BigInt(volumeUsd) * 1_000_000_000n
  return { attributedVolumeUsdNanos, traderCount, earnedUsdNanos: attributedVolumeUsdNanos / 1000n }
}

/** The callout once it has this volume, or as it is after five seconds. */
const settled = Effect.fnUntraced(function* (id: string, { attributedVolumeUsdNanos }: ReturnType<typeof counted>) {
  const store = yield* CalloutStore
  const find = store.find(id).pipe(at(START + 1))
  yield* find.pipe(
    Effect.repeat({
      schedule: Schedule.spaced("20 millis"),
      until: (found) => found?.attributedVolumeUsdNanos === attributedVolumeUsdNanos
    }),
    Effect.timeoutOption("5 seconds")
  )
  return yield* find
})

/** A tape to which these blocks are applied, with attribution running until the test ends. */
const attributed = (links: ReadonlyArray<CalloutLink>, blocks: ReadonlyArray<PricedBatch>) =>
  Effect.gen(function* () {
    const { apply } = yield* Tape
    yield* Layer.build(attributeTrades(linksOf(links)))
    yield* Effect.forEach(blocks, apply, { discard: true })
  }).pipe(Effect.provide(Market.layerManual()))

/** Attribution with the store of the test's choice. */
export const attributionContract = <E>(name: string, store: Layer.Layer<CalloutStore, E>) => {
  it.live(`${name} counts the trades of linked wallets once, however often their blocks are applied`, () =>
    Effect.gen(function* () {
      const callouts = yield* CalloutStore
      yield* callouts.post(calloutOf("co_linked")).pipe(at(START))
      const links = [linkOf("co_linked"), linkOf("co_linked", { wallet: addressOf(51) })]
      const first = blockOf(traded(1), traded(2, { wallet: addressOf(52) }))
      const second = blockOf(traded(3, { wallet: addressOf(51) }), traded(4, { side: "sell" }))
      yield* attributed(links, [first, second, second])
      const once = { ...counted(36, 2), pointsAwarded: 3n }
      assert.deepInclude(yield* settled("co_linked", once), once)
      // Another process, or the same after a restart, reads the same blocks.
      yield* attributed(links, [first, second, blockOf(traded(5))])
      const more = { ...counted(48, 2), pointsAwarded: 4n }
      assert.deepInclude(yield* settled("co_linked", more), more)
    }).pipe(Effect.provide(store))
  )

  it.live(`${name} waits for a store that is unavailable`, () =>
    Effect.gen(function* () {
      const callouts = yield* CalloutStore
      yield* callouts.post(calloutOf("co_patient")).pipe(at(START))
      let refusals = 1
      const flaky = CalloutStore.of({
        ...callouts,
        attribute: (attributed) =>
          Effect.suspend(() =>
            refusals-- > 0
              ? Effect.fail(new CalloutStoreUnavailable({ cause: new Error("down") }))
              : callouts.attribute(attributed)
          )
      })
      const links = [linkOf("co_patient", { mint: addressOf(2) })]
      const blocks = [blockOf(traded(11, { mint: addressOf(2) })), blockOf(traded(12, { mint: addressOf(2) }))]
      yield* attributed(links, blocks).pipe(Effect.provideService(CalloutStore, flaky))
      assert.deepInclude(yield* settled("co_patient", counted(24, 1)), counted(24, 1))
      assert.isBelow(refusals, 0)
    }).pipe(Effect.provide(store))
  )

  it.live(`${name} goes on after a trade that cannot be attributed`, () =>
    Effect.gen(function* () {
      const callouts = yield* CalloutStore
      yield* callouts.post(calloutOf("co_after")).pipe(at(START))
      let defects = 1
      const broken = CalloutStore.of({
        ...callouts,
        attribute: (attributed) =>
          Effect.suspend(() => (defects-- > 0 ? Effect.die(new Error("broken")) : callouts.attribute(attributed)))
      })
      const links = [linkOf("co_after", { mint: addressOf(3) })]
      const blocks = [blockOf(traded(21, { mint: addressOf(3) })), blockOf(traded(22, { mint: addressOf(3) }))]
      yield* attributed(links, blocks).pipe(Effect.provideService(CalloutStore, broken))
      assert.deepInclude(yield* settled("co_after", counted(12, 1)), counted(12, 1))
    }).pipe(Effect.provide(store))
  )
}
