/** State that every process of a service shares: what one process was asked counts at the others. */
import { assert, type Vitest } from "@effect/vitest"
import { Effect } from "effect"
import { WebSocket } from "ws"
import { ask, at } from "../../scripts/chaos/repair/answers.ts"
import { walletBatchPolicy } from "../../src/access/WalletBatch.ts"
import { budgets } from "../../src/api/schemas/Budget.ts"
import { nowhere } from "../api/walkRequests.ts"
import { type Walked, Worlds } from "./worlds.ts"

const MARKET = "/api/v1/market/realtime/session"
const GROUPS = "/api/v1/tracker/groups"
const WALLETS = "/api/v1/tracker/wallets"
const TRACKER = "/api/v1/tracker/realtime/session"

interface Frame {
  readonly [name: string]: unknown
}

/** A request to one process, with a key by its letter. */
const callAt = ({ secretOf }: Walked, baseUrl: string, letter: string, path: string, init: RequestInit = {}) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${secretOf(letter)}`, "content-type": "application/json", ...init.headers }
    const response = await fetch(baseUrl + path, { ...init, headers })
    const text = await response.text()
    return { status: response.status, content: (text === "" ? null : JSON.parse(text)) as unknown }
  })

/** The tracker socket carries tracked wallets only. */
const track = (cluster: Walked, baseUrl: string) =>
  callAt(cluster, baseUrl, "a", WALLETS, { method: "POST", body: JSON.stringify({ wallet: nowhere }) })

/** The address of a new connection to a process, with a ticket from another process. */
const socketAt = (cluster: Walked, issuer: string, redeemer: string, path: string) =>
  Effect.map(Effect.andThen(track(cluster, issuer), callAt(cluster, issuer, "a", path)), ({ content, status }) => {
    assert.strictEqual(status, 200, JSON.stringify(content))
    const url = new URL(String(at(content, "wsUrl")))
    return `${redeemer.replace("http", "ws")}${url.pathname}${url.search}`
  })

/** Reads a connection until the wanted frame, or until it closes, with the code. */
const readUntil = (
  url: string,
  opened: (send: (message: object) => void) => void,
  wanted: (frame: Frame, send: (message: object) => void) => boolean
) =>
  Effect.callback<Frame | number>((resume) => {
    const ws = new WebSocket(url, { perMessageDeflate: false })
    const send = (message: object) => ws.send(JSON.stringify(message))
    ws.on("open", () => opened(send))
    ws.on("error", () => undefined)
    ws.on("close", (code) => resume(Effect.succeed(code)))
    ws.on("message", (data) => {
      const frame = JSON.parse(String(data)) as Frame
      if (wanted(frame, send)) {
        resume(Effect.succeed(frame))
        ws.terminate()
      }
    })
    return Effect.sync(() => ws.terminate())
  })

const isSnapshot = ({ type }: Frame) => type === "snapshot"

/** Two processes that answer requests, and the other two that do. */
const four = Effect.gen(function* () {
  const { cluster, parts } = yield* Worlds
  const [first = "", second = "", live = "", keeper = ""] = parts
    .filter(({ role }) => role !== "ingest")
    .map(({ baseUrl }) => baseUrl)
  return { cluster, first, second, live, keeper }
})

/** The tests, on the service of `Worlds`. */
export const stateTests = (it: Vitest.MethodsNonLive<Worlds>): void => {
  for (const [name, path] of [
    ["market", MARKET],
    ["tracker", TRACKER]
  ] as const) {
    it.effect(`a ticket of the ${name} socket opens one connection, at any process`, () =>
      Effect.gen(function* () {
        const { cluster, first, keeper, live } = yield* four
        const url = yield* socketAt(cluster, first, live, path)
        const begun = yield* readUntil(
          url,
          () => undefined,
          () => true
        )
        assert.isObject(begun)
        assert.strictEqual(
          yield* readUntil(
            url.replace(live.slice(4), keeper.slice(4)),
            () => undefined,
            () => false
          ),
          4401
        )
      })
    )
  }

  it.effect("a subscription of the market socket has a gap at another process", () =>
    Effect.gen(function* () {
      const { cluster, first, keeper, live } = yield* four
      const channel = { op: "subscribe", id: "t", channel: "trades", mint: cluster.offer.mint }
      let streamId = ""
      const isFirst = (frame: Frame, send: (message: object) => void) => {
        if (frame["type"] === "open") {
          streamId = String(frame["streamId"])
          send(channel)
        }
        return isSnapshot(frame)
      }
      const begun = yield* readUntil(yield* socketAt(cluster, first, live, MARKET), () => undefined, isFirst)
      const resumed = yield* readUntil(
        yield* socketAt(cluster, first, keeper, MARKET),
        () => undefined,
        (frame, send) => {
          if (frame["type"] === "open") {
            send({ ...channel, resume: { streamId, seq: at(begun, "seq") } })
          }
          return isSnapshot(frame)
        }
      )
      assert.deepInclude(resumed, { type: "snapshot", resumed: false })
      assert.strictEqual(at(resumed, "gap", "reason"), "unknown_stream")
    })
  )

  it.effect("the tracker socket has a gap at another process", () =>
    Effect.gen(function* () {
      const { cluster, first, keeper, live } = yield* four
      const begun = yield* readUntil(yield* socketAt(cluster, first, live, TRACKER), () => undefined, isSnapshot)
      const resume = { op: "resume", streamId: at(begun, "streamId"), seq: at(begun, "seq") }
      const resumed = yield* readUntil(
        yield* socketAt(cluster, first, keeper, TRACKER),
        (send) => send(resume),
        (frame) => isSnapshot(frame) && frame["reason"] === "resume"
      )
      assert.deepInclude(resumed, { resumed: false })
      assert.strictEqual(at(resumed, "gap", "reason"), "unknown_stream")
    })
  )

  it.effect("a request with an idempotency key is made once, whichever process it reaches", () =>
    Effect.gen(function* () {
      const { cluster, first, second } = yield* four
      const init = {
        method: "POST",
        body: JSON.stringify({ name: "At both" }),
        headers: { "idempotency-key": "at-two-processes" }
      }
      const made = yield* Effect.forEach([first, second, first], (baseUrl) =>
        callAt(cluster, baseUrl, "a", GROUPS, init)
      )
      const ids = made.map(({ content, status }) => [status, at(content, "data", "groupId") ?? at(content, "groupId")])
      assert.isString(ids[0]?.[1])
      assert.deepStrictEqual(
        ids,
        Array.from({ length: 3 }, () => ids[0])
      )
    })
  )

  it.effect("a group and a wallet made at one process are at every other at once", () =>
    Effect.gen(function* () {
      const { cluster, first, keeper, live, second } = yield* four
      const call = (baseUrl: string, method: string, path: string, body?: object) =>
        callAt(cluster, baseUrl, "w", path, { method, body: body === undefined ? null : JSON.stringify(body) })
      const made = yield* call(first, "POST", GROUPS, { name: "Everywhere" })
      const own = `${GROUPS}/${String(at(made.content, "data", "groupId") ?? at(made.content, "groupId"))}`
      assert.strictEqual((yield* call(second, "PATCH", own, { name: "Elsewhere" })).status, 200)
      assert.strictEqual((yield* call(keeper, "DELETE", own)).status, 200)
      assert.strictEqual((yield* call(first, "DELETE", own)).status, 404)
      yield* call(first, "POST", WALLETS, { wallet: nowhere })
      for (const baseUrl of [second, live, keeper]) {
        assert.include(JSON.stringify((yield* call(baseUrl, "GET", WALLETS)).content), nowhere)
      }
    })
  )

  it.effect("wallet reads of a key start as often as the key allows, counted over all processes", () =>
    Effect.gen(function* () {
      const { cluster, first, keeper, live, second } = yield* four
      const path = `/api/v1/wallets/${cluster.offer.trader}/positions`
      const begunMs = performance.now()
      const statuses: Array<number> = []
      for (let n = 0; n < walletBatchPolicy.starts + 8; n++) {
        const answer = yield* callAt(cluster, [first, second, live, keeper][n % 4] ?? "", "f", path)
        statuses.push(answer.status)
      }
      assert.isBelow(performance.now() - begunMs, walletBatchPolicy.windowMs)
      assert.strictEqual(statuses.filter((status) => status === 200).length, walletBatchPolicy.starts)
      assert.deepStrictEqual(new Set(statuses.slice(walletBatchPolicy.starts)), new Set([429]))
    })
  )

  it.effect("a budget is spent once, over all processes", () =>
    Effect.gen(function* () {
      const { cluster, first, keeper, live, second } = yield* four
      const answers = yield* Effect.forEach(
        Array.from({ length: budgets.rest.limit + 20 }, (_, n) => [first, second, live, keeper][n % 4] ?? ""),
        (baseUrl) => callAt(cluster, baseUrl, "b", "/api/v1/alerts"),
        { concurrency: 8 }
      )
      const admitted = answers.filter(({ status }) => status === 200)
      assert.strictEqual(admitted.length, budgets.rest.limit)
      assert.strictEqual(answers.length - admitted.length, answers.filter(({ status }) => status === 429).length)
      assert.strictEqual(
        (yield* Effect.promise(() => ask({ baseUrl: first, secret: "" }, { path: "/livez" }))).status,
        200
      )
    })
  )
}
