import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { LimiterUnavailable } from "../../../src/api/schemas/Budget.ts"
import { TicketsUnavailable } from "../../../src/live/tickets.ts"
import { Tickets } from "../../../src/wallets/tracker/Tickets.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { addressOf, START } from "../../callouts/callouts.ts"
import { call } from "../../support/http.ts"
import { memoryTracker } from "../../support/tracker.ts"
import { assertDetail, assertRefused, later, serving, SESSION, track } from "./trackerCalls.ts"

const [fern, moss] = [addressOf(1), addressOf(2)]

interface Session {
  readonly wsUrl: string
  readonly wallets: ReadonlyArray<string>
  readonly expiresInSeconds: number
  readonly ticketExpiresAtMs: number | null
  readonly streamId: string | null
  readonly message?: string
}

const session = Effect.fnUntraced(function* (key: string, query = "") {
  const answer = yield* call(SESSION + query, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  const body: Session = JSON.parse(answer.text)
  return { ...body, url: URL.parse(body.wsUrl), ticket: URL.parse(body.wsUrl)?.searchParams.get("ticket") ?? "" }
})

const redeem = (ticket: string) => Tickets.use((tickets) => tickets.redeem(ticket))

const lines: Array<string> = []
const collect = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])

layer(serving().pipe(Layer.provideMerge(collect)))("GET /api/v1/tracker/realtime/session", (it) => {
  it.effect("has nowhere to connect to while nothing is tracked", () =>
    Effect.gen(function* () {
      const { text } = yield* call(SESSION, { key: "a" })
      const { message, ...rest }: Session = JSON.parse(text)
      assert.deepStrictEqual(rest, {
        wsUrl: "",
        wallets: [],
        expiresInSeconds: 0,
        ticketExpiresAtMs: null,
        streamId: null
      })
      assert.isString(message)
    })
  )

  it.effect("issues a ticket for the tracked wallets, valid once and for a minute", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("b", { wallet: fern })
      yield* later(1)
      yield* track("b", { wallet: moss })
      const { port } = yield* Listening
      const given = yield* session("b")
      assert.deepStrictEqual(given.wallets, [moss, fern])
      assert.deepInclude(given, { expiresInSeconds: 60, ticketExpiresAtMs: START + 60_001 })
      assert.notProperty(given, "message")
      assert.match(given.streamId ?? "", /^str_[0-9A-Za-z]{22}$/u)
      assert.match(given.ticket, /^tkt_[0-9A-Za-z]{40}$/u)
      assert.strictEqual(given.url?.origin, `ws://127.0.0.1:${port}`)
      assert.strictEqual(given.url?.pathname, "/api/v1/tracker/realtime")
      assert.strictEqual(given.url?.searchParams.get("wallets"), `${moss},${fern}`)
      assert.isNull(yield* redeem(`${given.ticket}x`))
      assert.isNull(yield* redeem(given.ticket.slice(0, -1)))
      assert.deepStrictEqual(yield* redeem(given.ticket), {
        keyId: "key_b",
        session: null,
        accountId: "account_b",
        wallets: [moss, fern],
        group: null,
        control: false,
        streamId: given.streamId ?? "",
        sockets: 5
      })
      assert.isNull(yield* redeem(given.ticket))
      const [early, late] = [yield* session("b"), yield* session("b")]
      assert.notStrictEqual(early.ticket, late.ticket)
      assert.notStrictEqual(early.streamId, late.streamId)
      yield* TestClock.adjust("59999 millis")
      assert.isNotNull(yield* redeem(early.ticket))
      yield* TestClock.adjust("1 millis")
      assert.isNull(yield* redeem(late.ticket))
    })
  )

  it.effect("covers one group, with control frames, on request", () =>
    Effect.gen(function* () {
      yield* later()
      const store = yield* TrackerStore
      const { groupId } = yield* store.createGroup({ accountId: "account_c", name: "Whales" })
      yield* track("c", { wallet: fern })
      assert.strictEqual((yield* session("c", `?group=${groupId}`)).wsUrl, "")
      yield* track("c", { wallet: moss, group: groupId })
      const given = yield* session("c", `?group=${groupId}&control=true`)
      assert.deepStrictEqual(given.wallets, [moss])
      assert.deepInclude(yield* redeem(given.ticket), { wallets: [moss], group: groupId, control: true })
      assert.deepInclude(yield* redeem((yield* session("c", "?control=false")).ticket), { control: false, group: null })
      for (const control of ["", "1", "TRUE", "yes"]) {
        assertDetail(yield* call(`${SESSION}?control=${control}`, { key: "c" }), "query", "control", "format")
      }
    })
  )

  it.effect("is given to each key ten times a minute, whatever is tracked", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("m", { wallet: fern })
      for (let i = 0; i < 10; i++) {
        assert.strictEqual((yield* call(SESSION, { key: "m" })).status, 200)
        yield* TestClock.adjust("1 second")
      }
      const refused = yield* call(SESSION, { key: "m" })
      assertRefused(refused, 429, "rate_limited")
      assert.deepStrictEqual(refused.json("error.details"), [{ in: "header", field: "stream", issue: "out_of_range" }])
      assert.strictEqual(refused.headers.get("retry-after"), "50")
      assert.strictEqual(refused.headers.get("x-ratelimit-cost"), "0")
      // Another key of the same account, and of another one.
      assert.strictEqual((yield* call(SESSION, { key: "n" })).status, 200)
      assert.strictEqual((yield* call(SESSION, { key: "d" })).status, 200)
      yield* TestClock.adjust("50 seconds")
      assert.strictEqual((yield* call(SESSION, { key: "m" })).status, 200)
      assertRefused(yield* call(SESSION, { key: "m" }), 429, "rate_limited")
    })
  )

  it.effect("stays short enough for a server however much is tracked; the ticket knows all", () =>
    Effect.gen(function* () {
      yield* later()
      const store = yield* TrackerStore
      for (let i = 0; i < 500; i++) {
        yield* store.add({ accountId: "account_e", wallet: addressOf(100 + i), groupId: null })
      }
      const given = yield* session("e")
      assert.isAtMost(given.wsUrl.length, 8192)
      assert.lengthOf(given.wallets, 500)
      assert.strictEqual((yield* redeem(given.ticket))?.wallets.length, 500)
      assert.deepStrictEqual(given.url?.searchParams.get("wallets")?.split(","), given.wallets.slice(0, 100))
    })
  )

  it.effect("is not written to the log", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("f", { wallet: fern })
      const { ticket } = yield* session("f")
      assert.notInclude(lines.join("\n"), ticket)
      assert.notInclude(lines.join("\n"), "ticket=")
    })
  )
})

