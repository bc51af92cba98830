import { assert, it } from "@effect/vitest"
import { Effect, Layer, Schedule, Stream } from "effect"
import { MessageChannel } from "node:worker_threads"
import { keepCopies } from "../../../src/wallets/copying/copySource.ts"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import { FollowStoreUnavailable } from "../../../src/api/schemas/Copying.ts"
import { fillsFrom, makeCopyJournal } from "../../../src/simulator/traders/followersJournal.ts"
import { copyOf, followOf } from "./copies.ts"
import * as MemoryFollows from "../../support/memoryFollows.ts"

const accountId = "acct_a"
const fill = (number: number) =>
  copyOf({ followId: "cf_new", number, side: "buy", tokens: 2n ** 64n - 1n, usdNanos: 9n })

const idsOf = Effect.gen(function* () {
  const store = yield* FollowStore
  const selection = { accountId, followId: null, mint: null, status: null, sinceMs: null, untilMs: null }
  const { rows } = yield* store.fills({ ...selection, limit: 50, after: null })
  return rows.map(({ id }) => id)
})

/** The account's fills once there are this many, or as they are after five seconds. */
const settled = (count: number) =>
  idsOf.pipe(
    Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: (ids) => ids.length === count }),
    Effect.timeoutOption("5 seconds"),
    Effect.andThen(idsOf)
  )

it.live("replaces the copies of the account with the copies of the source", () =>
  Effect.gen(function* () {
    const store = yield* FollowStore
    yield* store.recordFollow(followOf("cf_old"))
    yield* store.recordFollow(followOf("cf_other", { accountId: "acct_b" }))
    const fills = Stream.fromIterable([fill(1), fill(2), fill(1)])
    const source = { accountId, follows: [followOf("cf_new")], fills }
    yield* Layer.build(keepCopies(source))
    assert.deepStrictEqual(yield* settled(2), ["fl_new_00002", "fl_new_00001"])
    assert.isNull(yield* store.find(accountId, "cf_old"))
    assert.strictEqual((yield* store.find("acct_b", "cf_other"))?.id, "cf_other")
  }).pipe(Effect.provide(MemoryFollows.layer))
)

it.live("repeats a write that an unavailable store refused", () =>
  Effect.gen(function* () {
    const store = yield* FollowStore
    let refusals = 1
    const flaky = FollowStore.of({
      ...store,
      recordFill: (given) =>
        Effect.suspend(() =>
          refusals-- > 0 ? Effect.fail(new FollowStoreUnavailable({ cause: "down" })) : store.recordFill(given)
        )
    })
    const source = { accountId, follows: [followOf("cf_new")], fills: Stream.fromIterable([fill(1), fill(2)]) }
    yield* Layer.build(keepCopies(source)).pipe(Effect.provideService(FollowStore, flaky))
    assert.deepStrictEqual(yield* settled(2), ["fl_new_00002", "fl_new_00001"])
  }).pipe(Effect.provide(MemoryFollows.layer))
)

it.live("receives every fill of a journal in another thread, including fills written earlier", () =>
  Effect.gen(function* () {
    const journal = makeCopyJournal([followOf("cf_new")])
    const { port1, port2 } = new MessageChannel()
    journal.write(fill(1))
    journal.listen((each) => port1.postMessage(each))
    journal.write(fill(2))
    const received = yield* fillsFrom(port2)
    journal.write(fill(3))
    const fills = yield* received.pipe(Stream.take(3), Stream.runCollect, Effect.timeout("5 seconds"))
    assert.deepStrictEqual(Array.from(fills), [fill(1), fill(2), fill(3)])
    port1.close()
  })
)
