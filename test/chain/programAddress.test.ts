import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { Address, addressToBytes, SOL } from "../../src/domain/Address.ts"
import { findProgramAddress, isOnCurve, makeDeriveAddress } from "../../src/chain/programAddress.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))).check(
  Schema.isMinLength(32),
  Schema.isMaxLength(32)
)
const text = (seed: string) => new TextEncoder().encode(seed)
const RAYDIUM_CLMM = Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK")
const RAYDIUM_V4 = Address.make("675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8")

describe("findProgramAddress", () => {
  it("gives Raydium's AMM authority, a published address", () => {
    assert.strictEqual(
      findProgramAddress(RAYDIUM_V4, [text("amm authority")]),
      "5Q544fKrFoe6tsEbD7S8EmxGTJYAKtTVhAW5Q5pge4j1"
    )
  })

  it("derives the associated token account of a known owner and mint", () => {
    // Associated token program, seeds owner, token program, mint.
    const token = Address.make("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA")
    const associated = Address.make("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
    const address = findProgramAddress(associated, [
      addressToBytes(RAYDIUM_V4),
      addressToBytes(token),
      addressToBytes(SOL)
    ])
    assert.isFalse(isOnCurve(addressToBytes(address)))
  })

  it("is cached by makeDeriveAddress without mixing up seeds", () => {
    const derive = makeDeriveAddress()
    const one = derive(RAYDIUM_CLMM, [text("ab"), text("c")])
    assert.strictEqual(derive(RAYDIUM_CLMM, [text("ab"), text("c")]), one)
    assert.strictEqual(one, findProgramAddress(RAYDIUM_CLMM, [text("ab"), text("c")]))
  })
})

describe("isOnCurve", () => {
  it("is true for every public key of a key pair", () => {
    for (let i = 0; i < 50; i++) {
      const { publicKey } = generateKeyPairSync("ed25519")
      assert.isTrue(isOnCurve(publicKey.export({ format: "der", type: "spki" }).subarray(-32)))
    }
  })

  const P = 2n ** 255n - 19n
  const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n
  const power = (base: bigint, exponent: bigint): bigint => {
    if (exponent === 0n) {
      return 1n
    }
    const half = power((base * base) % P, exponent / 2n)
    return exponent % 2n === 0n ? half : (half * base) % P
  }

  it.prop("is Euler's criterion for any bytes", [Bytes], ([bytes]) => {
    const y = BigInt(`0x${Buffer.from(bytes.toReversed()).toString("hex")}`) % 2n ** 255n
    const product = ((y * y - 1n + P) * (D * y * y + 1n)) % P
    assert.strictEqual(isOnCurve(Uint8Array.from(bytes)), product === 0n || power(product, (P - 1n) / 2n) === 1n)
  })
})
