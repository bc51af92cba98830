import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readAddress, readI64, readU64 } from "../../../src/programs/layout/bytes.ts"
import { Address, SOL, USDC } from "../../../src/domain/Address.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { at, call, postText } from "./client.ts"

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const AMM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")
const CLOCK = "SysvarC1ock11111111111111111111111111111111"
const START_MS = 1_790_000_000_000

const bytesOf = (account: unknown): Uint8Array => Buffer.from(String(at(account, "data", 0)), "base64")

const listOf = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const read = (url: string, address: string, options: object = { encoding: "base64" }) =>
  Effect.map(call(url, "getAccountInfo", address, options), (answer) => at(answer, "result", "value"))

const one = (id: unknown, method: string) => ({ jsonrpc: "2.0", ...(id === undefined ? {} : { id }), method })

layer(Simulator.layer({ seed: "node", speed: 0, startUnixMs: START_MS }))("SolanaNode", (it) => {
  it.effect("never closes an idle connection, which a client may be about to use", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const response = yield* Effect.promise(() => fetch(`${rpcUrl}/health`))
      yield* Effect.promise(() => response.text())
      // A server with a time limit states it in this header.
      assert.isNull(response.headers.get("keep-alive"))
    })
  )

  it.effect("answers a read with the slot at which it was read", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const answer = yield* call(rpcUrl, "getAccountInfo", SOL, { encoding: "base64", commitment: "confirmed" })
      const slot = at(yield* call(rpcUrl, "getSlot"), "result")
      assert.strictEqual(at(answer, "jsonrpc"), "2.0")
      assert.strictEqual(at(answer, "id"), 1)
      assert.strictEqual(at(answer, "result", "context", "slot"), slot)
      assert.isString(at(answer, "result", "context", "apiVersion"))
      const value = at(answer, "result", "value")
      assert.strictEqual(at(value, "owner"), TOKEN_PROGRAM)
      assert.strictEqual(at(value, "data", 1), "base64")
      assert.strictEqual(bytesOf(value).length, 82)
      assert.strictEqual(at(value, "space"), 82)
      assert.isFalse(at(value, "executable"))
    })
  )

  it.effect("returns null in place of an account that does not exist", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const missing = "Vote111111111111111111111111111111111111111"
      const answer = yield* call(rpcUrl, "getMultipleAccounts", [SOL, missing, USDC], { encoding: "base64" })
      const values = listOf(at(answer, "result", "value"))
      assert.deepStrictEqual(
        values.map((value) => at(value, "owner") ?? null),
        [TOKEN_PROGRAM, null, TOKEN_PROGRAM]
      )
    })
  )

  it.effect("rejects more than a hundred accounts, bad keys and unknown methods with the validator's codes", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const codes = [
        yield* call(
          rpcUrl,
          "getMultipleAccounts",
          Array.from({ length: 101 }, () => SOL)
        ),
        yield* call(rpcUrl, "getAccountInfo", "abc"),
        yield* call(rpcUrl, "getAccountInfo", SOL, { encoding: "morse" }),
        yield* call(rpcUrl, "getAccountInfo", SOL, { minContextSlot: 10 ** 12 }),
        yield* call(rpcUrl, "getNothing", 1)
      ].map((answer) => at(answer, "error", "code"))
      assert.deepStrictEqual(codes, [-32602, -32602, -32602, -32016, -32601])
    })
  )

  it.effect("reports its slot when the caller requires a later one", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const slot = at(yield* call(rpcUrl, "getSlot"), "result")
      const answer = yield* call(rpcUrl, "getSlot", { minContextSlot: Number(slot) + 1 })
      assert.strictEqual(at(answer, "error", "data", "contextSlot"), slot)
      assert.isUndefined(at(yield* call(rpcUrl, "getSlot", { minContextSlot: slot }), "error"))
    })
  )

  it.effect("refuses base58 for long data, as a validator does", () =>
    Effect.gen(function* () {
      const { rpcUrl, pools } = yield* Simulator
      const pool = pools().find(({ dex }) => dex === "raydium-amm-v4")
      const answer = yield* call(rpcUrl, "getAccountInfo", pool?.address)
      assert.strictEqual(at(answer, "error", "code"), -32600)
      const short = yield* read(rpcUrl, SOL, {})
      assert.isString(at(short, "data"))
    })
  )

  it.effect("finds a program's accounts by size and by bytes, whole or in part", () =>
    Effect.gen(function* () {
      const { rpcUrl, pools } = yield* Simulator
      const expected = pools().filter(({ dex, mintB }) => dex === "raydium-amm-v4" && mintB === USDC)
      const filters = [{ dataSize: 752 }, { memcmp: { offset: 432, bytes: USDC } }]
      const dataSlice = { offset: 432, length: 32 }
      const answer = yield* call(rpcUrl, "getProgramAccounts", AMM_V4, {
        encoding: "base64",
        withContext: true,
        filters,
        dataSlice
      })
      const found = listOf(at(answer, "result", "value"))
      assert.sameMembers(
        found.map((entry) => String(at(entry, "pubkey"))),
        expected.map(({ address }) => String(address))
      )
      assert.isAbove(found.length, 0)
      for (const entry of found) {
        assert.strictEqual(readAddress(bytesOf(at(entry, "account")), 0), USDC)
        assert.strictEqual(at(entry, "account", "space"), 752)
      }
      const bare = yield* call(rpcUrl, "getProgramAccounts", AMM_V4, {
        encoding: "base64",
        filters: [{ memcmp: { offset: 432, bytes: Buffer.alloc(32, 7).toString("base64"), encoding: "base64" } }]
      })
      assert.deepStrictEqual(at(bare, "result"), [])
    })
  )

  it.effect("keeps the clock sysvar in step with the slot and with getEpochInfo", () =>
    Effect.gen(function* () {
      const { rpcUrl, advance } = yield* Simulator
      yield* advance(7)
      const clock = bytesOf(yield* read(rpcUrl, CLOCK))
      const info = at(yield* call(rpcUrl, "getEpochInfo"), "result")
      assert.strictEqual(clock.length, 40)
      assert.strictEqual(Number(readU64(clock, 0)), at(info, "absoluteSlot"))
      assert.strictEqual(Number(readU64(clock, 16)), at(info, "epoch"))
      assert.strictEqual(Number(readU64(clock, 24)), Number(at(info, "epoch")) + 1)
      const slots = Number(at(info, "absoluteSlot")) - Math.floor((START_MS - Date.UTC(2020, 2, 16, 14, 29)) / 400)
      assert.strictEqual(Number(readI64(clock, 32)), Math.floor((START_MS + slots * 400) / 1000))
      assert.isAtMost(Number(readI64(clock, 8)), Number(readI64(clock, 32)))
    })
  )

  it.effect("returns the balance of a vault, also in whole tokens, and rejects anything but a token account", () =>
    Effect.gen(function* () {
      const { rpcUrl, pools } = yield* Simulator
      const pool = pools().find(({ dex, mintB }) => dex === "raydium-amm-v4" && mintB === USDC)
      const data = bytesOf(yield* read(rpcUrl, String(pool?.address)))
      const vault = readAddress(data, 368)
      const amount = readU64(bytesOf(yield* read(rpcUrl, vault)), 64)
      const value = at(yield* call(rpcUrl, "getTokenAccountBalance", vault), "result", "value")
      assert.strictEqual(at(value, "amount"), String(amount))
      assert.strictEqual(at(value, "decimals"), 6)
      assert.strictEqual(Number(at(value, "uiAmountString")), Number(amount) / 1e6)
      assert.strictEqual(at(yield* call(rpcUrl, "getTokenAccountBalance", pool?.address), "error", "code"), -32602)
    })
  )

  it.effect("answers a batch in order, without the notifications in it", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const body = [one(1, "getHealth"), one(undefined, "getHealth"), one("b", "nothing"), 5]
      const { json } = yield* postText(rpcUrl, JSON.stringify(body))
      assert.deepStrictEqual(json, [
        { jsonrpc: "2.0", result: "ok", id: 1 },
        { jsonrpc: "2.0", error: { code: -32601, message: "Method not found" }, id: "b" },
        { jsonrpc: "2.0", error: { code: -32600, message: "Invalid request" }, id: null }
      ])
    })
  )

  it.effect("rejects bodies that are not JSON, empty batches, and other content types", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      assert.strictEqual(at((yield* postText(rpcUrl, "{")).json, "error", "code"), -32700)
      assert.strictEqual(at((yield* postText(rpcUrl, "[]")).json, "error", "code"), -32600)
      assert.strictEqual((yield* postText(rpcUrl, "{}", "text/plain")).status, 415)
    })
  )

  it.effect("knows its own transactions and no others", () =>
    Effect.gen(function* () {
      const { rpcUrl } = yield* Simulator
      const answer = yield* call(rpcUrl, "getSignatureStatuses", ["1".repeat(64)])
      assert.deepStrictEqual(at(answer, "result", "value"), [null])
    })
  )
})
