import { assert, layer } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { UsageStore, type UsageQuery } from "../../../src/access/usage/UsageStore.ts"

const days = { from: "1970-01-01", to: "2099-12-31" }

const read = (account: string, more: Partial<UsageQuery> = {}) =>
  Effect.flatMap(UsageStore, (usage) =>
    usage.page({
      ...days,
      caller: { id: `${account}_1`, accountId: account },
      isAccount: false,
      limit: 10,
      after: null,
      ...more
    })
  )
const ask = (account: string, key: string, operation: string, isError = false) =>
  Effect.map(UsageStore, (usage) =>
    usage.request({
      caller: { id: `${account}_${key}`, accountId: account },
      operation,
      units: isError ? 0 : 3,
      isError,
      bytes: 7
    })
  )

/** The contract of the port. Each test has its own credentials. */
export const usageStoreContract = <E>(name: string, store: Layer.Layer<UsageStore, E>) =>
  layer(store)(name, (it) => {
    it.effect("answers what was just counted, added up", () =>
      Effect.gen(function* () {
        yield* ask("sums", "1", "spot.quote")
        assert.strictEqual((yield* read("sums")).rows[0]?.requests, 1)
        yield* ask("sums", "1", "spot.quote", true)
        const { next, rows } = yield* read("sums")
        assert.isNull(next)
        assert.deepStrictEqual(
          rows.map(({ bytes, errors, operation, requests, streamMs, units }) => [
            operation,
            requests,
            units,
            errors,
            bytes,
            streamMs
          ]),
          [["spot.quote", 2, 3, 1, 14, 0]]
        )
      })
    )

    it.effect("gives a key its own rows, and an account the rows of all its credentials", () =>
      Effect.gen(function* () {
        yield* ask("both", "1", "spot.quote")
        yield* ask("both", "2", "spot.quote")
        yield* ask("others", "1", "spot.quote")
        assert.deepStrictEqual(
          (yield* read("both")).rows.map(({ keyId }) => keyId),
          ["both_1"]
        )
        assert.deepStrictEqual(
          (yield* read("both", { isAccount: true })).rows.map(({ keyId }) => keyId),
          ["both_1", "both_2"]
        )
      })
    )

    it.effect("is read in pages, in one order, and within days", () =>
      Effect.gen(function* () {
        for (const operation of ["c", "a", "b"]) {
          yield* ask("pages", "1", operation)
        }
        const first = yield* read("pages", { limit: 2 })
        assert.deepStrictEqual(
          first.rows.map(({ operation }) => operation),
          ["a", "b"]
        )
        const second = yield* read("pages", { limit: 2, after: first.next })
        assert.deepStrictEqual(
          second.rows.map(({ operation }) => operation),
          ["c"]
        )
        assert.isNull(second.next)
        assert.deepStrictEqual((yield* read("pages", { from: "2098-01-01" })).rows, [])
        const day = first.rows[0]?.day ?? ""
        assert.strictEqual((yield* read("pages", { from: day, to: day })).rows.length, 3)
      })
    )
  })
