/** Two accounts over every operation of the document: what one has made is out of reach of the other's key and session. */
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { csrfTokenOf } from "../../src/access/accounts/secrets.ts"
import { ApiScope } from "../../src/api/schemas/ApiKey.ts"
import { FundingClient, UnknownWallet } from "../../src/funding/FundingClient.ts"
import { addressOf } from "../callouts/callouts.ts"
import { copying } from "../http/handlers/copyingWorld.ts"
import { solWallet } from "../funding/scriptedFunding.ts"
import { call, keyOf, running } from "../support/http.ts"
import * as MemoryAccounts from "../support/memoryAccounts.ts"
import { type Document, type Operation, operationsOf } from "../support/openapi.ts"
import type { Request } from "./walkRequests.ts"
import { anything } from "./walkRequests.ts"
import { valid } from "./walkTable.ts"

const document: Document = JSON.parse(readFileSync(new URL("../../src/api/openapi.json", import.meta.url), "utf8"))
const operations = operationsOf(document).filter(({ isKeyed }) => isKeyed)

const ORIGIN = "http://pages.example"
const [SESSION_A, SESSION_B] = [Redacted.make("m".repeat(43)), Redacted.make("n".repeat(43))]
const pageOf = (secret: Redacted.Redacted) => ({
  cookie: `fathom_session=${Redacted.value(secret)}`,
  origin: ORIGIN,
  "x-csrf-token": csrfTokenOf(secret)
})

/** The ids of one account's things, or ids of nothing. */
interface Ids {
  readonly group: string
  readonly alert: string
  readonly wallet: string
  readonly follow: string
  readonly funding: string
}

/** Well-formed ids that no account has. */
const nothing: Ids = {
  group: "grp_0000000000000000000000",
  alert: "al_0000000000000000000000",
  wallet: addressOf(201),
  follow: "cf_none",
  funding: "w_none"
}

const SECRET = "Secret"
const WALLET = addressOf(200)

const funding = Layer.succeed(FundingClient, {
  wallets: (owner) =>
    Effect.succeed({
      wallets: owner === "acct_a" ? [{ ...solWallet, walletId: "w_of_a", label: SECRET }] : [],
      asOf: 0
    }),
  catalog: ({ walletId }) => (walletId === undefined ? Effect.succeed({ networks: [], asOf: 0 }) : new UnknownWallet()),
  balances: ({ owner, walletId }) =>
    owner === "acct_a" || walletId === undefined
      ? Effect.succeed({ balances: [], unread: [], asOf: 0 })
      : new UnknownWallet(),
  depositAddress: () => new UnknownWallet()
})

const scopes = ApiScope.literals
const world = running({
  keys: [keyOf("a", { scopes, accountId: "acct_a" }), keyOf("b", { scopes, accountId: "acct_b" })],
  accounts: MemoryAccounts.layerOf([
    { id: "acct_a", session: SESSION_A, link: Redacted.make("o".repeat(43)) },
    { id: "acct_b", session: SESSION_B, link: Redacted.make("q".repeat(43)) }
  ]),
  copying,
  funding,
  settings: { publicUrl: ORIGIN }
  // Operations without a capability here fail, which reveals nothing; their logs are of no interest.
}).pipe(Layer.provide(Logger.layer([])))

type Caller = (
  path: string,
  init: { readonly method: string; readonly body?: string; readonly headers: Record<string, string> }
) => ReturnType<typeof call>

const byKey =
  (key: string): Caller =>
  (path, init) =>
    call(path, { ...init, key })
const bySession =
  (secret: Redacted.Redacted): Caller =>
  (path, { headers, ...init }) =>
    call(path, { ...init, key: null, headers: { ...headers, ...pageOf(secret) } })

const send = (
  caller: Caller,
  { hasBody, method, path }: Operation,
  { body, headers, params = {}, query = {} }: Request
) => {
  const filled = path.replaceAll(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(params[name] ?? "x"))
  const type: Record<string, string> = hasBody ? { "content-type": "application/json" } : {}
  return caller(`${filled}?${new URLSearchParams(query)}`, {
    method,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    headers: { ...type, ...headers }
  })
}

const operation = (id: string): Operation => {
  const found = operations.find((each) => each.id === id)
  assert.isDefined(found, id)
  return found
}

const ofGroups = new Set(["tracker.wallets", "tracker.snapshot", "tracker.trades", "tracker.session"])

/** The valid request of an operation, about these ids wherever it names something of an account. */
const about = ({ id }: Operation, ids: Ids): Request => {
  const request = valid[id]?.({ ...anything, wallet: ids.funding, follow: ids.follow }) ?? {}
  const owned = id.startsWith("tracker.") ? ids.group : id.startsWith("alerts.") ? ids.alert : ids.follow
  return {
    ...request,
    params: {
      ...request.params,
      ...(request.params?.["id"] !== undefined && { id: owned }),
      ...(request.params?.["wallet"] !== undefined && { wallet: ids.wallet })
    },
    query: {
      ...request.query,
      ...(ofGroups.has(id) && { group: ids.group }),
      ...(["accountFunding.catalog", "accountFunding.balances"].includes(id) && { walletId: ids.funding }),
      ...(id === "copying.pnl" && { followId: ids.follow })
    },
    ...(id === "tracker.track" && { body: { wallet: WALLET, group: ids.group } })
  }
}

/** The bytes of an answer without the request's id and the ids that it was asked with. */
const plain = (text: string, ids: Ids) =>
  Object.values(ids).reduce<string>(
    (rest, id) => rest.replaceAll(id, "ID"),
    text.replaceAll(/"requestId":"[^"]*"/gu, "")
  )