layer(serving({ settings: { publicUrl: "https://fathom.example/desk/" } }))("a service behind a public URL", (it) => {
  it.effect("is reached there, over TLS", () =>
    Effect.gen(function* () {
      yield* track("a", { wallet: fern })
      const { wsUrl } = yield* session("a")
      assert.isTrue(wsUrl.startsWith("wss://fathom.example/desk/api/v1/tracker/realtime?ticket=tkt_"), wsUrl)
    })
  )
})

const lost = new TicketsUnavailable({ cause: "down" })
const uncounted = new LimiterUnavailable({ cause: "down" })
const ticketsThat = (methods: Partial<Tickets["Service"]>) =>
  Layer.effect(
    Tickets,
    Effect.map(Tickets, (tickets) => Tickets.of({ ...tickets, ...methods }))
  ).pipe(Layer.provideMerge(memoryTracker))

layer(serving({ tracker: ticketsThat({ issue: () => Effect.fail(lost) }) }))(
  "a store of tickets that is away",
  (it) => {
    it.effect("is a 503", () =>
      Effect.gen(function* () {
        yield* track("a", { wallet: fern })
        assertRefused(yield* call(SESSION, { key: "a" }), 503, "data_unavailable")
      })
    )
  }
)

layer(serving({ tracker: ticketsThat({ enter: () => Effect.fail(uncounted) }) }))(
  "calls that cannot be counted",
  (it) => {
    it.effect("are a 503", () =>
      Effect.gen(function* () {
        assertRefused(yield* call(SESSION, { key: "a" }), 503, "limiter_unavailable")
      })
    )
  }
)
