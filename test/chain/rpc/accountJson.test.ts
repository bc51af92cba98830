import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { accountFromJson, bytesFromBase64, parseJson } from "../../../src/chain/rpc/accountJson.ts"
import { readClock } from "../../../src/chain/clockSysvar.ts"
import { at, clockOf, OWNER } from "../accounts/accounts.ts"

const json = { owner: OWNER, lamports: 7, data: ["AQID", "base64"], executable: false, rentEpoch: 0, space: 3 }
const read = (value: unknown) => accountFromJson(at(1), 9, value)

describe("an account in a node's JSON", () => {
  it("is read whole", () => {
    assert.deepStrictEqual(
      read(json),
      Result.succeed({
        slot: 9,
        account: { address: at(1), owner: OWNER, lamports: 7n, data: Uint8Array.of(1, 2, 3), slot: 9 }
      })
    )
  })

  it("does not exist when it is null or has no lamports", () => {
    const none = Result.succeed({ slot: 9, account: null })
    assert.deepStrictEqual(read(null), none)
    assert.deepStrictEqual(read({ ...json, lamports: 0, data: ["", "base64"], space: 0 }), none)
  })

  it.each([
    ["data that is not base64", { ...json, data: ["A*ID", "base64"] }],
    ["data of another size than it says", { ...json, space: 4 }],
    ["another encoding", { ...json, data: ["AQID", "base58"] }],
    ["an owner that is no address", { ...json, owner: "0x" }],
    ["negative lamports", { ...json, lamports: -1 }],
    ["half a lamport", { ...json, lamports: 0.5 }],
    ["nothing it should have", {}],
    ["no shape at all", "AQID"]
  ])("is rejected with %s", (_, value) => {
    assert.isTrue(Result.isFailure(read(value)))
  })

  it("keeps lamports exactly beyond what a number can hold", () => {
    const text = JSON.stringify(json).replace('"lamports":7', '"lamports":9007199254740993')
    const state = Result.getOrThrow(read(parseJson(text)))

    assert.strictEqual(state.account?.lamports, 9_007_199_254_740_993n)
  })

  it("keeps its bytes in its own memory", () => {
    const state = Result.getOrThrow(read(json))
    assert.strictEqual(state.account?.data.buffer.byteLength, 3)
  })
})

describe("base64", () => {
  it.prop("decodes to the bytes it was encoded from", [Schema.Uint8Array], ([bytes]) => {
    assert.deepStrictEqual(bytesFromBase64(Buffer.from(bytes).toString("base64")), new Uint8Array(bytes))
  })

  it.each(["A", "AQ", "AQ=", "A=Q=", "AQI*", "AQ==AQ==", "AQ ID", "AQID\n"])("rejects %j", (text) => {
    assert.isNull(bytesFromBase64(text))
  })
})

describe("the clock sysvar", () => {
  it("is read from its documented offsets", () => {
    assert.deepStrictEqual(readClock(clockOf(7, 1_700_000_000, 55).data), {
      slot: 55,
      epoch: 7,
      unixTimestamp: 1_700_000_000
    })
  })

  it("is null when bytes are missing", () => {
    assert.isNull(readClock(new Uint8Array(39)))
  })
})
