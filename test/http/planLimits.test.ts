/** Limits of a key's plan over real sockets, while another process changes the plan. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, ConfigProvider, Context, Effect, Layer, Redacted, Schedule } from "effect"
import { KeyStore } from "../../src/access/KeyStore.ts"
import * as KeyStorePg from "../../src/access/KeyStorePg.ts"
import { SOL } from "../../src/domain/Address.ts"
import { ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { COMMAND_LINE } from "../../src/api/schemas/KeyAudit.ts"
import { DEFAULT_PLAN, type Plan } from "../../src/api/schemas/Plan.ts"
import { alertOn } from "../api/walkRequests.ts"
import { call } from "../support/http.ts"
import { closing, connectTo, heard, liveService } from "../support/live.ts"
import { engineOver, makeMarket, TOKEN } from "../support/market.ts"
import { openStream, until } from "../support/sse.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import { walletOf } from "../wallets/tracker/liveScene.ts"

const keyStoreAt = (address: TestDatabase.TestAddress) =>
  KeyStorePg.layer.pipe(
    Layer.provide(TestDatabase.connect(address)),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
    Layer.orDie
  )

const stream = `/api/v1/spot/quote/stream?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000&durationSeconds=60`

/** A service, a key of a plan with these limits, and a second process that changes the plan. */
const scene = Effect.fnUntraced(function* (limits: Partial<Plan>) {
  const address = yield* TestDatabase.create
  const elsewhere = KeyStore.of(Context.get(yield* Layer.build(keyStoreAt(address)), KeyStore))
  const plan = { ...DEFAULT_PLAN, name: "team", ...limits }
  yield* elsewhere.setPlan(plan, COMMAND_LINE)
  const { secret } = yield* elsewhere.issue(
    { accountId: "ada", name: "bot", scopes: ApiScope.literals, ipPolicy: null, plan: "team" },
    COMMAND_LINE
  )
  const market = makeMarket()
  market.fresh = { ...market.fresh, heardAtMs: yield* Clock.currentTimeMillis }
  const service = yield* Layer.build(liveService({ keyStore: keyStoreAt(address), engine: engineOver(market) }))

  const headers = { authorization: `Bearer ${Redacted.value(secret)}` }
  const send = (path: string, body?: unknown) =>
    call(path, {
      key: null,
      method: body === undefined ? "GET" : "POST",
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      body: body === undefined ? null : JSON.stringify(body)
    }).pipe(Effect.provideContext(service))
  yield* send("/api/v1/account/key")

  /** Changes the plan in the other process, and waits until the service has heard of it. */
  const change = Effect.fnUntraced(function* (limits: Partial<Plan>) {
    const changed = { ...plan, ...limits }
    yield* elsewhere.setPlan(changed, COMMAND_LINE)
    const isHeard = Effect.map(send("/api/v1/account/key"), (answer) => answer.text.includes(JSON.stringify(changed)))
    yield* Effect.repeat(isHeard, { until: (heardOf) => heardOf, schedule: Schedule.spaced("10 millis") })
  })
  return { change, headers, send, service }
})

/** Status and code of an answer. */
const shortOf = (answer: { readonly status: number; readonly json: (path: string) => unknown }) =>
  answer.status < 400 ? String(answer.status) : `${answer.status} ${String(answer.json("error.code"))}`

describe.runIf(TestDatabase.isAvailable)("the plan of a key", { concurrent: true }, () => {
  it.live("limits tracked wallets, anew at once after a change elsewhere", () =>
    Effect.gen(function* () {
      const { change, send } = yield* scene({ trackedWallets: 1 })
      const track = (at: number) => Effect.map(send("/api/v1/tracker/wallets", { wallet: walletOf(at) }), shortOf)
      assert.deepStrictEqual([yield* track(1), yield* track(2)], ["201", "409 limit_reached"])
      yield* change({ trackedWallets: 2 })
      assert.deepStrictEqual([yield* track(2), yield* track(3)], ["201", "409 limit_reached"])
      // Those that are tracked stay, and no more come.
      yield* change({ trackedWallets: 1 })
      assert.strictEqual(yield* track(3), "409 limit_reached")
      assert.strictEqual(shortOf(yield* send("/api/v1/tracker/wallets")), "200")
    })
  )

  it.live("limits alerts, anew at once after a change elsewhere", () =>
    Effect.gen(function* () {
      const { change, send } = yield* scene({ alerts: 1 })
      const set = Effect.map(send("/api/v1/alerts", alertOn(TOKEN)), shortOf)
      assert.deepStrictEqual([yield* set, yield* set], ["201", "409 limit_reached"])
      yield* change({ alerts: 2 })
      assert.deepStrictEqual([yield* set, yield* set], ["201", "409 limit_reached"])
      yield* change({ alerts: 0 })
      assert.strictEqual(yield* set, "409 limit_reached")
    })
  )

  it.live("limits open quote streams, anew at once after a change elsewhere", () =>
    Effect.gen(function* () {
      const { change, headers, service } = yield* scene({ streams: 1 })
      const open = Effect.provideContext(openStream(stream, headers), service)
      const first = yield* open
      assert.strictEqual(first.status, 200)
      const refused = yield* open
      assert.strictEqual(refused.status, 429)
      yield* until("the reason", refused.ended)
      assert.include(refused.text(), "1 streams open at a time")
      yield* change({ streams: 2 })
      const second = yield* open
      assert.deepStrictEqual([second.status, (yield* open).status], [200, 429])
      yield* change({ streams: 0 })
      assert.isFalse(first.ended() || second.ended())
      first.cut()
      second.cut()
    })
  )

  it.live("limits live connections, of which the oldest is replaced, anew at once after a change elsewhere", () =>
    Effect.gen(function* () {
      const { change, send } = yield* scene({ sockets: 1 })
      yield* send("/api/v1/tracker/wallets", { wallet: walletOf(1) })
      const open = Effect.gen(function* () {
        const session = yield* send("/api/v1/tracker/realtime/session")
        const client = yield* connectTo(String(session.json("wsUrl")))
        yield* heard(client, 1)
        return client
      })
      const first = yield* open
      const second = yield* open
      assert.strictEqual(yield* closing(first), 4409)
      yield* change({ sockets: 2 })
      const third = yield* open
      assert.isNull(second.code())
      const fourth = yield* open
      assert.strictEqual(yield* closing(second), 4409)
      yield* change({ sockets: 1 })
      yield* open
      assert.deepStrictEqual([yield* closing(third), yield* closing(fourth)], [4409, 4409])
    })
  )
})
