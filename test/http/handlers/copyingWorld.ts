/** A service with follows and fills of two accounts. */
import { assert } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { CopyFills, CopyFollows, CopyPnlAnswer } from "../../../src/api/Copying.ts"
import { FollowStore } from "../../../src/wallets/copying/FollowStore.ts"
import { addressOf } from "../../callouts/callouts.ts"
import { copyOf, followOf, START } from "../../wallets/copying/copies.ts"
import { readerOver } from "../../wallets/copying/copyWorld.ts"
import { type Answer, call, keyOf } from "../../support/http.ts"

/** The moment of every read. */
export const NOW = START + 100_000
export const USD = 1_000_000_000n
export const [MINT, OTHER] = [addressOf(1), addressOf(2)]
/** Base path of the reads. */
export const COPY = "/api/v1/copy"

export const warmed: Array<string> = []
export const market = {
  price: (mint: string) => (mint === MINT ? 150_000n : null),
  symbol: (mint: string) => (mint === MINT ? "FERN" : null),
  warmed: (mint: string) => warmed.push(mint)
}

/** Three follows of one account, one of another's: purchases, a sale, a failed, a skipped and a pending copy. */
export const seeded = Layer.effectDiscard(
  Effect.gen(function* () {
    const store = yield* FollowStore
    yield* store.recordFollow(followOf("cf_one"))
    yield* store.recordFollow(
      followOf("cf_two", { createdAtMs: START + 1, status: "paused", leader: { wallet: MINT, label: null } })
    )
    yield* store.recordFollow(followOf("cf_end", { createdAtMs: START + 2, status: "stopped", stoppedAtMs: START + 3 }))
    yield* store.recordFollow(followOf("cf_theirs", { accountId: "acct_b" }))
    const one = { followId: "cf_one", mint: MINT }
    const buy = { side: "buy" as const, tokens: 1000n, usdNanos: 100n * USD, feeUsdNanos: USD }
    const sale = { side: "sell" as const, tokens: 500n, usdNanos: 80n * USD, feeUsdNanos: USD / 2n }
    yield* store.recordFill(copyOf({ ...one, ...buy, number: 1 }))
    yield* store.recordFill(copyOf({ ...one, ...sale, number: 2 }))
    const none = { execution: null, reason: "slippage" as const }
    yield* store.recordFill(copyOf({ ...one, ...buy, number: 3 }, { ...none, status: "failed" }))
    yield* store.recordFill(copyOf({ ...one, ...buy, number: 4 }, { ...none, status: "skipped", reason: "filter" }))
    yield* store.recordFill(copyOf({ ...one, ...buy, number: 5 }, { status: "pending" }))
    yield* store.recordFill(copyOf({ ...one, ...buy, number: 6 }, { status: "pending", execution: null }))
    yield* store.recordFill(copyOf({ ...buy, followId: "cf_two", mint: OTHER, number: 7 }))
    yield* store.recordFill(copyOf({ ...buy, followId: "cf_theirs", mint: OTHER, number: 8 }))
  })
)

const scopes = { scopes: ["copy.read" as const] }
const mine = "abcdefghij".split("").map((letter) => keyOf(letter, { ...scopes, accountId: "acct_a" }))
export const keys = [
  ...mine,
  keyOf("t", { ...scopes, accountId: "acct_b" }),
  keyOf("n", { ...scopes, accountId: "acct_none" }),
  keyOf("z", { scopes: ["md.read"], accountId: "acct_a" })
]
export const copying = seeded.pipe(Layer.provideMerge(readerOver(market)), Layer.orDie)

export const assertRefused = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status, answer.text)
  assert.strictEqual(answer.json("error.code"), code)
  assert.strictEqual(answer.json("requestId"), answer.headers.get("x-request-id"))
}

const answers = {
  follows: Schema.decodeEffect(Schema.fromJsonString(CopyFollows)),
  fills: Schema.decodeEffect(Schema.fromJsonString(CopyFills)),
  pnl: Schema.decodeEffect(Schema.fromJsonString(CopyPnlAnswer))
}

/** Decodes an answer by the contract; returns its text. */
export const read = Effect.fnUntraced(function* (what: keyof typeof answers, query = "", key = "a") {
  yield* TestClock.setTime(NOW)
  const answer = yield* call(`${COPY}/${what}${query}`, { key })
  assert.strictEqual(answer.status, 200, answer.text)
  yield* answers[what](answer.text)
  return answer
})

export const idsOf = (answer: Answer): ReadonlyArray<string> =>
  Array.from(Object(answer.json("data")), (row: object) => String(Reflect.get(row, "id")))

/** Every page of a list. */
export const walk = Effect.fnUntraced(function* (what: "follows" | "fills", query: string, key: string) {
  const pages: Array<ReadonlyArray<string>> = []
  let cursor: unknown = ""
  while (cursor !== null) {
    const answer: Answer = yield* read(what, `?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`, key)
    pages.push(idsOf(answer))
    cursor = answer.json("nextCursor")
  }
  return pages
})

export const metaOf = (answer: Answer) => ({
  requestId: answer.headers.get("x-request-id"),
  methodVersion: "public-copy-v1",
  executionAuthority: "none",
  observedAtMs: NOW,
  status: "known",
  coverage: { complete: true, reason: null }
})

export const fillsNewestFirst = [
  "fl_two_00007",
  "fl_one_00006",
  "fl_one_00005",
  "fl_one_00004",
  "fl_one_00003",
  "fl_one_00002",
  "fl_one_00001"
]
