/** Every operation of the document of a running service, and every answer that it declares. */
import { assert, describe, it, layer, type Vitest } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import { readFileSync } from "node:fs"
import { Listening } from "../../src/http/NodeServer.ts"
import { exchange } from "../support/http.ts"
import { type Answered, type Document, judgeOf, type Operation, operationsOf } from "../support/openapi.ts"
import { setSecond } from "../support/reads.ts"
import { isAvailable } from "../support/TestDatabase.ts"
import { record } from "./recording.ts"
import { LAST_ID, type Request, type Way, unreachable, type World } from "./walkRequests.ts"
import { valid, waysTo } from "./walkTable.ts"
import { ReceivedCall, bare, broken, limiterless, NOW, simulated, taped, toys } from "./walkWorlds.ts"

const document: Document = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))
const operations = operationsOf(document)
const judge = judgeOf(document)

const urlOf = ({ path }: Operation, { params = {}, query = {} }: Request) => {
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(params[name] ?? "x"))
  const search = new URLSearchParams(query).toString()
  return search === "" ? filled : `${filled}?${search}`
}

const send = Effect.fnUntraced(function* (operation: Operation, request: Request, key: string | null = "a") {
  const { secretOf, url } = yield* ReceivedCall
  const headers = new Headers(key === null ? {} : { authorization: `Bearer ${secretOf(key)}` })
  if (request.body !== undefined || operation.hasBody) {
    headers.set("content-type", "application/json")
  }
  for (const [name, value] of Object.entries(request.headers ?? {})) {
    headers.set(name, value)
  }
  const body = request.body === undefined ? null : JSON.stringify(request.body)
  return yield* Effect.promise(async (): Promise<Answered> => {
    const response = await fetch(url + urlOf(operation, request), { method: operation.method, headers, body })
    return { status: response.status, headers: response.headers, text: await response.text() }
  })
})

/** An answer that came over a socket as text. */
const parsed = (text: string): Answered => {
  const [head = "", body = ""] = text.split("\r\n\r\n")
  const [first = "", ...lines] = head.split("\r\n")
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(": ")[0] ?? "", line.split(": ")[1] ?? ""])
  )
  return { status: Number(first.split(" ")[1]), headers, text: body }
}

const cursorIn = (text: string): string => /"nextCursor":\s*"([^"]+)"/u.exec(text)?.[1] ?? ""

const idIn = (text: string): string => /"(?:id|groupId)":\s*"([^"]+)"/u.exec(text)?.[1] ?? ""

/** The request, once everything that has to come before it was asked. */
const prepared = Effect.fnUntraced(function* ({ before = [], key = "a" }: Way, request: Request) {
  let id = ""
  for (const step of before) {
    const operation = operations.find((each) => each.id === step.operation)
    if (operation !== undefined) {
      const answer = yield* send(operation, step.request, key)
      judge(operation, answer)
      id = idIn(answer.text)
    }
  }
  return request.params?.["id"] === LAST_ID ? { ...request, params: { id } } : request
})

/** The answer at the end of a way. */
const walk = Effect.fnUntraced(function* (operation: Operation, way: Way, request: Request) {
  if (way.raw !== undefined) {
    const { url } = yield* ReceivedCall
    const listening = { url, port: Number(new URL(url).port) }
    return parsed(yield* Effect.provideService(exchange(way.raw), Listening, listening))
  }
  if (way.staleCursorAfter !== undefined) {
    const first = yield* send(operation, request)
    judge(operation, first)
    yield* setSecond(NOW + way.staleCursorAfter)
    const old = yield* send(operation, { ...request, query: { ...request.query, cursor: cursorIn(first.text) } })
    yield* setSecond(NOW)
    return old
  }
  return yield* send(operation, yield* prepared(way, request), way.key === undefined ? "a" : way.key)
})

const patience = Array.from({ length: 150 })

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
  layer(built, { excludeTestServices, timeout: "60 seconds" })(`a service: ${world}`, (it) => {
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

  it("knows no operation that there is not", () => {
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
    const exit = operations.find(({ id }) => id === "spot.exitCheck")
    it.effect("spot.exitCheck answers 200 of a wallet", () =>
      Effect.gen(function* () {
        const { offer } = yield* ReceivedCall
        assert.isDefined(exit)
        assert.isNotNull(offer)
        const answer = yield* send(exit, { body: { wallet: offer.trader, limit: 3 } })
        judge(exit, answer)
        assert.match(answer.text, /"counts":/u)
      })
    )
  })
})
