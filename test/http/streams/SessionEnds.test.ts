import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { AccountStore } from "../../../src/access/accounts/AccountStore.ts"
import { csrfTokenOf } from "../../../src/access/accounts/secrets.ts"
import { SessionStore } from "../../../src/access/accounts/SessionStore.ts"
import { SOL } from "../../../src/domain/Address.ts"
import { Listening } from "../../../src/http/server/NodeServer.ts"
import { call } from "../../support/http.ts"
import { closing, connectTo, heard, liveService, trackAll } from "../../support/live.ts"
import { engineOver, makeMarket, TOKEN } from "../../support/market.ts"
import { openStream, until } from "../../support/sse.ts"
import { walletOf } from "../../wallets/tracker/liveScene.ts"

const ORIGIN = "http://pages.example"
const STREAM = `/api/v1/spot/quote/stream?inputMint=${TOKEN}&outputMint=${SOL}&amount=1000000&durationSeconds=60`

const service = () => liveService({ engine: engineOver(makeMarket()), settings: { publicUrl: ORIGIN } })

/** A session of the account with a quote stream and a tracker socket. */
const opened = Effect.fnUntraced(function* (accountId: string) {
  const secret = yield* SessionStore.use((sessions) => sessions.open(accountId))
  const cookie = `fathom_session=${Redacted.value(secret)}`
  const headers = { cookie, origin: ORIGIN, "x-csrf-token": csrfTokenOf(secret) }
  const session = yield* call("/api/v1/tracker/realtime/session", { key: null, headers: { cookie } })
  const ticketed = new URL(String(session.json("wsUrl")))
  const { port } = yield* Listening
  const socket = yield* connectTo(`ws://127.0.0.1:${port}${ticketed.pathname}${ticketed.search}`)
  yield* heard(socket, 1)
  const stream = yield* openStream(STREAM, { cookie })
  if (stream.status !== 200) {
    return yield* Effect.die(new Error(stream.text()))
  }
  yield* until("the first quote", () => stream.frames().length >= 2)
  return { headers, socket, stream }
})

const account = Effect.fnUntraced(function* (id: string) {
  yield* AccountStore.use((accounts) => accounts.create({ id, name: id, role: "member" }))
  yield* trackAll([walletOf(1)], id)
})

type Opened = Effect.Success<ReturnType<typeof opened>>

/** The stream and the socket have been closed by the service. */
const hasEnded = Effect.fnUntraced(function* ({ socket, stream }: Opened) {
  assert.strictEqual(yield* closing(socket), 4403)
  yield* until("the end of the stream", () => stream.ended())
  assert.deepInclude(stream.frames().at(-1)?.data, { reason: "key_revoked" })
})

const isRunning = ({ socket, stream }: Opened): boolean => socket.code() === null && !stream.ended()

describe("what a session holds open", () => {
  it.effect("ends with its sign-out, and other sessions go on", () =>
    Effect.gen(function* () {
      yield* account("one")
      const [leaving, staying] = [yield* opened("one"), yield* opened("one")]
      const closed = yield* call("/app/session", { key: null, method: "DELETE", headers: leaving.headers })
      assert.strictEqual(closed.status, 200)
      yield* hasEnded(leaving)
      assert.isTrue(isRunning(staying))
      staying.stream.cut()
    }).pipe(Effect.scoped, Effect.provide(service()))
  )

  it.effect("ends with a sign-out everywhere and with its account, and other accounts go on", () =>
    Effect.gen(function* () {
      yield* account("many")
      yield* account("disabled")
      yield* account("other")
      const [one, two] = [yield* opened("many"), yield* opened("many")]
      const [disabled, other] = [yield* opened("disabled"), yield* opened("other")]
      yield* call("/app/sessions", { key: null, method: "DELETE", headers: one.headers })
      yield* AccountStore.use((accounts) => accounts.setDisabled("disabled", true))
      yield* hasEnded(one)
      yield* hasEnded(two)
      yield* hasEnded(disabled)
      assert.isTrue(isRunning(other))
      other.stream.cut()
    }).pipe(Effect.scoped, Effect.provide(service()))
  )
})