const idIn = (text: string): string => /"(?:id|groupId)":\s*"([^"]+)"/u.exec(text)?.[1] ?? ""

/** The idempotency key of an operation, the same for both accounts. */
const once = (id: string) => ({ "idempotency-key": `once-${id.replace(".", "-")}` })
const alertBody = {
  ...Object(valid["alerts.create"]?.(anything).body),
  note: `${SECRET} note`
}

/** Has account A make one of everything; its ids. */
const makeAll = Effect.gen(function* () {
  const a = byKey("a")
  const group = yield* send(a, operation("tracker.createGroup"), {
    body: { name: `${SECRET} group` },
    headers: once("tracker.createGroup")
  })
  const wallet = { wallet: WALLET, label: `${SECRET} label`, group: idIn(group.text) }
  const tracked = yield* send(a, operation("tracker.track"), { body: wallet, headers: once("tracker.track") })
  const alert = yield* send(a, operation("alerts.create"), { body: alertBody, headers: once("alerts.create") })
  for (const made of [group, tracked, alert]) {
    assert.strictEqual(made.status, 201, made.text)
  }
  return { group: idIn(group.text), alert: idIn(alert.text), wallet: WALLET, follow: "cf_one", funding: "w_of_a" }
})

/** Everything that account A can read of its own. */
const ownReads = Effect.gen(function* () {
  const reads = [
    "tracker.wallets",
    "tracker.snapshot",
    "alerts.list",
    "copying.follows",
    "copying.fills",
    "accountFunding.wallets"
  ]
  const answers = []
  for (const id of reads) {
    const answer = yield* send(byKey("a"), operation(id), {})
    assert.strictEqual(answer.status, 200, answer.text)
    answers.push(plain(answer.text, nothing).replaceAll(/"observedAtMs":\d+/gu, ""))
  }
  return answers
})

const leave = (headers: Record<string, string>) => call("/app/sessions", { key: null, method: "DELETE", headers })

const soon = Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))

/** The answer; the clock moves on until an event stream has ended. */
const sendToEnd = (...request: Parameters<typeof send>) =>
  Effect.gen(function* () {
    if (!request[1].id.startsWith("marketStreams.")) {
      return yield* send(...request)
    }
    const sent = yield* Effect.forkChild(send(...request))
    yield* Effect.andThen(soon, TestClock.adjust("1 second")).pipe(
      Effect.repeat({ until: () => sent.pollUnsafe() !== undefined })
    )
    return yield* Fiber.join(sent)
  })

layer(world, { timeout: "60 seconds" })("another account", (it) => {
  it.effect("reaches nothing by key or session, and foreign ids answer like unknown ones", () =>
    Effect.gen(function* () {
      const ids = yield* makeAll
      const before = yield* ownReads
      const marks = [SECRET, ids.group, ids.alert, "cf_one", "cf_two", "cf_end", "w_of_a", solWallet.address]
      assert.isAtLeast(operations.length, 40)
      for (const each of operations) {
        for (const caller of [byKey("b"), bySession(SESSION_B)]) {
          // The budget of the last minute is forgotten.
          yield* TestClock.adjust("61 seconds")
          const [foreign, unknown] = [about(each, ids), about(each, nothing)]
          const answer = yield* sendToEnd(caller, each, foreign)
          const shown = plain(answer.text, { ...nothing, ...(answer.status < 400 ? { wallet: WALLET } : ids) })
          for (const mark of marks) {
            assert.notInclude(shown, mark, `${each.id} shows ${mark}`)
          }
          if (JSON.stringify(foreign) !== JSON.stringify(unknown)) {
            const other = yield* sendToEnd(caller, each, unknown)
            assert.strictEqual(answer.status, other.status, `${each.id}: ${answer.text}`)
            assert.strictEqual(plain(answer.text, ids), plain(other.text, nothing), each.id)
          }
          const named = yield* sendToEnd(caller, each, {
            ...about(each, nothing),
            ...(each.id === "alerts.create" && { body: alertBody }),
            headers: once(each.id)
          })
          assert.isNull(named.headers.get("idempotency-replayed"), `${each.id} replays the answer of another key`)
        }
      }
      yield* TestClock.adjust("61 seconds")
      assert.deepStrictEqual(yield* ownReads, before, "nothing of the account was changed")
    })
  )

  it.effect("gets its own rows, or none, for a cursor of another account", () =>
    Effect.gen(function* () {
      yield* TestClock.adjust("61 seconds")
      for (const id of ["copying.follows", "copying.fills"]) {
        const first = yield* send(byKey("a"), operation(id), { query: { limit: "1" } })
        const cursor = String(first.json("nextCursor"))
        assert.isAbove(cursor.length, 10, first.text)
        for (const caller of [byKey("b"), bySession(SESSION_B)]) {
          const answer = yield* send(caller, operation(id), { query: { limit: "1", cursor } })
          assert.notInclude(answer.text, "cf_one")
          assert.notInclude(answer.text, "cf_two")
          assert.notInclude(answer.text, "cf_end")
        }
      }
    })
  )

  it.effect("ends no session but its own", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* leave({ ...pageOf(SESSION_A), "x-csrf-token": csrfTokenOf(SESSION_B) })).status, 403)
      assert.strictEqual((yield* leave(pageOf(SESSION_B))).status, 200)
      const still = yield* call("/app/session", { key: null, headers: pageOf(SESSION_A) })
      assert.strictEqual(still.json("account.id"), "acct_a")
    })
  )
})
