import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, type Scope } from "effect"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { at, clockOf, holding, OWNER, readFeed, until } from "./accounts.ts"

/** The scene for every feed: a chain with these accounts at slot 100. */
export const contractAccounts: ReadonlyArray<OnChainAccount> = [
  holding(at(1), [1, 2, 3, 4]),
  holding(at(2), [1, 9, 3, 4]),
  holding(at(3), [1, 2, 3]),
  { ...holding(at(4), [1, 2, 3, 4]), owner: at(200) },
  clockOf(7, 1_700_000_000)
]

/** The behaviour that every feed must have, whatever its source. */
export const chainFeedContract = <E>(
  name: string,
  feedOf: (accounts: ReadonlyArray<OnChainAccount>) => Effect.Effect<Layer.Layer<ChainFeed, E>, never, Scope.Scope>
) => {
  const withFeed = <A, E2, R>(body: (feed: ChainFeed["Service"]) => Effect.Effect<A, E2, R>) =>
    Effect.gen(function* () {
      const layer = yield* feedOf(contractAccounts)
      return yield* ChainFeed.use(body).pipe(Effect.provide(layer))
    })

  describe(`a feed as the port promises it: ${name}`, () => {
    it.live("emits the state of watched accounts, and null for accounts that do not exist", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          const reader = yield* readFeed(feed)
          yield* feed.watch([at(1), at(99)])
          yield* until("both are emitted", () => reader.known.size === 2)

          assert.strictEqual(reader.snapshots.length, 1)
          assert.deepStrictEqual(reader.known.get(at(1)), holding(at(1), [1, 2, 3, 4]))
          assert.isNull(reader.known.get(at(99)))
          assert.strictEqual(reader.snapshots[0]?.snapshot.slot, 100)
        })
      )
    )

    it.live("emits nothing again when an account is watched twice", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          const reader = yield* readFeed(feed)
          yield* feed.watch([at(1)])
          yield* until("the first is emitted", () => reader.known.has(at(1)))
          yield* feed.watch([at(1), at(2)])
          yield* until("the second is emitted", () => reader.known.has(at(2)))

          assert.deepStrictEqual(
            reader.snapshots.map(({ snapshot }) => Array.from(snapshot.accounts.keys())),
            [[at(1)], [at(2)]]
          )
        })
      )
    )

    it.live("emits the state again when an account is watched after it was unwatched", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          const reader = yield* readFeed(feed)
          yield* feed.watch([at(1)])
          yield* until("it is emitted", () => reader.snapshots.length === 1)
          yield* feed.unwatch([at(1)])
          yield* feed.watch([at(1)])
          yield* until("it is emitted again", () => reader.snapshots.length === 2)

          assert.deepStrictEqual(reader.bytes(at(1)), [1, 2, 3, 4])
        })
      )
    )

    it.live("finds a program's accounts by size and by bytes", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          const find = (dataSize: number | undefined, matches: ReadonlyArray<[number, ReadonlyArray<number>]>) =>
            feed
              .accountsOf({
                programId: OWNER,
                dataSize,
                matches: matches.map(([offset, bytes]) => ({ offset, bytes: Uint8Array.from(bytes) }))
              })
              .pipe(Effect.map(({ accounts }) => Array.from(accounts.keys()).toSorted()))

          assert.deepStrictEqual(yield* find(undefined, []), [at(1), at(2), at(3)].toSorted())
          assert.deepStrictEqual(yield* find(4, []), [at(1), at(2)].toSorted())
          assert.deepStrictEqual(yield* find(4, [[1, [2, 3]]]), [at(1)])
          assert.deepStrictEqual(
            yield* find(undefined, [
              [0, [1]],
              [3, [4]]
            ]),
            [at(1), at(2)].toSorted()
          )
          assert.deepStrictEqual(yield* find(undefined, [[2, [3, 4, 5]]]), [])
        })
      )
    )

    it.live("knows the chain's own time", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          yield* until("the time is known", () => feed.clock().epoch > 0)

          assert.deepStrictEqual(feed.clock(), { slot: 100, epoch: 7, unixTimestamp: 1_700_000_000 })
        })
      )
    )

    it.live("is live, or a recording, once everything is emitted", () =>
      withFeed(
        Effect.fnUntraced(function* (feed) {
          const reader = yield* readFeed(feed)
          yield* feed.watch([at(1)])
          yield* until("it is emitted", () => reader.known.has(at(1)))

          assert.include(["live", "recorded"], feed.freshness().state)
          assert.strictEqual(feed.freshness().slot, 100)
          assert.isNotNull(feed.freshness().heardAtMs)
        })
      )
    )
  })
}
