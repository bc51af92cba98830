/** Every operation of the document of a running service, and every answer that it declares. */
import { assert, describe, it, layer, type Vitest } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import type { Operation } from "../support/openapi.ts"
import { isAvailable } from "../support/TestDatabase.ts"
import { record } from "./recording.ts"
import { type Way, unreachable, type World } from "./walkRequests.ts"
import { valid, waysTo } from "./walkTable.ts"
import { document, idIn, judge, operations, send, walk } from "./walking.ts"
import { ReceivedCall, bare, broken, limiterless, simulated, taped, toys } from "./walkWorlds.ts"

const patience = Array.from({ length: 600 })

/** Walks until the answer is the one that is looked for: a simulated market loads what it is asked for. Every answer is judged. */
const arrive = Effect.fnUntraced(function* (operation: Operation, status: number, way: Way) {
  const { offer } = yield* ReceivedCall
  const make = valid[operation.id]
  const request = status === 200 && offer !== null && make !== undefined ? make(offer) : way.request
  let answer = yield* walk(operation, way, request)
  judge(operation, answer)
  for (const _ of way.world === "simulated" ? patience : []) {
    if (answer.status === status || answer.status !== 503) {
      break
    }
    yield* Effect.sleep("100 millis")
    answer = yield* walk(operation, way, request)
    judge(operation, answer)
  }
  assert.strictEqual(answer.status, status, answer.text.slice(0, 500))
  record(operation, request, answer, idIn(answer.text))
})

const walkAll = <E>(
  world: World,
  built: Layer.Layer<ReceivedCall, E>,
  excludeTestServices = false,
  more: (it: Vitest.MethodsNonLive<ReceivedCall>) => void = () => {}
) =>
  layer(built, { excludeTestServices, timeout: "5 minutes" })(`a service: ${world}`, (it) => {
    for (const operation of operations) {
      for (const [status, way] of waysTo(operation)) {
        if (way.world === world) {
          it.effect(`${operation.id} answers ${status}`, () => arrive(operation, status, way))
        }
      }
    }

    more(it)

    it.effect("serves the document that is walked", () =>
      Effect.gen(function* () {
        const { url } = yield* ReceivedCall
        const served: unknown = yield* Effect.promise(() =>
          fetch(`${url}/openapi.json`).then((answer) => answer.json())
        )
        assert.deepStrictEqual(served, document)
      })
    )
  })

describe("the walk", () => {
  it.each(operations)("has a way to every answer of $id", (operation) => {
    const ways = new Set([...waysTo(operation).keys(), ...(unreachable[operation.id] ?? [])])
    assert.deepStrictEqual(
      operation.statuses.filter((status) => !ways.has(status)),
      [],
      `no way in test/api/walkTable.ts to these answers of ${operation.id}`
    )
  })

  it("names only operations that exist", () => {
    const ids = new Set(operations.map(({ id }) => id))
    assert.deepStrictEqual(
      Object.keys(valid).filter((id) => !ids.has(id)),
      []
    )
  })
})

walkAll("bare", bare)
walkAll("without a limiter", limiterless)
walkAll("broken", broken)
walkAll("toy pools", toys)
walkAll("tape", taped)

describe.runIf(isAvailable)("of a whole service", () => {
  walkAll("simulated", simulated, true, (it) => {
    const usage = operations.find(({ id }) => id === "account.usage")
    it.effect("account.usage answers 200 as text/csv", () =>
      Effect.gen(function* () {
        assert.isDefined(usage)
        const request = { query: { from: "2026-01-01", format: "csv" } }
        const answer = yield* send(usage, request)
        judge(usage, answer)
        assert.match(answer.text, /^day,/u)
        record({ ...usage, id: "account.usage csv" }, request, answer, "")
      })
    )
    for (const id of ["wallets.trades", "wallets.transfers", "wallets.lots"]) {
      const list = operations.find((each) => each.id === id)
      it.effect(`${id} answers 200 as text/csv`, () =>
        Effect.gen(function* () {
          const { offer } = yield* ReceivedCall
          assert.isDefined(list)
          assert.isNotNull(offer)
          const request = { params: { wallet: offer.trader }, query: { format: "csv" } }
          const answer = yield* send(list, request)
          judge(list, answer)
          assert.match(answer.text, /^(?:signature|mint),/u)
          record({ ...list, id: `${id} csv` }, request, answer, "")
        })
      )
    }
    const exit = operations.find(({ id }) => id === "spot.exitCheck")
    it.effect("spot.exitCheck answers 200 of a wallet", () =>
      Effect.gen(function* () {
        const { offer } = yield* ReceivedCall
        assert.isDefined(exit)
        assert.isNotNull(offer)
        const ask = send(exit, { body: { wallet: offer.trader, limit: 3 } })
        let answer = yield* ask
        judge(exit, answer)
        for (const _ of patience) {
          if (answer.status !== 503) {
            break
          }
          yield* Effect.sleep("100 millis")
          answer = yield* ask
          judge(exit, answer)
        }
        assert.match(answer.text, /"counts":/u)
      })
    )
  })
})
