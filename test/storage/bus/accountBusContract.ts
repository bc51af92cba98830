/** Behaviour of every bus of account writes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, type Layer, Stream } from "effect"
import { ACCOUNT_BOUNDS, AccountBus, type AccountBusBounds } from "../../../src/storage/bus/AccountBus.ts"

const entry = (after: number, place: number, size = 1) => ({
  after,
  place,
  body: new Uint8Array(size).fill(place % 256)
})

/** The first entries after a place. */
const entries = (bus: AccountBus["Service"], after: number, count: number) =>
  bus.follow("a", after).pipe(
    Stream.flatMap((page) => Stream.fromIterable(page.entries)),
    Stream.take(count),
    Stream.runCollect,
    Effect.map((found) => found.map(({ body, isAfterGap, place }) => [place, isAfterGap, body.length]))
  )

const lease = (owner: string, revision: number, ...bytes: ReadonlyArray<number>) => ({
  owner,
  revision,
  accounts: Uint8Array.from(bytes)
})

const listed = (bus: AccountBus["Service"], known: ReadonlyArray<readonly [string, number]> = []) =>
  Effect.map(bus.leases("a", new Map(known)), (leases) =>
    Array.from(leases, ([owner, { accounts, revision }]) => [owner, revision, accounts && Array.from(accounts)])
  )

const onBus = <E>(
  busOf: (bounds: AccountBusBounds) => Layer.Layer<AccountBus>,
  body: (bus: AccountBus["Service"]) => Effect.Effect<void, E>,
  bounds: Partial<AccountBusBounds> = {}
) => AccountBus.use(body).pipe(Effect.provide(busOf({ ...ACCOUNT_BOUNDS, ...bounds })))

/** Tests of a bus on an empty server. `pass` lets the time of leases pass. */
export const accountBusContract = (
  name: string,
  busOf: (bounds: AccountBusBounds) => Layer.Layer<AccountBus>,
  pass: (ms: number) => Effect.Effect<void>
) =>
  describe(`${name}`, () => {
    it.effect("gives a reader the entries after its place, refuses a writer that was overtaken, and marks gaps", () =>
      onBus(
        busOf,
        Effect.fnUntraced(function* (bus) {
          assert.isNull(yield* bus.newest("a"))
          yield* bus.append("a", entry(0, 64))
          yield* bus.append("a", entry(64, 65))
          assert.deepInclude(yield* Effect.flip(bus.append("a", entry(64, 66))), { _tag: "AppendRefused", newest: 65 })
          const reading = yield* Effect.forkChild(entries(bus, 64, 3), { startImmediately: true })
          yield* bus.append("a", entry(65, 128))
          yield* bus.append("a", entry(130, 192))
          assert.deepStrictEqual(yield* Fiber.join(reading), [
            [65, false, 1],
            [128, false, 1],
            [192, true, 1]
          ])
          assert.strictEqual(yield* bus.newest("a"), 192)
          assert.isNull(yield* bus.newest("b"))
        })
      )
    )

    it.effect("removes the oldest entries beyond its bytes, and never the newest", () =>
      onBus(
        busOf,
        Effect.fnUntraced(function* (bus) {
          yield* Effect.forEach([1, 2, 3, 4, 5], (place) => bus.append("a", entry(place - 1, place, 40)))
          assert.deepStrictEqual(yield* entries(bus, 2, 2), [
            [4, true, 40],
            [5, false, 40]
          ])
          yield* bus.append("a", entry(5, 6, 200))
          assert.deepStrictEqual(yield* entries(bus, 5, 1), [[6, false, 200]])
          yield* bus.append("a", entry(6, 7, 40))
          assert.deepStrictEqual(yield* entries(bus, 3, 1), [[7, true, 40]])
        }),
        { mostBytes: 100 }
      )
    )

    it.effect("lists the last lease of each owner, without accounts that are known", () =>
      onBus(
        busOf,
        Effect.fnUntraced(function* (bus) {
          assert.deepStrictEqual(yield* listed(bus), [])
          yield* bus.lease("a", lease("one", 1, 7, 0, 255))
          yield* bus.lease("a", lease("two", 4))
          yield* bus.lease("b", lease("three", 1, 1))
          yield* bus.lease("a", lease("one", 2, 8))
          assert.sameDeepMembers(yield* listed(bus), [
            ["one", 2, [8]],
            ["two", 4, []]
          ])
          assert.sameDeepMembers(
            yield* listed(bus, [
              ["one", 1],
              ["two", 4]
            ]),
            [
              ["one", 2, [8]],
              ["two", 4, null]
            ]
          )
          yield* bus.release("a", "one")
          assert.deepStrictEqual(yield* listed(bus), [["two", 4, []]])
        })
      )
    )

    it.effect("ends a lease that is not renewed, and does not renew an ended one or another revision", () =>
      onBus(
        busOf,
        Effect.fnUntraced(function* (bus) {
          yield* bus.lease("a", lease("one", 1, 1))
          yield* bus.lease("a", lease("two", 1, 2))
          yield* pass(40_000)
          assert.isTrue(yield* bus.renew("a", "one", 1))
          assert.isFalse(yield* bus.renew("a", "two", 2))
          yield* pass(40_000)
          assert.deepStrictEqual(yield* listed(bus), [["one", 1, [1]]])
          assert.isFalse(yield* bus.renew("a", "two", 1))
          yield* pass(60_000)
          assert.deepStrictEqual(yield* listed(bus), [])
          assert.isFalse(yield* bus.renew("a", "one", 1))
        }),
        { leaseMs: 60_000 }
      )
    )
  })
