import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { COMMAND_LINE } from "../../../src/api/schemas/KeyAudit.ts"
import { KeyStore } from "../../../src/access/KeyStore.ts"
import { DataFrame } from "../../../src/api/schemas/LiveFrame.ts"
import { TrackerStore } from "../../../src/wallets/tracker/TrackerStore.ts"
import { exchange, keyOf } from "../../support/http.ts"
import {
  closing,
  connectTo,
  happen,
  heard,
  liveService,
  opened,
  sessionOf,
  trackAll,
  wsUrl
} from "../../support/live.ts"
import { until } from "../../support/sse.ts"
import { blockOf, mintOf, walletOf } from "../../wallets/tracker/liveScene.ts"

const [A, B] = [walletOf(1), walletOf(2)]

// Each test has an account of its own: sessions are counted, and groups are shared.
const letters = "abcdefghijklmnopqrstuvwxyz".split("")
const keys = letters.map((letter) => keyOf(letter, { accountId: letter }))

const bodies = Schema.decodeUnknownEffect(Schema.fromJsonString(DataFrame), { onExcessProperty: "error" })

const upgrade = (path: string, headers: string, method = "GET") =>
  exchange(`${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n${headers}\r\n`)

layer(liveService({ keys }))("the tracker's WebSocket", (it) => {
  it.effect("sends a snapshot, then the trades of the wallets, as the contract has them", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "a")
      const client = yield* opened("a", "control=false")
      yield* happen(blockOf(1, [{ wallet: A, after: 2_000_000n }, { wallet: B }]))
      yield* heard(client, 3)
      yield* TestClock.adjust("1 second")
      yield* heard(client, 5)
      const frames = yield* Effect.forEach(client.texts, (text) => bodies(text))
      assert.deepStrictEqual(
        frames.map(({ seq, type }) => `${seq} ${type}`),
        ["0 snapshot", "1 trade", "2 balance_update", "3 pnl", "4 pnl_summary"]
      )
      assert.deepInclude(frames[1], { wallet: A, name: "Exämple" })
    })
  )

  it.effect("carries long frames, many at once, whole and in order", () =>
    Effect.gen(function* () {
      const wallets = Array.from({ length: 300 }, (_, n) => walletOf(1000 + n))
      yield* trackAll(wallets, "b")
      const client = yield* opened("b")
      assert.isAbove(client.texts[0]?.length ?? 0, 65_536)
      yield* happen(
        blockOf(
          2,
          wallets.map((wallet, n) => ({ wallet, mint: mintOf(n) }))
        )
      )
      yield* heard(client, 1 + 300)
      yield* TestClock.adjust("1 second")
      yield* heard(client, 1 + 3 * 300)
      assert.deepStrictEqual(
        client.data().map(({ seq }) => seq),
        Array.from({ length: 901 }, (_, seq) => seq)
      )
      yield* Effect.forEach(client.texts, (text) => bodies(text))
    })
  )

  it.effect("closes with 4401 on a ticket that is unknown, used or expired", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "c")
      const url = yield* wsUrl
      assert.strictEqual(yield* closing(yield* connectTo(`${url}/api/v1/tracker/realtime`)), 4401)
      const never = `${url}/api/v1/tracker/realtime?ticket=tkt_${"x".repeat(40)}`
      assert.strictEqual(yield* closing(yield* connectTo(never)), 4401)
      const session = yield* sessionOf("c")
      const first = yield* connectTo(session)
      yield* heard(first, 1)
      const second = yield* connectTo(session)
      assert.strictEqual(yield* closing(second), 4401)
      assert.lengthOf(second.texts, 0)
      assert.isNull(first.code())
      const late = yield* sessionOf("c")
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* closing(yield* connectTo(late)), 4401)
    })
  )

  it.effect("closes with 4403 the moment the key is revoked, and opens nothing for it any more", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "d")
      yield* trackAll([A], "e")
      const [client, other, session] = [yield* opened("d"), yield* opened("e"), yield* sessionOf("d")]
      yield* KeyStore.use((store) => store.revoke("key_d", COMMAND_LINE))
      assert.strictEqual(yield* closing(client), 4403)
      assert.strictEqual(yield* closing(yield* connectTo(session)), 4403)
      assert.isNull(other.code())
    })
  )

  it.effect("closes the oldest with 4409 when a key opens a sixth", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "f")
      const clients = []
      for (let n = 0; n < 6; n++) {
        clients.push(yield* opened("f"))
      }
      assert.strictEqual(yield* closing(clients[0] ?? assert.fail()), 4409)
      assert.deepStrictEqual(
        clients.map(({ code }) => code()),
        [4409, null, null, null, null, null]
      )
    })
  )

  it.effect("closes with 1008 on nonsense, 1009 on a long message and 4429 on too many", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "g")
      const [odd, long, eager] = [yield* opened("g"), yield* opened("g"), yield* opened("g")]
      for (let n = 0; n < 10; n++) {
        odd.ws.send(n % 2 === 0 ? "what?" : Buffer.from([1, 2, 3]))
      }
      long.ws.send(JSON.stringify({ op: "ping", id: "x".repeat(2000) }))
      for (let n = 0; n < 12; n++) {
        eager.ws.send(JSON.stringify({ op: "ping", id: `p${n}` }))
      }
      assert.strictEqual(yield* closing(odd), 1008)
      assert.strictEqual(yield* closing(long), 1009)
      assert.strictEqual(yield* closing(eager), 4429)
      assert.deepInclude(eager.frames()[1], { type: "pong", id: "p0" })
    })
  )

  it.effect("pings every 20 seconds, and drops a client that has not answered for 40", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "h")
      const alive = yield* opened("h")
      const deaf = yield* connectTo(yield* sessionOf("h"), false)
      yield* heard(deaf, 1)
      let pings = 0
      alive.ws.on("ping", () => pings++)
      for (const round of [1, 2]) {
        yield* TestClock.adjust("20 seconds")
        yield* until(`ping ${round}`, () => pings === round)
        // A pong is on its way back; what follows it on the same connection has arrived after it.
        alive.ws.send(JSON.stringify({ op: "ping", id: `round ${round}` }))
        yield* until("the pong of it", () => alive.texts.some((text) => text.includes(`round ${round}`)))
      }
      assert.strictEqual(yield* closing(deaf), 1001)
      assert.isNull(alive.code())
      assert.lengthOf(
        alive.frames().filter(({ type }) => type === "heartbeat"),
        2
      )
    })
  )

  it.effect("resumes where a reader stopped, over another connection", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "i")
      const first = yield* opened("i")
      const streamId = first.data()[0]?.["streamId"]
      yield* happen(blockOf(10, [{ wallet: A }]))
      yield* heard(first, 2)
      first.ws.terminate()
      yield* happen(blockOf(11, [{ wallet: A }, { wallet: A }]))
      const again = yield* opened("i")
      again.ws.send(JSON.stringify({ op: "resume", streamId, seq: 1 }))
      yield* until(
        "the trades that were missed",
        () => again.data().filter(({ type }) => type === "trade").length === 2
      )
      const [connect, resume, ...missed] = again.data()
      assert.deepInclude(connect, { reason: "connect", seq: 0 })
      assert.deepInclude(resume, { reason: "resume", resumed: true, gap: null, streamId, seq: 1 })
      assert.deepStrictEqual(
        missed.map(({ seq }) => seq),
        missed.map((_, at) => 2 + at)
      )
      assert.deepStrictEqual(
        missed.filter(({ type }) => type === "trade").map(({ slot }) => slot),
        [11, 11]
      )
    })
  )

  it.effect("announces added and removed wallets of its own account only", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "j")
      yield* trackAll([A], "k")
      const [mine, theirs] = [yield* opened("j"), yield* opened("k")]
      yield* trackAll([B], "j")
      yield* heard(mine, 2)
      assert.deepInclude(mine.data()[1], { reason: "wallets_changed", seq: 1 })
      yield* happen(blockOf(20, [{ wallet: B }]))
      yield* until("the trade of B", () => mine.data().some(({ type, wallet }) => type === "trade" && wallet === B))
      yield* TrackerStore.use((store) => store.remove({ accountId: "j", wallet: B }))
      yield* until("the news", () => mine.data().filter(({ reason }) => reason === "wallets_changed").length === 2)
      const before = mine.data().length
      yield* happen(blockOf(21, [{ wallet: B }, { wallet: A }]))
      yield* heard(theirs, 2)
      yield* heard(mine, before + 1)
      assert.isTrue(
        mine
          .data()
          .slice(before)
          .every(({ wallet }) => wallet === A)
      )
      assert.isTrue(
        theirs
          .data()
          .slice(1)
          .every(({ wallet }) => wallet === A)
      )
    })
  )

  it.effect("reports a gap of the chain with a snapshot", () =>
    Effect.gen(function* () {
      yield* trackAll([A], "l")
      const client = yield* opened("l")
      yield* happen(blockOf(30, []))
      yield* happen(blockOf(40, [], { afterGap: true }))
      yield* heard(client, 2)
      assert.deepInclude(client.data()[1], { reason: "resync", resumed: false })
      assert.deepInclude(client.data()[1]?.["gap"], { reason: "source_gap" })
    })
  )

  it.effect("answers an invalid handshake in the error envelope", () =>
    Effect.gen(function* () {
      const good = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
      const path = "/api/v1/tracker/realtime"
      for (const [answer, offered] of [
        [yield* upgrade("/api/v1/spot/quote", good), "HTTP/1.1"],
        [yield* upgrade(path, good.replace("13", "8")), "websocket"],
        [yield* upgrade(path, "Upgrade: telnet\r\n"), "websocket"]
      ] as const) {
        assert.match(answer, /^HTTP\/1\.1 426 /u)
        assert.match(answer, /"code":"upgrade_required"/u)
        assert.include(answer, `upgrade: ${offered}`)
      }
      for (const [headers, field, issue] of [
        [good.replace("AAAA=", "="), "Sec-WebSocket-Key", "format"],
        [good.replace(/Sec-WebSocket-Key.*\r\n/u, ""), "Sec-WebSocket-Key", "missing"],
        [`${good}Sec-WebSocket-Protocol: chat\r\n`, "Sec-WebSocket-Protocol", "unknown"]
      ] as const) {
        const answer = yield* upgrade(path, headers)
        assert.match(answer, /^HTTP\/1\.1 400 /u)
        assert.include(answer, `"message":"${field} `)
        assert.include(answer, `"details":[{"in":"header","field":"${field}","issue":"${issue}"}]`)
      }
      const posted = yield* upgrade(path, good, "POST")
      assert.match(posted, /^HTTP\/1\.1 405 /u)
      assert.include(posted, "allow: GET\r\n")
    })
  )
})
