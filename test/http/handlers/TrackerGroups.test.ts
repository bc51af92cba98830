import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { addressOf } from "../../callouts/callouts.ts"
import {
  assertDetail,
  assertRefused,
  BATCH,
  GROUPS,
  later,
  listed,
  send,
  serving,
  track,
  WALLETS
} from "./trackerCalls.ts"

const [fern, moss, reed] = [addressOf(1), addressOf(2), addressOf(3)]

/** Creates a group and returns its id. */
const created = Effect.fnUntraced(function* (key: string, name: string) {
  const answer = yield* send("POST", GROUPS, key, { name })
  assert.strictEqual(answer.status, 201, answer.text)
  return String(answer.json("groupId"))
})

layer(serving())("/api/v1/tracker/groups", (it) => {
  it.effect("creates, renames and deletes a group, whose wallets move to Main", () =>
    Effect.gen(function* () {
      yield* later()
      const answer = yield* send("POST", GROUPS, "a", { name: "Whales" })
      assert.strictEqual(answer.status, 201, answer.text)
      assert.deepInclude(JSON.parse(answer.text), { name: "Whales", isMain: false, walletCount: 0 })
      const groupId = String(answer.json("groupId"))
      assert.strictEqual((yield* track("a", { wallet: fern, group: groupId })).status, 201)
      const renamed = yield* send("PATCH", `${GROUPS}/${groupId}`, "a", { name: "Sharks" })
      assert.deepInclude(JSON.parse(renamed.text), { groupId, name: "Sharks", walletCount: 1 })
      const gone = yield* send("DELETE", `${GROUPS}/${groupId}`, "a")
      assert.deepStrictEqual(JSON.parse(gone.text), { groupId, deleted: true })
      assert.deepInclude((yield* listed("a"))[0], { wallet: fern, groups: ["grp_main"] })
      assertRefused(yield* send("DELETE", `${GROUPS}/${groupId}`, "a"), 404, "not_found")
    })
  )

  it.effect("keeps groups of other accounts out of reach", () =>
    Effect.gen(function* () {
      const groupId = yield* created("b", "Mine")
      assertRefused(yield* send("PATCH", `${GROUPS}/${groupId}`, "c", { name: "Taken" }), 404, "not_found")
      assertRefused(yield* send("DELETE", `${GROUPS}/${groupId}`, "c"), 404, "not_found")
      assert.strictEqual((yield* send("DELETE", `${GROUPS}/${groupId}`, "b")).status, 200)
    })
  )

  it.effect("refuses to delete Main, and names that are not labels", () =>
    Effect.gen(function* () {
      assertDetail(yield* send("DELETE", `${GROUPS}/grp_main`, "a"), "path", "id", "conflict")
      assertDetail(yield* send("POST", GROUPS, "a", { name: "" }), "body", "name", "format")
      assertDetail(yield* send("POST", GROUPS, "a", {}), "body", "name", "missing")
    })
  )

  it.effect("creates one group for a repeated Idempotency-Key", () =>
    Effect.gen(function* () {
      const once = { "idempotency-key": "one-group-only" }
      const first = yield* send("POST", GROUPS, "d", { name: "Once" }, once)
      const again = yield* send("POST", GROUPS, "d", { name: "Once" }, once)
      assert.deepStrictEqual([again.status, again.text], [first.status, first.text])
      assert.strictEqual(again.headers.get("idempotency-replayed"), "true")
    })
  )

  it.effect("answers 409 to the fifty-first group", () =>
    Effect.gen(function* () {
      yield* Effect.forEach(Array.from({ length: 49 }), () => created("e", "x"), { discard: true })
      assertRefused(yield* send("POST", GROUPS, "e", { name: "x" }), 409, "limit_reached")
    })
  )
})

layer(serving())("PATCH /api/v1/tracker/wallets/{wallet}", (it) => {
  it.effect("changes label, emoji, notes and groups; null clears a text", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("a", { wallet: fern, label: "desk", emoji: "🦦" })
      const groupId = yield* created("a", "Whales")
      const path = `${WALLETS}/${fern}`
      const answer = yield* send("PATCH", path, "a", {
        emoji: null,
        notes: "two\nlines",
        groups: [groupId, "grp_main"]
      })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepInclude(JSON.parse(answer.text), {
        label: "desk",
        emoji: null,
        notes: "two\nlines",
        groups: [groupId, "grp_main"],
        groupId
      })
      assertDetail(yield* send("PATCH", path, "a", { groups: ["grp_unknown"] }), "body", "groups", "unknown")
      assertDetail(yield* send("PATCH", path, "a", { notes: "x".repeat(501) }), "body", "notes", "too_long")
    })
  )

  it.effect("answers 404 for a wallet that the account does not track", () =>
    Effect.gen(function* () {
      assertRefused(yield* send("PATCH", `${WALLETS}/${moss}`, "a", { label: "x" }), 404, "wallet_not_found")
      assertRefused(yield* send("PATCH", `${WALLETS}/${fern}`, "b", { label: "x" }), 404, "wallet_not_found")
    })
  )
})

layer(serving())("POST /api/v1/tracker/wallets/batch", (it) => {
  it.effect("tracks every wallet of the batch, newly or as before", () =>
    Effect.gen(function* () {
      yield* later()
      yield* track("a", { wallet: fern })
      const answer = yield* send("POST", BATCH, "a", { wallets: [{ wallet: fern, label: "old" }, { wallet: moss }] })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.deepStrictEqual(JSON.parse(answer.text), {
        wallets: [
          { wallet: fern, tracked: true, groupId: "grp_main", isNew: false },
          { wallet: moss, tracked: true, groupId: "grp_main", isNew: true }
        ]
      })
    })
  )

  it.effect("adds nothing when one wallet cannot be added", () =>
    Effect.gen(function* () {
      const wallets = [{ wallet: reed }, { wallet: moss, group: "grp_unknown" }]
      assertRefused(yield* send("POST", BATCH, "b", { wallets }), 400, "invalid_request")
      assert.deepStrictEqual(yield* listed("b"), [])
    })
  )

  it.effect("refuses an empty list, a repeated wallet and more than a hundred", () =>
    Effect.gen(function* () {
      const lists = [
        [],
        [{ wallet: fern }, { wallet: fern }],
        Array.from({ length: 101 }, (_, i) => ({ wallet: addressOf(i) }))
      ]
      for (const wallets of lists) {
        const answer = yield* send("POST", BATCH, "c", { wallets })
        assertRefused(answer, 400, "invalid_request")
        assert.include(answer.text, "wallets")
      }
    })
  )
})
