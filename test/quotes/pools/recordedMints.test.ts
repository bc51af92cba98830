import { assert, describe, it } from "@effect/vitest"
import { readMint } from "../../../src/programs/layout/tokenAccount.ts"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { Address, type Address as AddressType, addressToBytes, SOL } from "../../../src/domain/Address.ts"
import { standInMints } from "../../../src/quotes/pools/recordedMints.ts"
import { at } from "../toyChain.ts"

const CPMM = Address.make("CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C")
const TOKEN = at(10)

/** The part of a CPMM pool that names its mints. */
const pool = (): OnChainAccount => {
  const data = new Uint8Array(637)
  data.set(Buffer.from("f7ede3f5d7c3de46", "hex"))
  data.set(addressToBytes(SOL), 168)
  data.set(addressToBytes(TOKEN), 200)
  return { address: at(1), owner: CPMM, lamports: 1n, data, slot: 1 }
}

const mapOf = (...accounts: ReadonlyArray<OnChainAccount>) =>
  new Map<AddressType, OnChainAccount>(accounts.map((account) => [account.address, account]))

describe("standInMints", () => {
  it("stands in for the mints that pools name and the recording lacks, without a transfer fee", () => {
    const mints = standInMints(mapOf(pool()))
    assert.sameMembers(
      mints.map(({ address }) => address),
      [SOL, TOKEN]
    )
    const accounts = mapOf(...mints)
    const read = readMint((address) => accounts.get(address) ?? null, TOKEN)
    assert.deepInclude(read, { transferFees: null })
    assert.isTrue(mints.every(({ lamports }) => lamports === 0n))
  })

  it("adds nothing for recorded mints", () => {
    const recorded = { ...pool(), address: TOKEN }
    assert.deepStrictEqual(
      standInMints(mapOf(pool(), recorded)).map(({ address }) => address),
      [SOL]
    )
  })
})
